// Runs where /etc/hosts names the proxy's container (check-containers.ts): pays a roster with the containers of compose.yaml.
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeployedChain } from '../../apps/sandbox/src/chain/local-chain.ts';
import { formatEnvFile } from '../../apps/sandbox/src/processes/env-file.ts';
import { runCommand } from './command.ts';
import { type ComposeService, type Project, podman, startService, waitUntil } from './compose.ts';
import { payRoster } from './pay-roster.ts';

export interface Composed {
  readonly project: Project;
  readonly agent: ComposeService;
  readonly prover: ComposeService;
  readonly platformUrl: string;
  /** Through the proxy. */
  readonly readyUrls: readonly string[];
  readonly rpcUrl: string;
  readonly deployed: DeployedChain;
  readonly proverPublicKey: string;
}

/** @returns what was shown. Throws if anything else happened. */
export async function payInContainers(composed: Composed): Promise<string> {
  const { project, agent, prover } = composed;
  // Each service is healthy, and the names of a network may not be known to all of it yet.
  for (const url of composed.readyUrls) {
    await waitUntil(url, async () => {
      const { ok, status } = await fetch(url);
      if (!ok) throw new Error(`status ${status}`);
    });
  }
  const exec = (service: string, command: readonly string[], input = ''): Promise<string> =>
    podman(project, ['exec', '--interactive', `${project.name}_${service}`, ...command], input);
  // Answers go to standard output, the log to standard error.
  const readProverLog = (): Promise<string> =>
    runCommand(['sh', '-c', `podman logs ${project.name}_prover 2>&1`], { env: project.env });
  return await payRoster({
    ...composed,
    runPlatform: (args) => exec('platform', ['platform', ...args]),
    startAgent: async (variables) => {
      const token = variables['DISBURSE_PLATFORM_TOKEN'] ?? '';
      writeFileSync(join(project.folder, 'secrets/edge-token'), token);
      // compose.yaml has the others.
      const named = Object.entries(variables).filter(([name]) => !name.includes('_PLATFORM_'));
      const file = {
        ...Object.fromEntries(named),
        DISBURSE_PROVER_PUBLIC_KEY: composed.proverPublicKey,
      };
      const path = join(project.folder, 'config/agent.env');
      writeFileSync(path, formatEnvFile(file));
      chownSync(path, 10_001, 10_001);
      chmodSync(path, 0o400);
      await startService(project, 'prover', prover);
      await startService(project, 'agent', agent);
      await waitUntil('the prover', async () => {
        const log = await readProverLog();
        if (!log.includes('takes proofs')) throw new Error(log);
      });
    },
    runAgent: (args, input) => exec('agent', ['disburse-agent', ...args], input),
    readProverLog,
  });
}
