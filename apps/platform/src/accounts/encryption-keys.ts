/**
 * Whose an encryption key is. The first wallet that registers a P has it for good, after it rotated away
 * from it too: the platform serves notes by P alone, and the next owner would be served the notes of the
 * one before (docs/decisions/0005).
 *
 * @module
 */
import { encryptionKeyResourcePrefix, PoolError, parseSignInMessage } from '@pool/core';
import type { KeySession } from '../auth/sessions.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';

/**
 * Takes a key for a wallet, or finds that it has it. Call it in the transaction that registers the key.
 * @throws PoolError `encryption_key_taken` (409)
 */
export async function claimEncryptionKey(
  trx: PlatformDatabase,
  address: string,
  encryptionPublicKey: string,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('encryption_keys')
    .values({
      encryption_public_key: encryptionPublicKey,
      address,
      created_at: new Date(nowMs).toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (!(await hasEncryptionKey(trx, address, encryptionPublicKey))) {
    throw encryptionKeyTaken();
  }
}

/** Whether the key is, or once was, the wallet's. */
export async function hasEncryptionKey(
  db: PlatformDatabase,
  address: string,
  encryptionPublicKey: string,
): Promise<boolean> {
  const owned = await db
    .selectFrom('encryption_keys')
    .select('address')
    .where('encryption_public_key', '=', encryptionPublicKey)
    .where('address', '=', address)
    .executeTakeFirst();
  return owned !== undefined;
}

export function encryptionKeyTaken(): PoolError {
  return new PoolError(
    'encryption_key_taken',
    'this encryption key belongs to another wallet on this platform; use the wallet that has it, ' +
      'or a viewing key of its own for this wallet',
    { status: 409 },
  );
}

/**
 * The session's signed text must list the key: that text is the evidence agents verify.
 * @throws PoolError `evidence_required` (409) naming the resource
 */
export function assertEvidence(session: KeySession, encryptionPublicKey: string): void {
  if (parseSignInMessage(session.evidence.message).encryptionPublicKey !== encryptionPublicKey) {
    throw new PoolError(
      'evidence_required',
      'sign in again with a message that lists the resource ' +
        `${encryptionKeyResourcePrefix}${encryptionPublicKey}`,
      { status: 409 },
    );
  }
}
