/**
 * Agents of a sandbox: each is a process with its own home. An agent can be killed and started again with the same home.
 *
 * @module
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChainsFile } from '@pool/core';
import {
  findFreePorts,
  findProgram,
  isAnswering,
  type ManagedProcess,
  waitUntilReady,
} from '@pool/testkit';
import { placeSecrets, type StartNode, writePrivate } from './env-file.ts';
import { type AgentSettings, createAgentFile } from './service-environment.ts';

export type StartAgentOptions = {
  /** Names its home (`<name>-home`), its log and its process. */
  readonly name: string;
  /** The home has its own `agent.env` and chains file already: `onboard` wrote them (headless-holder.ts). */
  readonly isOnboarded?: boolean;
  /** Where it reaches the platform; a test puts a lying proxy here. */
  readonly platformUrl?: string;
  /** Its chains file. Default: the sandbox's own chains. */
  readonly chains?: ChainsFile;
  /** Variables of its funder's signer. Default: those of the sandbox's first agent. */
  readonly funder?: Readonly<Record<string, string>>;
  /** Path of its release policy. Undefined: none. */
  readonly releasePolicy?: string | undefined;
  /** Added to its environment, for example `DISBURSE_FAULT`. */
  readonly env?: Readonly<Record<string, string>>;
};

export type Agent = {
  readonly url: string;
  readonly home: string;
  /** Reaches the disbursement routes of this agent. */
  readonly loopbackToken: string;
  /** The environment its commands need besides its home's files. */
  readonly environment: Readonly<Record<string, string>>;
  readonly process: ManagedProcess;
  /** Starts it again in the same home, after it was stopped, killed or ended by a fault. */
  restart(env?: Readonly<Record<string, string>>): Promise<Agent>;
};

export const agentScript = findProgram(
  fileURLToPath(new URL('../../../agent/src/main.ts', import.meta.url)),
);

type Surroundings = {
  readonly directory: string;
  readonly start: StartNode;
  readonly chains: ChainsFile;
  readonly defaults: Omit<AgentSettings, 'port' | 'releasePolicy'>;
  readonly environment: Readonly<Record<string, string>>;
};

export function createAgentStarter(
  surroundings: Surroundings,
): (options: StartAgentOptions) => Promise<Agent> {
  return async (options) => {
    const { name, isOnboarded = false, platformUrl, chains, funder, env = {} } = options;
    const home = join(surroundings.directory, `${name}-home`);
    if (isOnboarded) {
      return await startIn(surroundings, { name, home, port: readPort(home), env });
    }
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const [port = 0] = await findFreePorts(1);
    const settings = {
      ...surroundings.defaults,
      ...(platformUrl === undefined ? {} : { platformUrl }),
      funder: placeSecrets(home, funder ?? surroundings.defaults.funder),
      releasePolicy: options.releasePolicy,
      port,
    };
    writePrivate(join(home, 'agent.env'), createAgentFile(settings));
    const chainsText = JSON.stringify(chains ?? surroundings.chains, undefined, 2);
    writePrivate(join(home, 'chains.json'), `${chainsText}\n`);
    return await startIn(surroundings, { name, home, port, env });
  };
}

async function startIn(
  surroundings: Surroundings,
  place: {
    readonly name: string;
    readonly home: string;
    readonly port: number;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<Agent> {
  const { name, home, port } = place;
  const url = `http://127.0.0.1:${port}`;
  const environment = { ...surroundings.environment, DISBURSE_HOME: home };
  const env = { ...environment, ...place.env };
  const process = surroundings.start({ name, script: agentScript, args: ['serve'], env });
  // It listens before it knows its employer; ready means that it accepts disbursements.
  const loopbackToken = await waitUntilReady(process, async () => {
    const token = readLoopbackToken(home);
    const authorization = { authorization: `Bearer ${token ?? ''}` };
    const isReady = await isAnswering(`${url}/api/disburse/ready`, authorization);
    return isReady === true ? token : undefined;
  });
  return {
    url,
    home,
    loopbackToken,
    environment,
    process,
    restart: (again = {}) => startIn(surroundings, { ...place, env: again }),
  };
}

function readPort(home: string): number {
  const text = readFileSync(join(home, 'agent.env'), 'utf8');
  return Number(/^DISBURSE_PORT=([0-9]+)$/m.exec(text)?.[1]);
}

function readLoopbackToken(home: string): string | undefined {
  try {
    return readFileSync(join(home, 'loopback.token'), 'utf8').trim();
  } catch {
    return undefined;
  }
}
