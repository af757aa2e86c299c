/**
 * Finds the same roster paid shortly before under another label, which is most likely a mistake. The command warns and does
 * not refuse, because a roster that is paid every month may stay the same (docs/decisions/0008).
 *
 * @module
 */
import { type ClaimDeps, findHolder, findSent } from './pay-run-claim.ts';
import { computePayRunDigest, type PayRun } from './pay-run-key.ts';
import { isSpellingOf, parsePayRun } from './pay-run-label.ts';
import type { LedgerEntry, PayRunName } from './pay-run-ledger.ts';

/** The time in which an identical roster causes a warning. Pay runs are a week or more apart. */
export const sameRosterHours = 72;

export type SameRoster = { readonly label: string; readonly atMs: number };

/**
 * Other labels under which this roster was sent in the last {@link sameRosterHours}. The newest comes first.
 * @param plan - in any spelling of its label
 */
export function findSameRoster(
  entries: readonly LedgerEntry[],
  plan: PayRun,
  nowMs: number,
): readonly SameRoster[] {
  const label = parsePayRun(plan.payRun);
  return entries
    .flatMap(({ spelling, record }) => {
      const atMs = Math.max(...record.parts.map((part) => (part.sent === 'no' ? 0 : part.sinceMs)));
      // Digests bind the label, so they are computed only for the few labels that are recent enough.
      const isYoung = nowMs - atMs <= sameRosterHours * 3_600_000;
      return isYoung &&
        !isSpellingOf(spelling, label) &&
        findSent(record, computePayRunDigest({ ...plan, payRun: spelling })) !== undefined
        ? [{ label: spelling, atMs }]
        : [];
    })
    .sort((left, right) => right.atMs - left.atMs);
}

/** Those of them that were paid or may have been, according to the agent. */
export async function findPaidSameRoster(
  plan: PayRun,
  deps: ClaimDeps,
): Promise<readonly SameRoster[]> {
  const entries = deps.ledger.list(plan);
  const paid: SameRoster[] = [];
  for (const same of findSameRoster(entries, plan, deps.nowMs())) {
    const name: PayRunName = { ...plan, payRun: same.label };
    const record = deps.ledger.read(name);
    if (record !== undefined && (await findHolder(name, record, deps)) !== undefined) {
      paid.push(same);
    }
  }
  return paid;
}

export function describeSameRoster({ label, atMs }: SameRoster): string {
  const time = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ');
  return `warning: the same roster was sent under the label ${label} at ${time} UTC; under another label it is paid once more`;
}
