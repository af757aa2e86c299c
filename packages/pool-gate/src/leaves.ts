/**
 * The assignment of leaves of the eligibility tree to wallets (decision 6). A leaf belongs to a wallet's row: a removed
 * wallet keeps its leaf until the root without it is final, and one transaction removes its row and frees its leaf. So a
 * leaf never has two wallets, in the database or in any published root.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Log } from '@pool/http-server';
import { eligibilityCapacity } from '@pool/notes';
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { GateDatabase, GateTables } from './gate-tables.ts';

// The wanted list of wallets. The publisher puts its root on chain.

type WalletRow = Selectable<GateTables['wallets']>;

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

/** Share of all leaves from which on the operator is warned. */
const nearlyFullPercent = 80;

/** First statement of each transaction that assigns or frees leaves: two must not find the same leaf. */
export async function lockLeaves(trx: GateDatabase): Promise<void> {
  await sql`lock table free_leaves in exclusive mode`.execute(trx);
}

/**
 * Takes the lowest free leaf, after {@link lockLeaves}, in the transaction that stores the wallet.
 * @throws PoolError `tree_full` (503)
 */
async function takeLowestLeaf(trx: GateDatabase, capacity: number): Promise<number> {
  const lowest = trx.selectFrom('free_leaves').select((eb) => eb.fn.min('leaf_index').as('leaf'));
  const freed = await trx
    .deleteFrom('free_leaves')
    .where('leaf_index', '=', lowest)
    .returning('leaf_index')
    .executeTakeFirst();
  const leaf = freed?.leaf_index ?? (await selectNextLeaf(trx));
  if (leaf >= capacity) {
    throw new PoolError(
      'tree_full',
      `all ${capacity} places of the eligibility tree are taken: no wallet can be enrolled until the operator has removed another one`,
    );
  }
  return leaf;
}

/**
 * Deletes wallets that are neither wanted nor published, and frees their leaves, after {@link lockLeaves}. Only
 * while no publication is open: one that was sent may still put such a wallet under a root.
 */
export async function releaseLeaves(trx: GateDatabase): Promise<void> {
  await sql`with removed as (delete from wallets where not wanted and not published returning leaf_index)
    insert into free_leaves (leaf_index) select leaf_index from removed`.execute(trx);
}

export type Leaves = ReturnType<typeof createLeaves>;

/** The leaves of one gate, and the warning when few are left. @param capacity - leaves of the tree; fewer in tests */
export function createLeaves(db: GateDatabase, log: Log, capacity: number = eligibilityCapacity) {
  let warnedPercent = 0;
  /** `used`: belong to a wallet, listed, about to be listed, or about to be removed. `nearlyFull`: see {@link nearlyFullPercent}. */
  async function count() {
    const { free } = await db
      .selectFrom('free_leaves')
      .select((eb) => eb.fn.countAll().as('free'))
      .executeTakeFirstOrThrow();
    const used = (await selectNextLeaf(db)) - Number(free);
    return { capacity, used, nearlyFull: used * 100 >= capacity * nearlyFullPercent };
  }
  return {
    capacity,
    count,
    /** Counts, and logs a warning once for each percent from {@link nearlyFullPercent} on. */
    async watch() {
      const { used, nearlyFull } = await count();
      const percent = Math.floor((used * 100) / capacity);
      if (nearlyFull && percent > warnedPercent) {
        log.warn(
          { used, capacity, percent },
          'the eligibility tree is filling up: see "The eligibility tree fills up" in docs/operations',
        );
      }
      // After it falls below the limit, it warns again when it fills again.
      warnedPercent = nearlyFull ? Math.max(warnedPercent, percent) : 0;
    },
  };
}

// All leaves below the highest one are in `wallets` or in `free_leaves`.
async function selectNextLeaf(db: GateDatabase): Promise<number> {
  const { rows } = await sql<{ highest: number | null }>`select greatest(
    (select max(leaf_index) from wallets), (select max(leaf_index) from free_leaves)) as highest`.execute(
    db,
  );
  const highest = rows[0]?.highest ?? null;
  return highest === null ? 0 : Number(highest) + 1;
}
