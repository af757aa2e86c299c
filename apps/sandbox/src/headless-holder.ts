/**
 * A recipient without a browser: the agent's own `onboard` command signs in, enrols the wallet, mints the keys of the holder
 * operations and writes `agent.env`. The person then adds what the command leaves open, as its comments ask.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChainsFile, type Hex, PoolError, type Secret } from '@pool/core';
import { findFreePorts } from '@pool/testkit';
import { runAgentCommand } from './agent-command.ts';
import { deriveHolder, type Holder } from './people.ts';

export type HeadlessHolder = Holder & {
  /** Names the home `<name>-home` in the sandbox directory. */
  readonly name: string;
  readonly home: string;
  /** API keys of the wallet, by what they reach. */
  readonly keys: { readonly read: string; readonly transfer: string; readonly send: string };
};

/** Where the holder's agent will live, and which platform and chains it is for. */
export type OnboardPlace = {
  readonly directory: string;
  readonly platformUrl: string;
  readonly chains: ChainsFile;
};

/**
 * Enrols the wallet and prepares the home of its agent.
 * @param input.settings - added to `agent.env`, for example `DISBURSE_SEND_DESTINATIONS`
 * @throws PoolError `enrolment_failed`
 */
export async function onboardHolder(
  place: OnboardPlace,
  input: {
    readonly name: string;
    readonly privateKey: Secret<Hex>;
    readonly settings?: Readonly<Record<string, string>>;
  },
): Promise<HeadlessHolder> {
  const { name, privateKey, settings = {} } = input;
  const home = join(place.directory, `${name}-home`);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const keyPath = join(home, 'holder.key');
  writePrivate(keyPath, `${privateKey.reveal()}\n`);
  writePrivate(join(home, 'chains.json'), `${JSON.stringify(place.chains, undefined, 2)}\n`);
  const environment = { DISBURSE_HOME: home, DISBURSE_HOLDER_PRIVATE_KEY_FILE: keyPath };
  const { code, stdout } = await runAgentCommand({ environment }, [
    ...['onboard', '--platform', place.platformUrl, '--enroll-holder', '--login', 'holder'],
    ...['--capabilities', 'holder.read,holder.transfer,holder.send'],
  ]);
  if (code !== 0 || !stdout.includes('enrolled: ready')) {
    throw new PoolError('enrolment_failed', `onboard did not enrol ${name}: ${stdout.trim()}`);
  }
  const [port = 0] = await findFreePorts(1);
  const path = join(home, 'agent.env');
  writePrivate(
    path,
    setVariables(readFileSync(path, 'utf8'), {
      DISBURSE_HOLDER_PRIVATE_KEY_FILE: keyPath,
      DISBURSE_PORT: String(port),
      ...settings,
    }),
  );
  const written = readFileSync(path, 'utf8');
  const read = (variable: string): string =>
    new RegExp(`^${variable}=(.*)$`, 'm').exec(written)?.[1] ?? '';
  return {
    ...(await deriveHolder(privateKey, place)),
    name,
    home,
    keys: {
      read: read('DISBURSE_BALANCE_TOKEN'),
      transfer: read('DISBURSE_TRANSFER_TOKEN'),
      send: read('DISBURSE_SEND_TOKEN'),
    },
  };
}

/** Each variable on one line of its own: a line that sets it, or a comment for it, is replaced. */
function setVariables(text: string, values: Readonly<Record<string, string>>): string {
  const names = Object.keys(values);
  const others = text
    .split('\n')
    .filter((line) => !names.includes(line.replace(/^#/, '').split('=')[0] ?? ''));
  const lines = Object.entries(values).map(([variable, value]) => `${variable}=${value}`);
  return [...others, ...lines, ''].join('\n');
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}
