/**
 * `disburse-agent disburse`: a roster file through the agent that runs on this machine, to its end. The
 * dry run does the agent's checks in this process, and sends nothing to anybody but look-ups.
 *
 * @module
 */
import { type DisbursementJob, PoolError } from '@pool/core';
import type { ValidationReport } from '@pool/operations';
import { createEdgeClient } from '@pool/platform-client';
import { type AgentClient, createAgentClient } from './agent-client.ts';
import { readLoopbackToken } from './agent-home.ts';
import { readChainsFile } from './chains.ts';
import { createRequest } from './check-parts.ts';
import { type AgentAddress, type Config, readAgentAddress, readConfig } from './config.ts';
import { exitCodes } from './exit-codes.ts';
import { followJob } from './follow-job.ts';
import type { JobTrace } from './job-trace.ts';
import { withLocalChecks } from './local-checks.ts';
import { describeUse } from './pay-run-claim.ts';
import { hasNoEffect } from './pay-run-find.ts';
import { computePayRunDigest } from './pay-run-key.ts';
import { parsePayRun } from './pay-run-label.ts';
import {
  listPayRuns,
  openPayRunLedger,
  type PayRunRecord,
  payRunLedgerPath,
} from './pay-run-ledger.ts';
import { chooseRecord, findRecords } from './pay-run-spelling.ts';
import { payWhole } from './pay-whole.ts';
import { formatSeconds, insufficientAllowanceLine, type Terminal } from './progress-view.ts';
import { type AmountUnit, warnOfTokenUnits } from './roster-amount.ts';
import { explainMistakes } from './roster-check.ts';
import { parseRoster, type RosterEntry } from './roster-csv.ts';
import { readRosterText } from './roster-file.ts';
import {
  createRosterError,
  describeProblem,
  locateFinding,
  mergeProblems,
  type RosterProblem,
} from './roster-problems.ts';
import { describeSplitDryRun, dryRunSplit } from './split-dry-run.ts';
import { paySplit, type SplitPlan } from './split-pay-run.ts';
import {
  createSplitDocument,
  describeSplit,
  exitCodeOfSplit,
  repeatLine,
  skippedLine,
} from './split-report.ts';

export type DisburseOptions = {
  readonly file: string;
  readonly payRun: string;
  readonly token?: string;
  readonly chain?: string;
  readonly unregistered?: 'fail' | 'skip';
  readonly decimal?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly split?: boolean;
  /** Parts, from 1. */
  readonly retry?: readonly number[];
  readonly envFile?: string;
};

export type Output = { out(text: string): void; readonly terminal: Terminal };

/** @returns the exit code */
export async function runDisburse(options: DisburseOptions, output: Output): Promise<number> {
  const payRun = parsePayRun(options.payRun);
  const { retry = [] } = options;
  if (retry.length > 0 && options.split !== true) {
    throw new PoolError('invalid_retry', '--retry names a part of a pay run, so it needs --split');
  }
  const config = readConfig(options.envFile);
  const { chain, token, decimals } = resolveTarget(options, config);
  const unit: AmountUnit = { decimals, token, isDecimal: options.decimal === true };
  const roster = parseRoster(readRosterText(options.file), unit);
  if (roster.kind === 'mistakes') {
    const { unregistered } = options;
    const place = { chain, token, unregistered, isSplit: options.split === true };
    const problems = await explainMistakes(roster, place, (request) =>
      options.dryRun === true
        ? withLocalChecks(config, ({ validate }) => validate(request))
        : createClient(readAgentAddress(options.envFile)).validate(request),
    );
    return refuseRoster(problems, options, output);
  }
  const warning = warnOfTokenUnits(roster.entries, unit);
  if (warning !== undefined) {
    output.terminal.write(`${warning}\n`);
  }
  const plan: SplitPlan = {
    chain,
    token,
    payRun,
    typedLabel: options.payRun,
    entries: roster.entries,
    unregistered: options.unregistered,
    retry,
  };
  if (options.dryRun === true) {
    const known = chooseRecord(findRecords(listPayRuns(config.home, plan), payRun), plan);
    const record = known?.record;
    const spelled = { ...plan, payRun: known?.spelling ?? payRun };
    const code =
      options.split === true
        ? await runSplitDry(config, spelled, record, options, output)
        : await runDry(config, plan, options, output);
    const use = describeUse(record, computePayRunDigest(spelled), options.split === true);
    if (use !== undefined && options.json !== true) {
      output.out(use);
    }
    return code;
  }
  const address = readAgentAddress(options.envFile);
  // Before the ledger: without a token there has been no agent in this directory.
  const client = createClient(address);
  const ledger = openPayRunLedger(payRunLedgerPath(address.home));
  const platform = createEdgeClient({ url: config.platformUrl, token: config.platformToken });
  const deps = { ledger, client, platform, nowMs: Date.now };
  try {
    if (options.split === true) {
      return await runSplit(config, plan, deps, options, output);
    }
    const first = await payWhole(plan, deps);
    const { job, trace } = await followJob(client, first.job, output.terminal);
    output.out(
      options.json === true
        ? JSON.stringify({ job, ...pickTrace(trace) }, null, 2)
        : [
            describeJob(job, trace, output.terminal.isTty),
            ...(first.isRepeat ? [repeatLine] : []),
          ].join('\n'),
    );
    return exitCodeOf(job);
  } finally {
    ledger.close();
  }
}

function pickTrace(trace: JobTrace | undefined): Partial<JobTrace> {
  if (trace === undefined) {
    return {};
  }
  const { timings, prover, settlement } = trace;
  return { timings, prover, ...(settlement === undefined ? {} : { settlement }) };
}

/** A signal ends the watching, not the work: the summary says how far it got. A second one ends the command. */
async function runSplit(
  config: Config,
  plan: SplitPlan,
  deps: Parameters<typeof payWhole>[1],
  options: DisburseOptions,
  output: Output,
): Promise<number> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const outcome = await paySplit(plan, {
      ...deps,
      readCeiling: () =>
        withLocalChecks(config, async ({ readCeiling }) => readCeiling(plan.chain)),
      terminal: output.terminal,
      signal: interruption.signal,
    });
    output.out(
      options.json === true
        ? JSON.stringify(createSplitDocument(plan, outcome), null, 2)
        : describeSplit(plan, outcome),
    );
    return exitCodeOfSplit(outcome);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
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

/** @returns the exit code */
function refuseRoster(
  problems: readonly RosterProblem[],
  { json }: DisburseOptions,
  output: Output,
): number {
  if (json !== true) {
    throw createRosterError(problems);
  }
  output.out(JSON.stringify({ ok: false, problems }, null, 2));
  return exitCodes.refused;
}

function createClient(address: AgentAddress): AgentClient {
  const host = address.host === '0.0.0.0' ? '127.0.0.1' : address.host;
  const name = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  return createAgentClient(`http://${name}:${address.port}`, readLoopbackToken(address.home));
}

function describeJob(job: DisbursementJob, trace: JobTrace | undefined, isTty: boolean): string {
  const lines: string[] = [];
  if (job.state === 'failed') {
    lines.push(`failed: ${job.error?.code ?? 'unknown'}: ${job.error?.message ?? ''}`);
    if (hasNoEffect(job)) {
      lines.push('nothing was paid: mend the cause, then run again with --split --retry 1');
    } else {
      lines.push(
        'it was paid, by the transaction named: have somebody look before it is paid again',
      );
    }
  }
  const { result } = job;
  if (result !== undefined) {
    const [batch] = result.batches;
    lines.push(`${result.status}: ${batch?.recipientCount ?? 0} recipient(s) in ${batch?.txHash}`);
    if (batch?.error !== undefined) {
      lines.push(`nothing was paid: ${batch.error.code}: ${batch.error.message}`);
      lines.push('its key is used up: find the cause, then pay under a label of its own');
    }
    for (const skipped of result.skipped) {
      lines.push(`skipped ${skipped.recipientAddress}: ${skipped.message}`);
    }
    if (result.skipped.length > 0) {
      lines.push(skippedLine);
    }
    // On a terminal the line already stands where the check happened.
    if (result.allowance.state === 'insufficient' && !isTty) {
      lines.push(insufficientAllowanceLine);
    }
  }
  const seconds = (trace?.timings ?? []).map(
    (timing) => `${timing.stage} ${formatSeconds(timing.seconds)}`,
  );
  lines.push(`key: ${job.key}`);
  if (seconds.length > 0) {
    lines.push(`time: ${seconds.join(', ')}`);
  }
  if (trace?.settlement?.gasUsed !== undefined) {
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
  plan: SplitPlan,
  options: DisburseOptions,
  output: Output,
): Promise<number> {
  const request = createRequest(plan, plan.entries, plan.unregistered);
  const report = await withLocalChecks(config, ({ validate }) => validate(request));
  const problems = mergeProblems(plan.entries, [], report.issues);
  output.out(
    options.json === true
      ? JSON.stringify({ ...report, problems }, null, 2)
      : describeReport(report, problems, plan.entries),
  );
  return report.ok ? exitCodes.ok : exitCodes.refused;
}

async function runSplitDry(
  config: Config,
  plan: SplitPlan,
  record: PayRunRecord | undefined,
  options: DisburseOptions,
  output: Output,
): Promise<number> {
  const report = await withLocalChecks(config, ({ validate, readCeiling }) =>
    dryRunSplit(plan, { record, validate, readCeiling: () => readCeiling(plan.chain) }),
  );
  output.out(options.json === true ? JSON.stringify(report, null, 2) : describeSplitDryRun(report));
  return report.ok ? exitCodes.ok : exitCodes.refused;
}

function describeReport(
  report: ValidationReport,
  problems: readonly RosterProblem[],
  entries: readonly RosterEntry[],
): string {
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
    ...problems.map(describeProblem),
    ...(report.preflight ?? []).map(
      (finding) =>
        `${finding.severity === 'warning' ? 'warning: ' : ''}${describeProblem(locateFinding(entries, finding))}`,
    ),
    allowance,
  ].join('\n');
}
