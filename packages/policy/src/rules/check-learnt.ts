/**
 * Rules about approvals that the ledger knows only from a custodian's history, after it was restored from a backup. Their people and
 * notes are unknown, so what could repeat them waits, or people look at it.
 *
 * @module
 */

import { maxEvidenceSkewMs } from '@pool/core';
import { computeBatchGuardId, computeWalletKey } from '../history/guard-id.ts';
import type { EvidencePin } from '../history/ledger-history.ts';
import type {
  RebuiltFund,
  RebuiltManifest,
  RebuiltPayee,
  RebuiltSpend,
} from '../rebuild/rebuild-manifest.ts';
import { deadMarginSeconds } from './fact-questions.ts';
import { check, checkLater, type DecideInput, type Finding } from './findings.ts';

// Rules about the payees of a manifest: whose evidence counts, and who may be paid.

/** Evidence is for the policy's platform, not dated ahead, and not older than evidence that names another P. */
export function checkEvidence(
  { policy, ledger, nowMs }: DecideInput,
  { payees, evidence }: RebuiltManifest,
): readonly Finding[] {
  const isPolicyDomain =
    evidence.domain === policy.evidence.domain && evidence.uri === policy.evidence.uri;
  const ahead = findPlace(payees, ({ issuedAtMs }) => issuedAtMs > nowMs + maxEvidenceSkewMs);
  const replaced = findPlace(payees, (payee) => {
    const pin = ledger.findPin(computeWalletKey(payee.walletPub));
    // Of two keys with evidence of one instant, the one that was seen first remains.
    return (
      pin !== undefined &&
      pin.issuedAtMs >= payee.issuedAtMs &&
      pin.encryptionPublicKey !== payee.encryptionPublicKey
    );
  });
  return [
    check('evidence', isPolicyDomain, 'evidence-invalid', 'It is for another platform.'),
    check('evidence-date', ahead === undefined, 'evidence-from-future', ahead),
    check('evidence-newest', replaced === undefined, 'evidence-other-key', replaced),
  ];
}

/** "Recipient 3: 0x…" of the first payee with a defect. */
export function findPlace(
  payees: readonly RebuiltPayee[],
  hasDefect: (payee: RebuiltPayee) => boolean,
): string | undefined {
  const index = payees.findIndex(hasDefect);
  const payee = payees[index];
  return payee === undefined ? undefined : `Recipient ${index + 1}: ${payee.address}.`;
}

/** The newest evidence of each payee, for the ledger. */
export function listPins(
  { ledger }: DecideInput,
  { payees }: RebuiltManifest,
): readonly EvidencePin[] {
  return payees
    .map(({ walletPub, encryptionPublicKey, issuedAtMs }) => ({
      walletKey: computeWalletKey(walletPub),
      encryptionPublicKey,
      issuedAtMs,
    }))
    .filter(({ walletKey, issuedAtMs }) => {
      const known = ledger.findPin(walletKey);
      return known === undefined || known.issuedAtMs < issuedAtMs;
    });
}

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
