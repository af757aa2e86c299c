/**
 * `disburse-agent console`: a login for the console that the running agent serves on this machine.
 *
 * @module
 */
import { loginSeconds } from '@pool/console';
import { createAgentCaller, createProvenFetch, exitCodes, type Output, urlOf } from '@pool/pay-run';
import * as v from 'valibot';
import { readAgentAddress } from '../../config/config.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';

export type ConsoleOptions = { readonly json?: boolean; readonly envFile?: string };

const loginSchema = v.object({
  path: v.pipe(v.string(), v.regex(/^\/console\/login\/[\w-]{43}$/)),
});

/** @returns the exit code */
export async function runConsole(
  { json, envFile }: ConsoleOptions,
  { out, terminal }: Pick<Output, 'out' | 'terminal'>,
): Promise<number> {
  const address = readAgentAddress(envFile);
  const here = urlOf(address);
  const token = readLoopbackToken(address.home);
  const call = createAgentCaller(
    here,
    token,
    createProvenFetch(() => token),
  );
  const { path } = await call(loginSchema, '/console/logins', { method: 'POST' });
  const url = `${here}${path}`;
  out(json === true ? { url } : url);
  terminal.write(
    `Open this address in the browser of this machine within ${loginSeconds / 60} minutes. It works once.\n`,
  );
  return exitCodes.ok;
}
