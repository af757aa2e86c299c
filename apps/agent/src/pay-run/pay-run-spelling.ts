/**
 * The spelling of a label from which the keys of a payment derive (docs/decisions/0008). It is the normal
 * form of the label. Earlier versions derived keys from the label as it was typed. A roster that they paid under
 * another spelling keeps its keys, so that nobody is paid again under new ones.
 *
 * @module
 */
import { batchSizes } from '@pool/core';
import type { EdgeClient } from '@pool/platform-client';
import { assertNothingPaid, type ClaimDeps, findHolder, isSent } from './pay-run-claim.ts';
import { findCut, findPart, hasNoEffect } from './pay-run-find.ts';
import { computePartKey, computePayRunDigest, type PayRun } from './pay-run-key.ts';
import { isSpellingOf, listEarlierSpellings } from './pay-run-label.ts';
import type { LedgerEntry, PayRunName } from './pay-run-ledger.ts';

/** A roster and its label in the normal form. */
export type LabelledPayRun = PayRun & {
  /** The label as it was typed. */
  readonly typedLabel?: string | undefined;
};

export type SpellingDeps = ClaimDeps & {
  /** Has settlements that the job store of the agent may have lost. */
  readonly platform: Pick<EdgeClient, 'getSettlement'>;
};

/** The records of all spellings of a label. Its normal form comes first. */
export function findRecords(
  entries: readonly LedgerEntry[],
  label: string,
): readonly LedgerEntry[] {
  return entries
    .filter(({ spelling }) => isSpellingOf(spelling, label))
    .sort((left, right) => Number(right.spelling === label) - Number(left.spelling === label));
}

/**
 * The same roster, with its label spelled as its keys spell it. Sends nothing.
 * @throws PoolError `pay_run_conflict`, and the errors of agent and platform, because both must answer
 */
export async function resolveSpelling<T extends LabelledPayRun>(
  plan: T,
  deps: SpellingDeps,
): Promise<T> {
  const payRun = await findSpelling(plan, deps);
  return { ...plan, payRun };
}

async function findSpelling(plan: LabelledPayRun, deps: SpellingDeps): Promise<string> {
  const records = findRecords(deps.ledger.list(plan), plan.payRun);
  const nameOf = ({ spelling }: LedgerEntry): PayRunName => ({ ...plan, payRun: spelling });
  const own = records.filter((known) => isOfRoster(known, plan));
  for (const known of own) {
    if ((await findHolder(nameOf(known), known.record, deps)) !== undefined) {
      return known.spelling;
    }
  }
  for (const known of records) {
    if (!own.includes(known)) {
      await assertNothingPaid(nameOf(known), known.record, deps);
    }
  }
  // The other records had no effect, or the ledger does not know them.
  return (await findForgotten(plan, deps)) ?? own.find(isSentEntry)?.spelling ?? plan.payRun;
}

/** For a dry run, which asks no agent: the record of this roster, or else of its label. */
export function chooseRecord(
  records: readonly LedgerEntry[],
  plan: PayRun,
): LedgerEntry | undefined {
  const sent = records.filter(isSentEntry);
  return sent.find((known) => isOfRoster(known, plan)) ?? sent[0];
}

/** True if a part was sent or may have been. */
function isSentEntry({ record }: LedgerEntry): boolean {
  return record.parts.some(isSent);
}

function isOfRoster({ spelling, record }: LedgerEntry, plan: PayRun): boolean {
  return record.digest === digestOf(plan, spelling);
}

/**
 * The spelling under which agent or platform know this roster although the ledger does not. A spelling whose job was paid
 * comes before one whose job failed.
 */
async function findForgotten(
  plan: LabelledPayRun,
  deps: SpellingDeps,
): Promise<string | undefined> {
  const earlier = listEarlierSpellings(plan.payRun, plan.typedLabel);
  if (earlier.length === 0) {
    return undefined;
  }
  let failed: string | undefined;
  for (const spelling of [plan.payRun, ...earlier]) {
    const found = await findAtAgent(plan, spelling, deps);
    if (found === 'used') {
      return spelling;
    }
    failed ??= found === 'failed' ? spelling : undefined;
  }
  for (const spelling of earlier) {
    if (await isSettling(plan, spelling, deps)) {
      return spelling;
    }
  }
  return failed;
}

function digestOf(plan: PayRun, spelling: string): string {
  return computePayRunDigest({ ...plan, payRun: spelling });
}

async function findAtAgent(
  plan: PayRun,
  spelling: string,
  { client }: SpellingDeps,
): Promise<'used' | 'failed' | undefined> {
  const name = { payRun: spelling, digest: digestOf(plan, spelling) };
  const count = await findCut(name, plan.entries.length, client);
  if (count === undefined) {
    return undefined;
  }
  for (let part = 1; part <= count; part += 1) {
    const { job } = await findPart({ ...name, part, count }, 1, client);
    if (job !== undefined && !hasNoEffect(job)) {
      return 'used';
    }
  }
  return 'failed';
}

/** For a job store that is lost: the platform settles each key once. */
async function isSettling(
  plan: PayRun,
  spelling: string,
  { platform }: SpellingDeps,
): Promise<boolean> {
  const name = { payRun: spelling, digest: digestOf(plan, spelling), part: 1, attempt: 1 };
  const recipients = plan.entries.length;
  for (const count of new Set([1, ...batchSizes.map((size) => Math.ceil(recipients / size))])) {
    if ((await platform.getSettlement(computePartKey({ ...name, count }))) !== undefined) {
      return true;
    }
  }
  return false;
}
