/**
 * Rules about the payees of a manifest: whose evidence counts, and who may be paid.
 *
 * @module
 */
import { maxEvidenceSkewMs } from '@pool/core';
import { computeWalletKey } from '../history/guard-id.ts';
import type { EvidencePin } from '../history/ledger-history.ts';
import type { RebuiltManifest, RebuiltPayee } from '../rebuild/rebuild-manifest.ts';
import { check, type DecideInput, type Finding } from './findings.ts';

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
