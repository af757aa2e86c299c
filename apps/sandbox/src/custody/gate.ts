/**
 * The sandbox's gate: the approve process beside the custodian, with a directory, a token and a policy of its own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAnswering, waitUntilReady } from '@pool/testkit';
import type { Environment } from '../processes/env-file.ts';
import { formatEnvFile, placeSecrets, writePrivate } from '../processes/env-file.ts';
import { type Service, startService } from '../processes/service.ts';
import { type CustodyPlace, voteLimitSeconds } from './custody-place.ts';

/** Starts the simulator of a custodian as a process of its own. What it remembers is in a file, and survives its end. */
export async function startProvider(
  place: CustodyPlace,
  provider: {
    readonly name: string;
    readonly script: string;
    readonly port: number;
    readonly config: object;
  },
): Promise<Service> {
  const { name, script, port, config } = provider;
  const folder = join(place.directory, 'custody');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.json`);
  const stateFile = join(folder, `${name}-state.json`);
  writePrivate(path, JSON.stringify({ ...config, port, stateFile }));
  const service = startService(`http://127.0.0.1:${port}`, () =>
    place.start({ name, script, args: [path] }),
  );
  await service.ready();
  return service;
}

export type Gate = {
  readonly service: Service;
  readonly home: string;
  /** How an agent hands its manifests over. */
  readonly agentVariables: Environment;
};

export type GateOptions = {
  /** Names its home, `<name>-home`, its process and its log. */
  readonly name: string;
  /** Entry of the process: the agent's binary or the gate's own app. */
  readonly script: string;
  readonly args: readonly string[];
  /** Connection to the custodian, by variable. Files are written for values of more than one line. */
  readonly custodian: Environment;
  readonly policy: unknown;
  readonly port: number;
};

/** Starts the gate and resolves when it is healthy: its doctor has found no way around it. */
export async function startGate(place: CustodyPlace, options: GateOptions): Promise<Gate> {
  const { name, port } = options;
  const home = join(place.directory, `${name}-home`);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString('hex');
  const url = `http://127.0.0.1:${port}`;
  writePrivate(join(home, 'policy.json'), `${JSON.stringify(options.policy, undefined, 2)}\n`);
  writePrivate(join(home, 'chains.json'), `${JSON.stringify(place.chains, undefined, 2)}\n`);
  const variables = {
    APPROVE_MANIFEST_TOKEN: token,
    APPROVE_PORT: String(port),
    APPROVE_VOTE_LIMIT_SECONDS: String(voteLimitSeconds),
    ...options.custodian,
  };
  writePrivate(join(home, 'approve.env'), formatEnvFile(placeSecrets(home, variables)));
  const env = { APPROVE_HOME: home };
  const service = startService(url, () =>
    place.start({ name, script: options.script, args: options.args, env }),
  );
  await waitUntilReady(service.process, () => isAnswering(`${url}/healthz`));
  return {
    service,
    home,
    agentVariables: { DISBURSE_APPROVE_URL: url, DISBURSE_APPROVE_TOKEN: token },
  };
}
