/**
 * What agents and provers of a chaos run share: the database of the jobs, the queue of proofs, and the key of its provers.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAgentCommand } from '../processes/agent-command.ts';

type Environment = Readonly<Record<string, string>>;

/** @returns the variables of an agent. @param url - of an empty database */
export function placeJobs(url: string): Environment {
  const place = splitPassword(url);
  return { DISBURSE_JOB_STORE: place.url, DISBURSE_JOB_STORE_PASSWORD: place.password };
}

/**
 * @param url - of an empty database
 * @returns the variables of an agent, and those of a prover
 */
export async function placeFleet(
  url: string,
  directory: string,
): Promise<{ readonly agent: Environment; readonly prover: Environment }> {
  const keyFile = join(directory, 'fleet.key');
  await runAgentCommand({ environment: {} }, ['prover', '--new-key', keyFile, '--json']);
  const { publicKey, privateKey } = JSON.parse(readFileSync(keyFile, 'utf8')) as {
    readonly publicKey: string;
    readonly privateKey: string;
  };
  const place = splitPassword(url);
  const queue = {
    DISBURSE_PROVER_QUEUE: place.url,
    DISBURSE_PROVER_QUEUE_PASSWORD: place.password,
  };
  return {
    agent: { ...queue, DISBURSE_PROVER_PUBLIC_KEY: publicKey },
    prover: {
      ...queue,
      DISBURSE_HOME: join(directory, 'prover-home'),
      DISBURSE_PROVER_PRIVATE_KEY: privateKey,
      DISBURSE_ACCELERATOR: 'cpu',
    },
  };
}

function splitPassword(text: string): { readonly url: string; readonly password: string } {
  const url = new URL(text);
  const { password } = url;
  url.password = '';
  return { url: url.href, password };
}
