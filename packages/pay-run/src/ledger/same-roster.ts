/**
 * Finds the same roster paid shortly before under another label, which is most likely a mistake. The command warns and does
 * not refuse, because a roster that is paid every month may stay the same (docs/decisions/0008).
 *
 * @module
 */
import { isGivenUp, isLabelOf } from './invited-record.ts';
import { type ClaimDeps, findHolder, findSent, isSent } from './pay-run-claim.ts';
import { computePayRunDigest, type PayRun } from './pay-run-key.ts';
import type { NamedPayRun } from './pay-run-ledger.ts';

/** The time in which an identical roster causes a warning. Pay runs are a week or more apart. */
export const sameRosterHours = 72;

export type SameRoster = { readonly label: string; readonly atMs: number };

/**
 * Other labels under which this roster was sent in the last {@link sameRosterHours}. The newest comes first.
 */
export function findSameRoster(
  known: readonly NamedPayRun[],
  plan: PayRun,
  nowMs: number,
): readonly SameRoster[] {
  const sameToken = known.filter(
    ({ chain, token }) => chain === plan.chain && token === plan.token,
  );
  return sameToken
    .flatMap(({ payRun, record }) => {
      const atMs = findSentMs(payRun, sameToken);
      // Digests bind the label, so they are computed only for the few labels that are recent enough.
      const isYoung = nowMs - atMs <= sameRosterHours * 3_600_000;
      return isYoung &&
        payRun !== plan.payRun &&
        findSent(record, computePayRunDigest({ ...plan, payRun })) !== undefined
        ? [{ label: payRun, atMs }]
        : [];
    })
    .sort((left, right) => right.atMs - left.atMs);
}

/** When something was last sent under a label, by its later payments too. 0: never */
function findSentMs(label: string, known: readonly NamedPayRun[]): number {
  const times = known
    .filter(({ payRun, record }) => isLabelOf(payRun, label) && !isGivenUp(record))
    .flatMap(({ record }) => record.parts.filter(isSent).map(({ sinceMs }) => sinceMs));
  return Math.max(0, ...times);
}

/** Those of them that were paid or may have been, according to the agent. */
export async function findPaidSameRoster(
  plan: PayRun,
  deps: ClaimDeps,
): Promise<readonly SameRoster[]> {
  const paid: SameRoster[] = [];
  for (const same of findSameRoster(await deps.ledger.listAll(), plan, await deps.nowMs())) {
    const name = { ...plan, payRun: same.label };
    const record = await deps.ledger.read(name);
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
