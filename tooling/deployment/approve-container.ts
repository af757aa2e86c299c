// The gate beside a custodian, in the container of approve.yaml: with a simulator of custodian A on this machine, and the chain of the others.
import { randomBytes, randomUUID } from 'node:crypto';
import { chownSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChainsFile, parseEvmAddress } from '@pool/core';
import { type ManagedProcess, readData, startNodeProcess, startProcess } from '@pool/testkit';
import { computeAddress } from 'ethers';
import { chainKey } from '../../apps/sandbox/src/chain/local-chain.ts';
import { deriveEmployerKey } from '../../apps/sandbox/src/chain/sandbox-keys.ts';
import type { CustodyPlace } from '../../apps/sandbox/src/custody/custody-place.ts';
import { startCustody } from '../../apps/sandbox/src/custody/start-custody.ts';
import { type Environment, formatEnvFile } from '../../apps/sandbox/src/processes/env-file.ts';
import {
  type ComposeService,
  listRunArguments,
  type Project,
  podman,
  waitUntilHealthy,
} from './compose.ts';

export interface ApprovePlace {
  /** Its folder gets `config` and `secrets`. */
  readonly project: Project;
  readonly service: ComposeService;
  readonly chains: ChainsFile;
  readonly platformUrl: string;
  /** Of the proxy with the chain's node. */
  readonly hosts: string;
  /** Certificate of the test's authority. */
  readonly authority: string;
}

const name = 'approve';
const configFolder = '/etc/pool-approve';
/** Variables of the sandbox's gate that approve.yaml takes from files of the operator. */
const secrets: Environment = {
  APPROVE_MANIFEST_TOKEN: 'manifest-token',
  APPROVE_METRICS_TOKEN: 'metrics-token',
  APPROVE_CUSTODIAN_A_SERVICE_TOKEN: 'service-token',
  APPROVE_CUSTODIAN_A_SERVICE_KEY: 'service-key',
};

/** Starts both, waits until the gate is healthy, and asks its doctor. @returns what was shown. Throws if a check has a problem */
export async function tryApprove(place: ApprovePlace): Promise<string> {
  const { project, chains, platformUrl } = place;
  const { folder } = project;
  const started: ManagedProcess[] = [];
  let { service } = place;
  const start: CustodyPlace['start'] = ({ name: program, script, args, env = {} }) => {
    const logPath = join(folder, `${program}.log`);
    const { APPROVE_HOME: home } = env;
    let begun: ManagedProcess;
    if (home === undefined) {
      begun = startNodeProcess({ name: program, script, args, env, logPath });
    } else {
      service = createService(place, home);
      begun = startProcess({
        ...{ name, logPath, command: 'podman' },
        args: ['run', ...listRunArguments(project, name, service)],
        env: { PATH: process.env['PATH'] ?? '', ...project.env },
      });
    }
    started.push(begun);
    return begun;
  };
  const key = deriveEmployerKey();
  const address = parseEvmAddress(computeAddress(key.reveal()));
  const funder = { address, privateKey: key.reveal() };
  try {
    await startCustody('custodian_a', {
      ...{ directory: folder, start, chain: chainKey, chains, platformUrl },
      ...{ employerId: randomUUID(), funder, holders: [] },
    });
    await waitUntilHealthy(project, name, service);
    const command = [
      'pool-approve',
      'doctor',
      '--json',
      '--env-file',
      `${configFolder}/approve.env`,
    ];
    const answer = await podman(project, ['exec', `${project.name}_${name}`, ...command]);
    const { checks } = readData(answer) as { readonly checks: readonly object[] };
    return `the gate beside a custodian is healthy, by ${checks.length} checks of its doctor`;
  } finally {
    await Promise.all(started.map((one) => one.stop()));
  }
}

/** @param home - as the sandbox has written it. @returns the service of approve.yaml at the port of the sandbox, with its settings in place */
function createService(place: ApprovePlace, home: string): ComposeService {
  const { service, hosts } = place;
  const port = writeSettings(place, home);
  const test = service.healthcheck?.test.map((word) => word.replace(':8788/', `:${port}/`)) ?? [];
  const volumes = [...(service.volumes ?? []), `${hosts}:/etc/hosts:ro`];
  return { ...service, healthcheck: { test }, volumes };
}

/** `config` and `secrets`, as docs/operations/approve.md asks for. @returns the port */
function writeSettings({ project, authority }: ApprovePlace, home: string): string {
  const [config, hidden] = [join(project.folder, 'config'), join(project.folder, 'secrets')];
  for (const one of [config, hidden]) mkdirSync(one);
  for (const file of ['policy.json', 'chains.json']) cpSync(join(home, file), join(config, file));
  cpSync(authority, join(config, 'authority.pem'));
  const lines = readFileSync(join(home, 'approve.env'), 'utf8').trimEnd().split('\n');
  const given: Record<string, string> = {
    APPROVE_METRICS_TOKEN: randomBytes(32).toString('hex'),
    APPROVE_POLICY_FILE: `${configFolder}/policy.json`,
    APPROVE_CHAINS_FILE: `${configFolder}/chains.json`,
    ...Object.fromEntries(
      lines.map((line) => {
        const at = line.indexOf('=');
        const [variable, value] = [line.slice(0, at), line.slice(at + 1)];
        return variable.endsWith('_FILE')
          ? [variable.slice(0, -5), readFileSync(value, 'utf8')]
          : [variable, value];
      }),
    ),
  };
  for (const [variable, file] of Object.entries(secrets)) {
    writeFileSync(join(hidden, file), given[variable] ?? '', { mode: 0o400 });
    delete given[variable];
  }
  writeFileSync(join(config, 'approve.env'), formatEnvFile(given), { mode: 0o400 });
  for (const folder of [config, hidden])
    for (const file of readdirSync(folder)) chownSync(join(folder, file), 10_001, 10_001);
  return given['APPROVE_PORT'] ?? '';
}
