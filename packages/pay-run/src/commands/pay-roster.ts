/**
 * Pays a roster file through the agent of this machine, and follows the payment to its end. The dry run does the agent's
 * checks in this process, and sends only read requests.
 *
 * @module
 */
import {
  type AmountUnit,
  type DisbursementJob,
  type DisburseRequest,
  type NumberFormat,
  PoolError,
  quote,
} from '@pool/core';
import { createRequest, explainMistakes } from '../check/check-parts.ts';
import { type ApprovePayment, createApproval } from '../check/confirm-payment.ts';
import { locateSkipped, type SkippedEntry } from '../check/pay-run-echo.ts';
import {
  createRosterError,
  describeProblem,
  locateFinding,
  mergeProblems,
  type RosterProblem,
} from '../check/roster-problems.ts';
import { exitCodes } from '../exit-codes.ts';
import { findInvited } from '../ledger/invited-record.ts';
import {
  assertNoneLost,
  assertWhole,
  type ClaimDeps,
  claimPayRun,
  findPayRun,
} from '../ledger/pay-run-claim.ts';
import { findPart } from '../ledger/pay-run-find.ts';
import type { PayRun } from '../ledger/pay-run-key.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import { recordKnownPart, sendPart, submitOrFind } from '../ledger/pay-run-send.ts';
import { openLedger } from '../ledger/shared-ledger.ts';
import { type FollowOptions, followJob, withInterruption } from '../pay/follow-job.ts';
import type { SplitPlan } from '../pay/split-pay-run.ts';
import type { AgentClient, Output, Payer, Terminal } from '../ports.ts';
import { createJobDocument, describeJob, exitCodeOfJob } from '../report/job-report.ts';
import {
  createSplitDocument,
  describeSplit,
  exitCodeOfSplit,
  repeatLine,
} from '../report/split-report.ts';
import { chooseFormat, decideRosterUnit, warnOfTokenUnits } from '../roster/roster-amount.ts';
import { parseRoster, type RosterEntry } from '../roster/roster-csv.ts';
import { readRosterText } from '../roster/roster-file.ts';
import { runDry } from './dry-run.ts';
import {
  createReadInvited,
  parseUntil,
  payFirstRound,
  reportFirstRound,
  runDryInvited,
} from './pay-invited.ts';
import { payPlan } from './pay-plan.ts';

// The questions of `--dry-run`, asked before a payment is sent: the checks of the running agent, and what would prevent
// the batch although nothing is wrong with the roster (docs/decisions/0008).

/**
 * Findings that do not prevent a payment: a read that failed says nothing about the payment, and the agent waits for what
 * it needs. `platform_unreachable`: the submission asks the platform again, and is refused if that does not answer.
 */
const unreadCodes: readonly string[] = ['chain_unreachable', 'platform_unreachable'];

/**
 * @param entries - of the request, in its order
 * @returns the recipients that would be skipped
 * @throws PoolError `invalid_roster` with every problem of the roster, `payment_blocked` with all other problems
 */
async function askFirst(
  entries: readonly RosterEntry[],
  request: DisburseRequest,
  {
    client,
    terminal,
  }: { readonly client: Pick<AgentClient, 'validate'>; readonly terminal: Terminal },
): Promise<readonly SkippedEntry[]> {
  const { issues, preflight = [], skipped } = await client.validate(request);
  const problems = mergeProblems(entries, [], issues);
  if (problems.length > 0) {
    throw createRosterError(problems);
  }
  const blocking = preflight.filter(
    ({ code, severity }) => severity !== 'warning' && !unreadCodes.includes(code),
  );
  if (blocking.length > 0) {
    throw createBlocked(blocking.map((finding) => locateFinding(entries, finding)));
  }
  for (const finding of preflight) {
    terminal.write(`warning: ${describeProblem(locateFinding(entries, finding))}\n`);
  }
  return locateSkipped(entries, skipped);
}

function createBlocked(findings: readonly RosterProblem[]): PoolError {
  return new PoolError(
    'payment_blocked',
    [
      'nothing was sent: the roster can be paid, but not now',
      ...findings.map(describeProblem),
      'run the same command again when this is corrected',
    ].join('\n'),
    { problems: findings },
  );
}

type WholeDeps = ClaimDeps & {
  readonly client: AgentClient;
  readonly terminal: Terminal;
  /** Asked last, before anything is sent. Not asked if an earlier run sent the roster. */
  readonly approve: ApprovePayment;
};

type WholeOutcome = {
  readonly job: DisbursementJob;
  /** An earlier run submitted the roster. This one sent nothing. */
  readonly isRepeat: boolean;
};

/**
 * The job of this roster under this label: the existing one, or a new one.
 * @throws PoolError `pay_run_conflict`, `pay_run_job_lost`, `payment_declined`, and the errors of {@link askFirst}
 */
export async function payWhole(
  plan: PayRun & { readonly unregistered?: 'fail' | 'skip' | undefined },
  deps: WholeDeps,
): Promise<WholeOutcome> {
  const { client } = deps;
  const { digest, sent, count = 1 } = await findPayRun(plan, deps);
  assertWhole(count);
  const name = { payRun: plan.payRun, digest, part: 1, count };
  const seen = sent?.parts[0];
  const { key, attempt, job } = await findPart(name, seen?.attempt ?? 1, client);
  assertNoneLost(job === undefined && seen?.sent === 'accepted' ? [1] : []);
  const request = createRequest(plan, plan.entries, plan.unregistered);
  if (job === undefined) {
    // A submission is refused with its first problem only. The operator needs all of them to correct the file.
    const skipped = await askFirst(plan.entries, request, deps);
    await deps.approve(plan, { ...plan, skipped, parts: 1 });
  }
  await claimPayRun(plan, { digest, count }, deps);
  const place = { digest, part: 1, count, attempt };
  if (job !== undefined) {
    await recordKnownPart(plan, place, deps);
    return { job, isRepeat: true };
  }
  const submitted = await sendPart(plan, place, () => submitOrFind(client, key, request), deps);
  return { job: submitted, isRepeat: false };
}

const livezTimeoutMs = 1_000;

/** The chain and token of a command. */
export type TargetOptions = { readonly chain?: string; readonly token?: string };

export type DisburseOptions = TargetOptions & {
  readonly file: string;
  readonly payRun: string;
  readonly unregistered?: 'fail' | 'skip' | 'invite';
  /** With `invite`: the last day on which people are paid who are held back, in UTC. */
  readonly until?: string;
  /** With `invite`: pays wallets that nobody has confirmed, also where nobody is asked. */
  readonly acceptWallets?: boolean;
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
};

/** @param openPayer - reads the configuration. @returns the exit code */
export async function payRoster(
  options: DisburseOptions,
  openPayer: () => Payer,
  output: Output,
): Promise<number> {
  const payRun = parsePayRun(options.payRun);
  const { retry = [] } = options;
  const isInviting = options.unregistered === 'invite';
  const unregistered = options.unregistered === 'invite' ? undefined : options.unregistered;
  if (!isInviting && options.until !== undefined) {
    throw new PoolError('invalid_request', '--until needs --unregistered invite');
  }
  const acceptWallets = options.acceptWallets === true;
  if (!isInviting && acceptWallets) {
    throw new PoolError('invalid_request', '--accept-wallets needs --unregistered invite');
  }
  const until = isInviting ? parseUntil(options.until, Date.now()) : undefined;
  if (retry.length > 0 && options.split !== true) {
    throw new PoolError(
      'invalid_request',
      '--retry names a part of a pay run, so it needs --split',
    );
  }
  const payer = openPayer();
  const { terminal } = output;
  const { chain, token, decimals } = resolveTarget(options, payer);
  const declared: AmountUnit = { decimals, symbol: token, format: chooseFormat(options) };
  const text = readRosterText(options.file);
  const readInvited = isInviting ? createReadInvited(payer.invitations) : undefined;
  const read = parseRoster(text, declared, readInvited);
  const isDry = options.dryRun === true;
  const ask = options.yes === true ? undefined : output.ask;
  const question = { isUnasked: options.yes === true && !isDry, ask };
  const unit: AmountUnit =
    read.kind === 'mistakes'
      ? declared
      : { ...declared, format: await decideRosterUnit(read.entries, declared, question) };
  const roster = unit.format === declared.format ? read : parseRoster(text, unit, readInvited);
  if (roster.unread.length > 0) {
    terminal.write(
      `note: columns of the roster that are not read: ${roster.unread.map((name) => quote(name)).join(', ')}\n`,
    );
  }
  if (roster.kind === 'mistakes') {
    const place = { chain, token, unregistered, isSplit: options.split === true || isInviting };
    const entries = roster.entries.filter((entry) => findInvited(entry) === undefined);
    const problems = await explainMistakes({ ...roster, entries }, place, (request) =>
      isDry
        ? payer.withChecks(({ validate }) => validate(request))
        : payer.openAgent().validate(request),
    );
    throw createRosterError(problems);
  }
  const warning = warnOfTokenUnits(roster.entries, unit);
  if (warning !== undefined) {
    terminal.write(`${warning}\n`);
  }
  const plan: SplitPlan = { chain, token, payRun, entries: roster.entries, unregistered, retry };
  const hasInvited = roster.entries.some((entry) => findInvited(entry) !== undefined);
  if (isDry && until !== undefined && hasInvited) {
    const mustBeConfirmed = ask === undefined && !acceptWallets;
    const dry = { ...options, decimals, until, mustBeConfirmed };
    const code = await runDryInvited(payer, plan, dry, output);
    await noteAbsence(payer.agentUrl, terminal);
    return code;
  }
  if (isDry) {
    const code = await runDry(payer, plan, { ...options, decimals }, output);
    await noteAbsence(payer.agentUrl, terminal);
    return code;
  }
  if (options.split === true && (until === undefined || !hasInvited)) {
    // A signal ends the following, not the payment: the summary reports the progress.
    const outcome = await withInterruption((signal) =>
      payPlan(plan, payer, {
        createApproval: (claim) => createApproval({ ...claim, decimals, terminal, ask }),
        terminal,
        signal,
      }),
    );
    output.out(
      options.json === true
        ? createSplitDocument(plan, outcome)
        : describeSplit(plan, outcome, decimals),
    );
    return exitCodeOfSplit(outcome);
  }
  // Before the ledger: a directory without a token never had an agent.
  const client = payer.openAgent();
  const ledger = await openLedger(payer.ledger);
  const claim = { ledger, client, nowMs: ledger.nowMs };
  const deps = {
    ...claim,
    terminal,
    approve: createApproval({ ...claim, decimals, terminal, ask }),
  };
  try {
    if (until !== undefined && hasInvited) {
      const unitOfToken = { symbol: token, decimals };
      const outcome = await withInterruption((signal) =>
        payFirstRound(plan, until, {
          ...{ ...claim, terminal, ask, acceptWallets, signal, unit: unitOfToken },
          invitations: payer.invitations,
          readCeiling: () => payer.withChecks(async ({ readCeiling }) => readCeiling(chain)),
        }),
      );
      return reportFirstRound(plan, until, outcome, unitOfToken, {
        json: options.json,
        out: output.out,
      });
    }
    const first = await payWhole(plan, deps);
    return await followWhole(client, first, plan.entries, options, output);
  } finally {
    await ledger.close();
  }
}

/** @throws PoolError `invalid-chain`, `invalid-token` */
export function resolveTarget(
  options: TargetOptions,
  payer: Pick<Payer, 'chain' | 'readChains'>,
): {
  readonly chain: string;
  /** Symbol. */
  readonly token: string;
  /** Of the token. */
  readonly decimals: number;
} {
  const chains = payer.readChains();
  const named = options.chain ?? payer.chain;
  if (named === undefined && Object.keys(chains).length > 1) {
    throw new PoolError('invalid-chain', 'name the chain with --chain or DISBURSE_CHAIN');
  }
  const chain = named ?? Object.keys(chains)[0];
  const settings = chain === undefined ? undefined : chains[chain];
  if (chain === undefined || settings === undefined) {
    throw new PoolError(
      'invalid-chain',
      'the chain is not in chains.json of this agent, or has no pool',
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
  const { isRepeat } = first;
  if (trace === undefined) {
    if (json === true) {
      out({ isRepeat, job });
    }
    terminal.write(
      `interrupted: the agent continues this payment. Run the same command again to follow it, or "disburse-agent cancel ${job.key}" to stop it\n`,
    );
    return exitCodes.interrupted;
  }
  out(
    json === true
      ? { isRepeat, ...createJobDocument(job, trace, entries) }
      : [...(isRepeat ? [repeatLine] : []), describeJob(job, trace, entries, terminal.isTty)].join(
          '\n',
        ),
  );
  return exitCodeOfJob(job);
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
