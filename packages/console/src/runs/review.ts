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
  inspectPayRuns,
  isFixed,
  listAllPayRuns,
  openLedger,
  parseRoster,
  type Roster,
  type RosterProblem,
  type SkippedEntry,
  type SplitPlan,
  sumAmounts,
} from '@pool/pay-run';
import type { ConsoleDeps } from '../access/ports.ts';
import { type Comparison, compareWithLast, findPeriod, isSameKind } from './comparison.ts';
import type { Draft } from './drafts.ts';

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
  /** Parts that were not sent yet. */
  readonly parts: number;
  readonly comparison: Comparison | undefined;
};

export function readDraft({ text, unit }: Draft): Roster {
  return parseRoster(text, unit);
}

export function createPlan(draft: Draft, { entries }: Roster): SplitPlan {
  const { chain, token, payRun, unregistered } = draft;
  return { chain, token, payRun, entries, unregistered, retry: [] };
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
      ...{ roster, total: 0n, warnings: [], isPaidBefore: false, skipped: [], parts: 0 },
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
  const dry = await payer.withChecks((checks) =>
    dryRunSplit(plan, {
      record: known?.record,
      validate: (request) => client.validate(request),
      readCeiling: () => checks.readCeiling(chain),
      findForeignUse: (key) => checks.findForeignUse(chain, key),
    }),
  );
  const silent = { isTty: false, write: () => undefined };
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
    parts: dry.parts.filter(({ submitted }) => !submitted).length,
    comparison: compareWithLast(payRun, roster.entries, earlier, percent),
  };
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
