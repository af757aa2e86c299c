/**
 * Rules about approvals that the ledger knows only from a custodian's history, after it was restored from a backup. Their people and
 * notes are unknown, so what could repeat them waits, or people look at it.
 *
 * @module
 */
import { computeBatchGuardId } from '../history/guard-id.ts';
import type { RebuiltFund, RebuiltSpend } from '../rebuild/rebuild-manifest.ts';
import { deadMarginSeconds } from './fact-questions.ts';
import { checkLater, type DecideInput, type Finding } from './findings.ts';

const dayMs = 86_400_000;

/**
 * An approved batch of unknown people has this total on this token, within the days of `duplicateRoster`: it may be the same roster.
 * Another attempt of the same job does not count: it is dead.
 */
export function hasUnknownRoster(
  { policy, ledger, nowMs }: Pick<DecideInput, 'policy' | 'ledger' | 'nowMs'>,
  { chainId, token, total, employerId, jobKey }: RebuiltFund,
): boolean {
  const { duplicateRoster } = policy;
  if (duplicateRoster === undefined) {
    return false;
  }
  const ofJob = ledger
    .listAttempts(employerId, jobKey)
    .flatMap(({ chainId: chain, pool, batch }) =>
      batch === undefined
        ? []
        : [computeBatchGuardId('fund-authorization', chain, pool, batch.funder, batch.batchNonce)],
    );
  return ledger
    .listUnknownRosters(nowMs - duplicateRoster.days * dayMs)
    .some(
      (one) =>
        !ofJob.includes(one.guardId) &&
        (one.paid === undefined ||
          (one.paid.chainId === chainId && one.paid.token === token && one.paid.total === total)),
    );
}

/**
 * An approved spend of this holder whose notes and sum are unknown. It may land until the policy's longest deadline, and it counts for
 * 24 hours: until then the holder's other spends wait.
 */
export function checkUnknownSpends(
  { policy, ledger, nowMs }: Pick<DecideInput, 'policy' | 'ledger' | 'nowMs'>,
  { address, digest }: RebuiltSpend,
): Finding {
  const windowMs = 1000 * (policy.deadline.maxSeconds + deadMarginSeconds);
  const ends = ledger
    .listUnknownSpends(address, nowMs - Math.max(windowMs, dayMs))
    .filter((guard) => guard.digest !== digest)
    .map(({ firstAtMs }) => firstAtMs + Math.max(windowMs, dayMs));
  const endMs = Math.max(0, ...ends);
  const until = `Until ${new Date(endMs).toISOString()}.`;
  return checkLater('earlier-spends-known', nowMs >= endMs, 'spend-unknown', until);
}
