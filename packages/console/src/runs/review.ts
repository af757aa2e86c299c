/**
 * What the console finds about a roster before it is paid: the same checks as `disburse --dry-run`, by the running agent.
 *
 * @module
 */
import { formatTokenAmount, isPoolError } from '@pool/core';
import {
  computePayRunDigest,
  describeSameRoster,
  describeUse,
  dryRunSplit,
  explainMistakes,
  findPaidSameRoster,
  hasNoEffect,
  inspectPayRuns,
  isFixed,
  listAllPayRuns,
  type NamedPayRun,
  openLedger,
  type PayRunView,
  parseRoster,
  type Roster,
  type RosterProblem,
  type SkippedEntry,
  type SplitPlan,
  stateOf,
  sumAmounts,
} from '@pool/pay-run';
import type { ConsoleDeps } from '../access/ports.ts';
import { type Comparison, compareWithLast, findPeriod, isSameKind } from './comparison.ts';
import type { Draft } from './drafts.ts';

const silent = { isTty: false, write: () => undefined };

export type Review = {
  readonly roster: Roster;
  /** Base units. */
  readonly total: bigint;
  /** Of rows, in the order of lines. Payment needs another file. */
  readonly problems: readonly RosterProblem[];
  /** Everything else that prevents the payment. */
  readonly obstacles: readonly string[];
  readonly warnings: readonly string[];
  /** The same roster was paid shortly before, or may have been. The person must confirm that it is paid again. */
  readonly isPaidBefore: boolean;
  readonly skipped: readonly SkippedEntry[];
  /** Parts that would be sent: those that never were, and those of `failed`. */
  readonly parts: number;
  /** Payees of these parts. */
  readonly people: number;
  /** Parts that have paid nobody and never can, so they can be sent again. */
  readonly failed: readonly FailedPart[];
  readonly comparison: Comparison | undefined;
};

export type FailedPart = Pick<PayRunView['parts'][number], 'part' | 'of' | 'key'> & {
  readonly reason: string;
};

export function readDraft({ text, unit }: Draft): Roster {
  return parseRoster(text, unit);
}

/** @param retry - parts that failed, to be sent again */
export function createPlan(
  draft: Draft,
  { entries }: Roster,
  retry: readonly number[] = [],
): SplitPlan {
  const { chain, token, payRun, unregistered } = draft;
  return { chain, token, payRun, entries, unregistered, retry };
}

/** Empty while a part of the pay run runs. */
export function listFailed({ parts }: Pick<PayRunView, 'parts'>): readonly FailedPart[] {
  return parts.some(({ job, isUnseen }) => stateOf(job, isUnseen) === 'running')
    ? []
    : parts.flatMap(({ part, of, key, job }) =>
        job !== undefined && hasNoEffect(job)
          ? [{ part, of, key, reason: job.error?.message ?? 'it has failed' }]
          : [],
      );
}

/** In a form: what the person has seen. */
export function nameAttempts(failed: readonly FailedPart[]): string {
  return failed.map(({ key }) => key).join(' ');
}

/** The failed parts of exactly this roster under its label. */
export async function findFailed(
  plan: SplitPlan,
  payer: ConsoleDeps['payer'],
): Promise<readonly FailedPart[]> {
  const digest = computePayRunDigest(plan);
  const [view] = await inspectPayRuns(
    payer,
    plan,
    { terminal: silent },
    (one) => one.payRun === plan.payRun,
  );
  return view?.record.digest === digest ? listFailed(view) : [];
}

/** How roster and control totals differ, one sentence each. Empty: they agree. */
export function compareControl({ control, unit }: Draft, { entries }: Roster): readonly string[] {
  const total = sumAmounts(entries);
  return [
    ...(entries.length === control.count
      ? []
      : [`The control total is ${control.count} people, but the file has ${entries.length}.`]),
    ...(total === control.sum
      ? []
      : [
          `The control total is ${formatTokenAmount(control.sum, unit)}, but the amounts of the file are ${formatTokenAmount(total, unit)} together.`,
        ]),
  ];
}

/** @param percent - a larger difference from the last amount is listed */
export async function reviewDraft(
  draft: Draft,
  payer: ConsoleDeps['payer'],
  percent: number,
): Promise<Review> {
  const { chain, token, payRun, unregistered } = draft;
  const roster = readDraft(draft);
  const client = payer.openAgent();
  if (roster.kind === 'mistakes') {
    const place = { chain, token, unregistered, isSplit: true };
    const found = await explainMistakes(roster, place, (request) => client.validate(request));
    return {
      ...{ roster, total: 0n, warnings: [], isPaidBefore: false, skipped: [], failed: [] },
      ...{ parts: 0, people: 0 },
      problems: found.filter(({ line }) => line !== undefined).map(describeChoice),
      obstacles: found.filter(({ line }) => line === undefined).map(({ message }) => message),
      comparison: undefined,
    };
  }
  const plan = createPlan(draft, roster);
  const all = await listAllPayRuns(payer.ledger);
  const known = all.find(
    (one) =>
      one.chain === chain && one.token === token && one.payRun === payRun && isFixed(one.record),
  );
  const failed = known === undefined ? [] : await findFailed(plan, payer);
  const dry = await payer.withChecks((checks) =>
    dryRunSplit(plan, {
      record: known && forgetParts(known.record, failed),
      validate: (request) => client.validate(request),
      readCeiling: () => checks.readCeiling(chain),
      findForeignUse: (key) => checks.findForeignUse(chain, key),
    }),
  );
  const earlier = await inspectPayRuns(payer, { chain, token }, { terminal: silent }, (one) =>
    isSameKind(one.payRun, payRun),
  );
  const same = await findSame(plan, payer);
  const period = findPeriod(payRun);
  const ofPeriod = all.filter(
    (one) =>
      one.payRun !== payRun &&
      period !== undefined &&
      findPeriod(one.payRun) === period &&
      isFixed(one.record),
  );
  const open = dry.parts.filter(({ submitted }) => !submitted);
  return {
    roster,
    total: sumAmounts(roster.entries),
    problems: dry.issues.filter(({ line }) => line !== undefined),
    obstacles: [
      ...dry.issues.filter(({ line }) => line === undefined).map(({ message }) => message),
      ...findConflict(known?.record, computePayRunDigest(plan)),
    ],
    warnings: [
      ...dry.warnings.map(({ part, message }) =>
        part === undefined || dry.parts.length === 1 ? message : `part ${part}: ${message}`,
      ),
      ...same.map((one) => describeSameRoster(one).replace(/^warning: /, '')),
      ...ofPeriod.map((one) => `the period ${period} has another pay run: ${one.payRun}`),
    ],
    isPaidBefore: same.length > 0,
    skipped: dry.skipped,
    parts: open.length,
    people: open.flatMap(({ recipients }) => recipients).length,
    failed,
    comparison: compareWithLast(payRun, roster.entries, earlier, percent),
  };
}

/** As if these parts had not been sent, under their next keys. */
function forgetParts(
  record: NamedPayRun['record'],
  failed: readonly FailedPart[],
): NamedPayRun['record'] {
  const numbers = failed.map(({ part }) => part);
  const parts = record.parts.map((known, index) =>
    numbers.includes(index + 1)
      ? { ...known, sent: 'no' as const, attempt: known.attempt + 1 }
      : known,
  );
  return { ...record, parts };
}

/** The form of a new pay run names its formats as the option of the command does. */
function describeChoice(problem: RosterProblem): RosterProblem {
  return { ...problem, message: problem.message.replaceAll('--number-format ', '') };
}

async function findSame(plan: SplitPlan, payer: ConsoleDeps['payer']) {
  const ledger = await openLedger(payer.ledger);
  try {
    return await findPaidSameRoster(plan, {
      ledger,
      client: payer.openAgent(),
      nowMs: ledger.nowMs,
    });
  } finally {
    await ledger.close();
  }
}

/** Another roster has the label. */
function findConflict(...known: [Parameters<typeof describeUse>[0], string]): readonly string[] {
  try {
    describeUse(...known, true);
    return [];
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return [error.message];
  }
}
