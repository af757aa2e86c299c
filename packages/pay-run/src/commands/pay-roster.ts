/**
 * `disburse-agent disburse`: pays a roster file through the agent on this machine, and follows the payment to its end.
 * The dry run does the agent's checks in this process, and sends only read requests.
 *
 * @module
 */
import { type AmountUnit, type NumberFormat, PoolError, quote } from '@pool/core';
import type { AgentClient, Terminal } from '@pool/pay-run';
import {
  chooseFormat,
  createApproval,
  createJobDocument,
  createRosterError,
  createSplitDocument,
  decideRosterUnit,
  describeJob,
  describeSplit,
  exitCodeOfJob,
  exitCodeOfSplit,
  exitCodes,
  explainMistakes,
  type FollowOptions,
  followJob,
  openPayRunLedger,
  parsePayRun,
  parseRoster,
  payRunLedgerPath,
  paySplit,
  payWhole,
  type RosterEntry,
  RosterError,
  type RosterProblem,
  readRosterText,
  repeatLine,
  type SplitPlan,
  type WholeDeps,
  type WholeOutcome,
  warnOfTokenUnits,
} from '@pool/pay-run';
import {
  type AgentAddress,
  type Config,
  readAgentAddress,
  readConfig,
} from '../../config/config.ts';
import { withLocalChecks } from '../../services/local-checks.ts';
import { createAgentClient, urlOf } from '../../services/peers/agent-client.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { type Output, withInterruption } from '../../terminal/command-output.ts';
import { resolveTarget } from './disburse-target.ts';
import { runDry } from './dry-run-command.ts';

const livezTimeoutMs = 1_000;

export type DisburseOptions = {
  readonly file: string;
  readonly payRun: string;
  readonly token?: string;
  readonly chain?: string;
  readonly unregistered?: 'fail' | 'skip';
  readonly decimal?: boolean;
  /** How the amounts of the roster are written; they are in tokens then. */
  readonly numberFormat?: NumberFormat;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  /** Sends without a question. */
  readonly yes?: boolean;
  readonly split?: boolean;
  /** Parts, from 1. */
  readonly retry?: readonly number[];
  readonly envFile?: string;
};

/** @returns the exit code */
export async function runDisburse(options: DisburseOptions, output: Output): Promise<number> {
  const payRun = parsePayRun(options.payRun);
  const { retry = [] } = options;
  if (retry.length > 0 && options.split !== true) {
    throw new PoolError(
      'invalid_request',
      '--retry names a part of a pay run, so it needs --split',
    );
  }
  const config = readConfig(options.envFile);
  const { chain, token, decimals } = resolveTarget(options, config);
  const declared: AmountUnit = { decimals, symbol: token, format: chooseFormat(options) };
  const text = readRosterText(options.file);
  const read = parseRoster(text, declared);
  const isUnasked = options.yes === true && options.dryRun !== true;
  const question = { isUnasked, ask: options.yes === true ? undefined : output.ask };
  const unit: AmountUnit =
    read.kind === 'mistakes'
      ? declared
      : { ...declared, format: await decideRosterUnit(read.entries, declared, question) };
  const roster = unit.format === declared.format ? read : parseRoster(text, unit);
  if (roster.unread.length > 0) {
    output.terminal.write(
      `note: columns of the roster that are not read: ${roster.unread.map((name) => quote(name)).join(', ')}\n`,
    );
  }
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
    entries: roster.entries,
    unregistered: options.unregistered,
    retry,
  };
  if (options.dryRun === true) {
    const code = await runDry(config, plan, { ...options, decimals, nowMs: Date.now }, output);
    await noteAbsence(urlOf(config), output.terminal);
    return code;
  }
  const address = readAgentAddress(options.envFile);
  // Before the ledger: a directory without a token never had an agent.
  const client = createClient(address);
  const ledger = openPayRunLedger(payRunLedgerPath(address.home));
  const { terminal } = output;
  const claim = { ledger, client, nowMs: Date.now };
  const ask = options.yes === true ? undefined : output.ask;
  const approve = createApproval({ ...claim, decimals, terminal, ask });
  const deps = { ...claim, terminal, approve };
  try {
    if (options.split === true) {
      return await runSplit(config, plan, deps, { ...options, decimals }, output);
    }
    const first = await payWhole(plan, deps);
    return await followWhole(client, first, plan.entries, options, output);
  } catch (error) {
    if (error instanceof RosterError) {
      return refuseRoster(error.problems, options, output);
    }
    throw error;
  } finally {
    ledger.close();
  }
}

/**
 * Follows the job of a roster that was paid in one call, and reports it. Ctrl-C ends the watch and not the payment, so the
 * command then says how to continue.
 * @returns the exit code
 */
export async function followWhole(
  client: Pick<AgentClient, 'job' | 'trace'>,
  first: WholeOutcome,
  entries: readonly RosterEntry[],
  { json, pollMs }: Pick<FollowOptions, 'pollMs'> & { readonly json?: boolean },
  { out, terminal }: Output,
): Promise<number> {
  const { job, trace } = await withInterruption((signal) =>
    followJob(client, first.job, terminal, { signal, pollMs }),
  );
  if (trace === undefined) {
    terminal.write(
      `interrupted: the agent continues this payment. Run the same command again to follow it, or "disburse-agent cancel ${job.key}" to stop it\n`,
    );
    return exitCodes.interrupted;
  }
  out(
    json === true
      ? JSON.stringify(
          { isRepeat: first.isRepeat, ...createJobDocument(job, trace, entries) },
          null,
          2,
        )
      : [
          ...(first.isRepeat ? [repeatLine] : []),
          describeJob(job, trace, entries, terminal.isTty),
        ].join('\n'),
  );
  return exitCodeOfJob(job);
}

/** A signal ends the following, not the payment: the summary reports the progress. A second signal ends the command. */
async function runSplit(
  config: Config,
  plan: SplitPlan,
  deps: WholeDeps,
  options: DisburseOptions & { readonly decimals: number },
  output: Output,
): Promise<number> {
  const outcome = await withInterruption((signal) =>
    paySplit(plan, {
      ...deps,
      readCeiling: () =>
        withLocalChecks(config, async ({ readCeiling }) => readCeiling(plan.chain)),
      signal,
    }),
  );
  output.out(
    options.json === true
      ? JSON.stringify(createSplitDocument(plan, outcome), null, 2)
      : describeSplit(plan, outcome, options.decimals),
  );
  return exitCodeOfSplit(outcome);
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

/** A client of the agent on this machine. */
export function createClient(address: AgentAddress): AgentClient {
  return createAgentClient(urlOf(address), readLoopbackToken(address.home));
}

/** A dry run needs no agent, but the payment does: notes that no agent answers, and writes nothing if one does. */
export async function noteAbsence(
  baseUrl: string,
  terminal: Terminal,
  send: typeof fetch = fetch,
): Promise<void> {
  try {
    const signal = AbortSignal.timeout(livezTimeoutMs);
    const answer = await send(`${baseUrl}/api/livez`, { redirect: 'error', signal });
    await answer.body?.cancel();
  } catch {
    terminal.write(
      `note: no agent answers at ${baseUrl}: start it with "disburse-agent serve" before the payment\n`,
    );
  }
}
