/**
 * Rotation: from now on the notes of a wallet are sealed to another P. Earlier notes are neither re-encrypted nor
 * served any more. The viewing key of the previous P still opens them.
 *
 * @module
 */
import { PoolError, readSignInKey } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { KeySession } from '../auth/sessions.ts';
import { getEmployer } from '../employers/employers.ts';
import {
  assertEvidence,
  assertOwnWallet,
  claimEncryptionKey,
  hasEncryptionKey,
  type Subject,
} from './enrolment.ts';
import { rulesOf } from './wallet-rules.ts';

export type RotationRequest = {
  readonly walletPub: string;
  readonly currentEncryptionPublicKey: string;
  readonly encryptionPublicKey: string;
};

/** `rotated` is false when the new key was already registered: a repetition changes nothing. */
export type Rotated = { readonly subject: Subject; readonly rotated: boolean };

/**
 * @throws PoolError `wallet_mismatch` (403), `employer_not_found`, `not_enrolled`,
 *   `encryption_key_mismatch`, `evidence_required`, `encryption_key_taken` (409)
 */
export async function rotateEncryptionKey(
  deps: { readonly db: PlatformDatabase; readonly nowMs: () => number },
  session: KeySession,
  request: RotationRequest,
): Promise<Rotated> {
  const { currentEncryptionPublicKey: current, encryptionPublicKey: next } = request;
  assertOwnWallet(session, request.walletPub);
  const { assertKey } = rulesOf(session.address);
  assertKey(current);
  assertKey(next);
  await getEmployer(deps.db, session);
  return await deps.db.transaction().execute(async (trx) => {
    // Locked: of two concurrent rotations from one key, the second finds another key registered.
    const subject = await trx
      .selectFrom('subjects')
      .selectAll()
      .where('address', '=', session.address)
      .forUpdate()
      .executeTakeFirst();
    if (subject === undefined) {
      throw new PoolError(
        'not_enrolled',
        'this wallet is not enrolled: POST /api/employers/holder/onboard first',
      );
    }
    const registered = subject.encryption_public_key;
    if (registered === next && (await hasEncryptionKey(trx, session.address, current))) {
      return { subject, rotated: false };
    }
    if (registered !== current) {
      throw new PoolError(
        'encryption_key_mismatch',
        'currentEncryptionPublicKey is not the key registered for this wallet; read it from GET /api/employers/holder/enrollment',
      );
    }
    assertEvidence(session, next);
    assertNewer(session, subject);
    await claimEncryptionKey(trx, session.address, next, deps.nowMs());
    const updated = await trx
      .updateTable('subjects')
      .set({
        encryption_public_key: next,
        evidence_message: session.evidence.message,
        evidence_signature: session.evidence.signature,
      })
      .where('address', '=', session.address)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { subject: updated, rotated: true };
  });
}

// An old session must not revert a rotation to the key that its text lists: that key may have been replaced because it
// leaked. The new text must be strictly newer: of two texts of the same instant an agent believes the one it saw first
// (protocol §2), and would not seal to the other key.
function assertNewer(session: KeySession, subject: Subject): void {
  const signedAtMs = readSignInKey(session.evidence.message).issuedAtMs;
  const registeredAtMs = readSignInKey(subject.evidence_message).issuedAtMs;
  if (!(signedAtMs > registeredAtMs)) {
    throw new PoolError(
      'evidence_required',
      'this sign-in is not newer than the one that registered the present key; sign in again',
    );
  }
}
