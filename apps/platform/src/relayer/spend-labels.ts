/**
 * The labels of a spend's notes: for whom each is sealed. The sealed notes are bound by the hash that the contract checks, the labels
 * by nothing. So the platform serves notes by their labels only while nobody else may have written them, and to everybody
 * otherwise: whoever has the key opens them (docs/decisions/0056, §6 and §7).
 *
 * @module
 */
import type { SpendRequest } from '@pool/api';
import type { PlatformDatabase } from '../database/platform-tables.ts';

/**
 * Two accounts posted one spend with the same notes. Unless their labels are equal, the notes are served to everybody from now on.
 * The first labels stay.
 */
export async function disputeLabels(
  db: PlatformDatabase,
  id: number,
  sealedNotes: SpendRequest['sealedNotes'],
  nowMs: number,
): Promise<void> {
  const stored = await db
    .selectFrom('spend_notes')
    .select(['slot', 'encryption_public_key'])
    .where('spend_id', '=', id)
    .execute();
  const isSame = stored.every(
    ({ slot, encryption_public_key }) =>
      sealedNotes[slot]?.encryptionPublicKey === encryption_public_key,
  );
  if (isSame) {
    return;
  }
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('spends')
      .set({ labels_disputed_at: new Date(nowMs).toISOString() })
      .where('id', '=', id)
      .execute();
    await trx.updateTable('batches').set({ open_notes: true }).where('spend_id', '=', id).execute();
  });
}

/**
 * Whether the labels of a landed spend may be another's. Before it is sent, only its holder knows a spend. So the labels are the
 * holder's if this platform's relayer sent the transaction that landed, and nobody posted others.
 */
export async function areLabelsOpen(
  db: PlatformDatabase,
  spendId: number,
  txHash: string,
): Promise<boolean> {
  const { labels_disputed_at } = await db
    .selectFrom('spends')
    .select('labels_disputed_at')
    .where('id', '=', spendId)
    // A dispute that is stored at this moment must not be missed.
    .forUpdate()
    .executeTakeFirstOrThrow();
  const ours = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('spend_id', '=', spendId)
    .where('tx_hash', '=', txHash)
    .executeTakeFirst();
  return labels_disputed_at !== null || ours === undefined;
}
