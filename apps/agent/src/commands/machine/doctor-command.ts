/**
 * `disburse-agent doctor`: everything that the agent needs, each with what was found and what to do. It needs no running agent, sends read
 * requests only, signs nothing and prints no secret.
 *
 * @module
 */
import { openProductionKeys } from '@pool/circuits';
import { readChainsFile } from '@pool/configuration';
import { errorCodeOf, isPoolError } from '@pool/core';
import { createRedactedLog } from '@pool/http-server';
import { createReadiness, findKeySource, type ReadinessCheck, withinTime } from '@pool/operations';
import { exitCodes, type Output, summarizeJobs } from '@pool/pay-run';
import { type Config, createProcessSource, readConfig } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import { type AgentParts, createParts } from '../../services/agent-parts.ts';
import { createAcceleratorProbe, createConfiguredProver } from '../../services/agent-prover.ts';
import { describeReleases } from '../../services/releases.ts';
import type { Paint } from '../../terminal/paint.ts';
import { createConfigReport } from '../setup/config-report.ts';
import { lookAtAgent } from './agent-look.ts';
import {
  checkClock,
  checkDisk,
  checkPermissions,
  type Diagnosis,
  readFreeBytes,
} from './machine-checks.ts';

export type DoctorOptions = { readonly json?: boolean; readonly envFile?: string };

const probeMs = 20_000;

/** @returns the exit code: 1 if there is a problem */
export async function runDoctor(
  options: DoctorOptions,
  output: Output & { readonly paint?: Paint },
): Promise<number> {
  const checks = await examine(options.envFile);
  const isHealthy = checks.every(({ level }) => level !== 'problem');
  output.out(
    options.json === true ? { isHealthy, version, checks } : renderDoctor(checks, output.paint),
  );
  return isHealthy ? exitCodes.ok : exitCodes.error;
}

async function examine(envFile: string | undefined): Promise<readonly Diagnosis[]> {
  const report = createConfigReport(createProcessSource(), envFile);
  const { file, warnings, problems } = report;
  const remarks: readonly Diagnosis[] = [
    ...problems.map(({ message }) => toRemark('problem', message)),
    ...warnings.map(({ message }) => toRemark('warning', message)),
  ];
  const configuration: readonly Diagnosis[] = report.ok
    ? [{ name: 'configuration', level: 'ok', found: describeFile(file) }, ...remarks]
    : remarks;
  let config: Config;
  try {
    config = readConfig(envFile);
  } catch (error) {
    return report.ok ? [...configuration, toDiagnosis('configuration', error)] : configuration;
  }
  const free = readFreeBytes(config.home);
  const machine: readonly Diagnosis[] = [
    checkPermissions(config.home, file.isPresent ? file.path : undefined),
    free === undefined
      ? {
          name: 'disk',
          level: 'warning',
          found: `there is no ${config.home}`,
          advice: 'start the agent once, which makes it',
        }
      : checkDisk(config.home, free),
    await diagnose('stores', async () => {
      const { byState } = await summarizeJobs(config.jobs);
      const count = Object.values(byState).reduce((sum, each) => sum + each, 0);
      return { name: 'stores', level: 'ok', found: `the job store answers, with ${count} job(s)` };
    }),
    await diagnose('artifacts', () => checkArtifacts(config)),
    ...(config.releasePolicy === undefined
      ? []
      : [await diagnose('release-policy', () => checkReleasePolicy(config))]),
  ];
  return [...configuration, ...machine, ...(await examinePeers(config)), await checkAgent(config)];
}

async function examinePeers(config: Config): Promise<readonly Diagnosis[]> {
  let parts: AgentParts;
  try {
    parts = await createParts(config);
  } catch (error) {
    return [toDiagnosis('peers', error)];
  }
  const prover = createConfiguredProver(config, undefined, createRedactedLog('silent'));
  try {
    // The gate may be named by the platform. A platform that does not answer is a finding of its own probe.
    const vended = await withinTime(parts.edge.bootstrap(), probeMs).catch(() => undefined);
    parts.gates.update(vended?.gate);
    const { checks } = await createReadiness(
      { ...parts.probes, accelerator: createAcceleratorProbe(prover) },
      { nowMs: () => performance.now(), timeoutMs: probeMs },
    ).read();
    const { accelerator, ...peers } = checks;
    const chains = await Promise.all(
      [...parts.contexts].map(([key, { chain, settings }]) =>
        diagnose(`chain.${key}`, async () => {
          const seconds = await withinTime(chain.fetchHeadTimestamp(), probeMs);
          return [
            {
              name: `chain.${key}`,
              level: 'ok',
              found: `chain ${settings.chainId}, final by ${settings.finality.kind}`,
            },
            checkClock(key, seconds, Date.now()),
          ];
        }),
      ),
    );
    return [
      ...Object.entries({ prover: accelerator, ...peers }).map(([name, check]) =>
        toFinding(name, check),
      ),
      ...chains.flat(),
    ];
  } finally {
    await prover.close();
    parts.close();
  }
}

/** What to do about a part that is not ready. */
const advices: Readonly<Record<string, string>> = {
  prover: 'remove DISBURSE_PROVER=mock, or set DISBURSE_ACCELERATOR=cpu to prove without a GPU',
  signer: 'compare the variables of the signer with its owner; "config check" shows them',
  poolGate: 'start the pool-gate, or correct DISBURSE_POOL_GATE_URL and its credential',
  platform: 'start the platform, or correct DISBURSE_PLATFORM_URL and DISBURSE_PLATFORM_TOKEN',
  chains: 'correct rpcUrl in chains.json, or use another node',
};

function toFinding(name: string, { ok, detail }: ReadinessCheck): Diagnosis {
  const found = `${detail.kind}: ${detail.message}`;
  const advice = advices[name];
  return ok
    ? { name, level: detail.kind.endsWith('degraded') ? 'warning' : 'ok', found }
    : { name, level: 'problem', found, ...(advice === undefined ? {} : { advice }) };
}

async function checkArtifacts(config: Config): Promise<Diagnosis> {
  const name = 'artifacts';
  const source = findKeySource(config);
  if (source === undefined) {
    return { name, level: 'ok', found: 'development keys, which the prover checks by digest' };
  }
  await openProductionKeys(source).checkKeys();
  return { name, level: 'ok', found: 'the proving keys match the manifest' };
}

/** The rules, and how much of each token counts as prepared today. */
async function checkReleasePolicy(config: Config): Promise<Diagnosis> {
  const { chains } = readChainsFile(config.chainsFile);
  const contexts = Object.entries(chains).map(([key, settings]) => [key, { settings }] as const);
  const lines = await describeReleases(config, new Map(contexts), Date.now());
  return { name: 'release-policy', level: 'ok', found: lines.join('; ') };
}

async function checkAgent(config: Config): Promise<Diagnosis> {
  const name = 'agent';
  try {
    const running = await lookAtAgent(config);
    return running.version === version
      ? { name, level: 'ok', found: `version ${version} listens at ${running.url}` }
      : {
          name,
          level: 'warning',
          found: `version ${running.version} listens at ${running.url}, and this command is ${version}`,
          advice: 'restart the agent',
        };
  } catch (error) {
    const code = errorCodeOf(error);
    const isDown = code === 'agent_unreachable' || code === 'loopback_token_missing';
    return isDown
      ? {
          name,
          level: 'warning',
          found: 'the agent does not run',
          advice: 'start it with "disburse-agent serve"',
        }
      : toDiagnosis(name, error);
  }
}

async function diagnose<T extends Diagnosis | readonly Diagnosis[]>(
  name: string,
  check: () => Promise<T>,
): Promise<T | Diagnosis> {
  try {
    return await check();
  } catch (error) {
    return toDiagnosis(name, error);
  }
}

function toRemark(level: 'warning' | 'problem', found: string): Diagnosis {
  return { name: 'configuration', level, found };
}

/** @throws an unexpected error: its text could name what was read */
function toDiagnosis(name: string, error: unknown): Diagnosis {
  if (!isPoolError(error)) {
    throw error;
  }
  return {
    name,
    level: 'problem',
    found: `${error.code}: ${error.message}`,
  };
}

function describeFile({ path, isPresent }: { path: string; isPresent: boolean }): string {
  return isPresent ? `${path} is complete` : 'the environment is complete; there is no file';
}

const colors = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

export function renderDoctor(
  checks: readonly Diagnosis[],
  paint: Paint = (_color, text) => text,
): string {
  const count = (level: Diagnosis['level']): number =>
    checks.filter((check) => check.level === level).length;
  const lines = checks.flatMap(({ name, level, found, advice }) => [
    `${paint(colors[level], level.padEnd(8))} ${name}: ${found}`,
    ...(advice === undefined ? [] : [`         ${advice}`]),
  ]);
  return [...lines, '', `${count('problem')} problem(s), ${count('warning')} warning(s)`].join(
    '\n',
  );
}
