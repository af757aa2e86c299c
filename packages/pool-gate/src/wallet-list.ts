/**
 * The wanted list of wallets. The publisher puts its root on chain.
 *
 * @module
 */
import type { Selectable } from 'kysely';
import type { GateDatabase, GateTables } from './gate-tables.ts';
import { lockLeaves, takeLowestLeaf } from './leaves.ts';

export type WalletRow = Selectable<GateTables['wallets']>;

export async function findWallet(
  db: GateDatabase,
  walletId: string,
): Promise<WalletRow | undefined> {
  return await db
    .selectFrom('wallets')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .executeTakeFirst();
}

/**
 * Puts a wallet on the wanted list, at the lowest free leaf unless it has one.
 * @throws PoolError `tree_full` (503)
 */
export async function wantWallet(
  db: GateDatabase,
  walletId: string,
  walletPub: string,
  capacity: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockLeaves(trx);
    const known = await trx
      .updateTable('wallets')
      .set({ wanted: true })
      .where('wallet_id', '=', walletId)
      .returning('wallet_id')
      .executeTakeFirst();
    if (known !== undefined) {
      return;
    }
    const leafIndex = await takeLowestLeaf(trx, capacity);
    await trx
      .insertInto('wallets')
      .values({
        wallet_id: walletId,
        wallet_pub: walletPub,
        leaf_index: leafIndex,
        wanted: true,
        published: false,
        whitelisted_at: null,
      })
      .execute();
  });
}

/** Takes a wallet off the wanted list. It keeps its leaf until the publisher has freed it. */
export async function unwantWallet(db: GateDatabase, walletId: string): Promise<void> {
  await db
    .updateTable('wallets')
    .set({ wanted: false })
    .where('wallet_id', '=', walletId)
    .execute();
}
