/**
 * `disburse-agent disburse`: a roster file through the agent that runs on this machine, to its end. The
 * dry run does the agent's checks in this process, and sends nothing to anybody but look-ups.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DisbursementJob, type DisburseRequest, isPoolError, PoolError } from '@pool/core';
import { type ValidationReport, validateDisbursement } from '@pool/operations';
import { type AgentClient, createAgentClient } from './agent-client.ts';
import { readLoopbackToken } from './agent-home.ts';
import { createParts } from './agent-parts.ts';
import { readChainsFile } from './chains.ts';
import { type AgentAddress, type Config, readAgentAddress, readConfig } from './config.ts';
import { openEvidencePins } from './evidence-pins.ts';
import { exitCodes } from './exit-codes.ts';
import type { JobTrace } from './job-trace.ts';
import { computePayRunKey, parsePayRun } from './pay-run-key.ts';
import {
  createProgressView,
  formatSeconds,
  insufficientAllowanceLine,
  type Terminal,
} from './progress-view.ts';
import { createReadiness } from './readiness.ts';
import { createRosterError, parseRoster, type RosterEntry } from './roster-csv.ts';

export type DisburseOptions = {
  readonly file: string;
  readonly payRun: string;
  readonly token?: string;
  readonly chain?: string;
  readonly unregistered?: 'fail' | 'skip';
  readonly decimal?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type Output = { out(text: string): void; readonly terminal: Terminal };

const pollMs = 500;

/** @returns the exit code */
export async function runDisburse(options: DisburseOptions, output: Output): Promise<number> {
  const payRun = parsePayRun(options.payRun);
  const config = readConfig(options.envFile);
  const { chain, token, decimals } = resolveTarget(options, config);
  const roster = parseRoster(
    readRoster(options.file),
    options.decimal === true ? { decimals } : {},
  );
  if (roster.kind === 'mistakes') {
    throw createRosterError(options.file, roster.mistakes);
  }
  const request = createRequest(options, chain, token, roster.entries);
  if (options.dryRun === true) {
    return runDry(config, request, options, output);
  }
  const key = computePayRunKey({ chain, token, payRun, entries: roster.entries });
  const client = createClient(readAgentAddress(options.envFile));
  const { job, trace } = await follow(client, key, request, output.terminal);
  if (options.json === true) {
    const { timings, prover, settlement } = trace;
    output.out(
      JSON.stringify({ job, timings, prover, ...(settlement ? { settlement } : {}) }, null, 2),
    );
  } else {
    output.out(describeJob(job, trace, output.terminal.isTty));
  }
  return exitCodeOf(job);
}

/** Chain and token by the agent's own settings, so that the key is the same on every run. */
function resolveTarget(
  options: DisburseOptions,
  config: Config,
): { chain: string; token: string; decimals: number } {
  const { chains } = readChainsFile(config.chainsFile);
  const chain = options.chain ?? config.chain ?? Object.keys(chains)[0];
  if (options.chain === undefined && config.chain === undefined && Object.keys(chains).length > 1) {
    throw new PoolError('invalid-chain', 'name the chain with --chain or DISBURSE_CHAIN');
  }
  const settings = chain === undefined ? undefined : chains[chain];
  if (chain === undefined || settings === undefined) {
    throw new PoolError(
      'invalid-chain',
      'that chain does not stand in the chains file of this agent, or stands there without a pool',
    );
  }
  const token = options.token ?? 'USDC';
  const found = Object.hasOwn(settings.tokens, token) ? settings.tokens[token] : undefined;
  if (found === undefined) {
    throw new PoolError(
      'invalid-token',
      `--token must be one of ${Object.keys(settings.tokens).join(', ')}`,
    );
  }
  return { chain, token, decimals: found.decimals };
}

function readRoster(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PoolError('invalid_roster', `the roster ${file} cannot be read`, { cause });
  }
}

function createRequest(
  options: DisburseOptions,
  chain: string,
  token: string,
  entries: readonly RosterEntry[],
): DisburseRequest {
  return {
    token,
    chain,
    recipients: entries.map((entry) => ({ ...entry })),
    ...(options.unregistered === undefined ? {} : { unregistered: options.unregistered }),
  };
}

function createClient(address: AgentAddress): AgentClient {
  const host = address.host === '0.0.0.0' ? '127.0.0.1' : address.host;
  const name = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  return createAgentClient(`http://${name}:${address.port}`, readLoopbackToken(address.home));
}

async function follow(
  client: AgentClient,
  key: string,
  request: DisburseRequest,
  terminal: Terminal,
): Promise<{ job: DisbursementJob; trace: JobTrace }> {
  let job = await client.submit(key, request);
  const view = createProgressView(terminal);
  while (job.state !== 'done' && job.state !== 'failed') {
    view.show(job.state, job.stage, await optional(() => client.trace(key)));
    await sleep(pollMs);
    // An agent that is being restarted goes on with the job: keep asking.
    job = (await optional(() => client.job(key))) ?? job;
  }
  const trace = await untilAnswered(() => client.trace(key));
  view.end(trace);
  return { job: await untilAnswered(() => client.job(key)), trace };
}

/** Undefined while the agent is away, or back but not told yet whose it is. */
async function optional<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isPoolError(error) && error.retryable) {
      return undefined;
    }
    throw error;
  }
}

async function untilAnswered<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await optional(work);
    if (answer !== undefined) {
      return answer;
    }
    await sleep(pollMs);
  }
}

function describeJob(job: DisbursementJob, trace: JobTrace, isTty: boolean): string {
  const lines: string[] = [];
  if (job.state === 'failed') {
    lines.push(`failed: ${job.error?.code ?? 'unknown'}: ${job.error?.message ?? ''}`);
  }
  const { result } = job;
  if (result !== undefined) {
    const [batch] = result.batches;
    lines.push(`${result.status}: ${batch?.recipientCount ?? 0} recipient(s) in ${batch?.txHash}`);
    if (batch?.error !== undefined) {
      lines.push(`nothing was paid: ${batch.error.code}: ${batch.error.message}`);
    }
    for (const skipped of result.skipped) {
      lines.push(`skipped ${skipped.recipientAddress}: ${skipped.message}`);
    }
    // On a terminal the line already stands where the check happened.
    if (result.allowance.state === 'insufficient' && !isTty) {
      lines.push(insufficientAllowanceLine);
    }
  }
  const seconds = trace.timings.map((timing) => `${timing.stage} ${formatSeconds(timing.seconds)}`);
  lines.push(`key: ${job.key}`);
  if (seconds.length > 0) {
    lines.push(`time: ${seconds.join(', ')}`);
  }
  if (trace.settlement?.gasUsed !== undefined) {
    lines.push(`gas used: ${trace.settlement.gasUsed}`);
  }
  return lines.join('\n');
}

function exitCodeOf(job: DisbursementJob): number {
  if (job.state === 'failed') {
    return exitCodes.failed;
  }
  return job.result?.status === 'partial' ? exitCodes.partial : exitCodes.ok;
}

/** What `POST /api/validate` does, in this process: no agent has to run. Proves and submits nothing. */
async function runDry(
  config: Config,
  request: DisburseRequest,
  options: DisburseOptions,
  output: Output,
): Promise<number> {
  const parts = await createParts(config);
  const pins = openEvidencePins(':memory:');
  try {
    const bootstrap = await optional(() => parts.edge.bootstrap());
    parts.gates.update(bootstrap?.gate);
    const { check } = createReadiness(
      { ...parts.probes, accelerator: () => Promise.reject(new Error('a dry run proves nothing')) },
      { nowMs: () => performance.now() },
    );
    const validation = parts.createValidation({
      bootstrap: () => {
        if (bootstrap === undefined) {
          throw new PoolError('platform_unavailable', 'the platform does not answer', {
            status: 503,
            retryable: true,
          });
        }
        return bootstrap;
      },
      pins,
      check,
    });
    const report = await validateDisbursement(request, validation);
    output.out(options.json === true ? JSON.stringify(report, null, 2) : describeReport(report));
    return report.ok ? exitCodes.ok : exitCodes.refused;
  } finally {
    pins.close();
    parts.close();
  }
}

function describeReport(report: ValidationReport): string {
  const allowance =
    report.allowanceState === 'insufficient'
      ? insufficientAllowanceLine
      : `allowance: ${report.allowanceState}`;
  const verdict =
    report.issues.length > 0
      ? 'dry run: the batch would be refused'
      : 'dry run: the batch would be accepted, and not settled now';
  return [
    report.ok ? 'dry run: the batch would go through' : verdict,
    ...report.issues.map(({ code, message }) => `${code}: ${message}`),
    ...(report.preflight ?? []).map(({ code, message }) => `${code}: ${message}`),
    allowance,
  ].join('\n');
}
