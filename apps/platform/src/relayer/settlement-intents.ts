/**
 * The rows of settlements, as the relayer's nonces read and write them.
 *
 * @module
 */
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { IntentRows } from './intent-rows.ts';
import { describeWithdrawal, markRefused, type SettlementRow } from './settlement-store.ts';

export const settlementIntents: IntentRows = {
  purpose: 'fund',
  selectKey: async (db, id) => (await selectSettlement(db, id)).key,
  // Waits for a withdrawal that is being stored. A later one finds the bytes.
  lock: async (trx, id) => {
    await trx.selectFrom('settlements').select('id').where('id', '=', id).forUpdate().execute();
  },
  claim: async (trx, id) => {
    const taken = await trx
      .updateTable('settlements')
      .set({ state: 'submitted' })
      .where('id', '=', id)
      .where('state', '=', 'accepted')
      .where('void_signature', 'is', null)
      .returning('id')
      .executeTakeFirst();
    return taken !== undefined;
  },
  mayResend: async (trx, id) => describeWithdrawal(await selectSettlement(trx, id)) === undefined,
  canNeverLand: async (db, chain, id, final) => {
    const { deadline, funder, batch_nonce } = await selectSettlement(db, id);
    return (
      Number(deadline) < final.timestampSeconds ||
      (await chain.fetchIsVoided(funder, batch_nonce, final.number)) ||
      (await chain.fetchBatchRootOf(funder, batch_nonce, final.number)) !== undefined
    );
  },
  markRefused,
  recordRevert: async (trx, id, { txHash, receipt, reason }) => {
    await trx
      .updateTable('settlements')
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
      // Its authorisation is still valid and must still be withdrawn.
      .where('void_signature', 'is', null)
      .execute();
  },
};

export async function selectSettlement(db: PlatformDatabase, id: number): Promise<SettlementRow> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
