/**
 * The owner of an encryption key. The first wallet that registers a P owns it permanently, even after it rotates to
 * another key: the platform serves notes by P alone, and a next owner would receive the notes of the previous one (docs/decisions/0006).
 *
 * @module
 */
import { encryptionKeyResourcePrefix, PoolError, readSignInKey } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { KeySession } from '../auth/sessions.ts';

/**
 * Records the wallet as the owner of a key, or confirms that it is. Call it in the transaction that registers the key.
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

/** Whether the wallet owns the key, now or in the past. */
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
  );
}

/**
 * The session's signed text must list the key: agents verify that text as evidence.
 * @throws PoolError `evidence_required` (409) naming the resource
 */
export function assertEvidence(session: KeySession, encryptionPublicKey: string): void {
  if (readSignInKey(session.evidence.message).encryptionPublicKey !== encryptionPublicKey) {
    throw new PoolError(
      'evidence_required',
      'sign in again with a message that lists the resource ' +
        `${encryptionKeyResourcePrefix}${encryptionPublicKey}`,
    );
  }
}
