/**
 * The list of wallets as the gate wants it; the publisher makes it so on chain.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { eligibilityCapacity } from '@pool/notes';
import type { Selectable } from 'kysely';
import type { GateDatabase, GateTables } from './gate-tables.ts';

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

/** Puts a wallet on the wanted list; it keeps the position it ever had. @throws PoolError `tree_full` */
export async function wantWallet(
  db: GateDatabase,
  walletId: string,
  walletPub: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const known = await trx
      .updateTable('wallets')
      .set({ wanted: true })
      .where('wallet_id', '=', walletId)
      .returning('wallet_id')
      .executeTakeFirst();
    if (known !== undefined) {
      return;
    }
    const last = await trx
      .selectFrom('wallets')
      .select((eb) => eb.fn.max('leaf_index').as('index'))
      .executeTakeFirst();
    const highest = last?.index ?? null;
    const leafIndex = highest === null ? 0 : Number(highest) + 1;
    if (leafIndex >= eligibilityCapacity) {
      throw new PoolError('tree_full', 'the eligibility list is full', { status: 503 });
    }
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

export async function unwantWallet(db: GateDatabase, walletId: string): Promise<void> {
  await db
    .updateTable('wallets')
    .set({ wanted: false })
    .where('wallet_id', '=', walletId)
    .execute();
}
