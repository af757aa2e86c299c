/**
 * The rows of spends, as the relayer's nonces read and write them. Nobody withdraws a spend: it ends with its deadline, or when
 * one of its notes is spent.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import type { Selectable } from 'kysely';
import type { PlatformDatabase, SpendTable } from '../database/platform-tables.ts';
import type { IntentRows } from './intent-rows.ts';

export type SpendRow = Selectable<SpendTable>;

export const spendIntents: IntentRows = {
  purpose: 'spend',
  selectKey: async (db, id) => (await selectSpend(db, id)).key,
  lock: async (trx, id) => {
    await trx.selectFrom('spends').select('id').where('id', '=', id).forUpdate().execute();
  },
  claim: async (trx, id) => {
    const taken = await trx
      .updateTable('spends')
      .set({ state: 'submitted' })
      .where('id', '=', id)
      .where('state', '=', 'accepted')
      .returning('id')
      .executeTakeFirst();
    return taken !== undefined;
  },
  mayResend: () => Promise.resolve(true),
  canNeverLand: async (db, chain, id, final) => {
    const { deadline, first_nullifier } = await selectSpend(db, id);
    return (
      Number(deadline) < final.timestampSeconds ||
      (await chain.fetchOutRootOf(first_nullifier, final.number)) !== undefined
    );
  },
  markRefused: markSpendEnded,
  recordRevert: async (trx, id, { txHash, receipt, reason }) => {
    await trx
      .updateTable('spends')
      .set({
        state: 'reverted',
        tx_hash: txHash,
        block_number: receipt.blockNumber,
        gas_used: receipt.gasUsed.toString(),
        error_code: reason.code,
        error_message: reason.message,
      })
      .where('id', '=', id)
      .where('state', '!=', 'settled')
      .execute();
  },
};

/** Ends a spend that did not land. */
export async function markSpendEnded(
  db: PlatformDatabase,
  id: number,
  reason: ErrorBody,
): Promise<void> {
  await db
    .updateTable('spends')
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
}

async function selectSpend(db: PlatformDatabase, id: number): Promise<SpendRow> {
  return await db.selectFrom('spends').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}
