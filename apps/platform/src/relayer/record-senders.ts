/**
 * Names the account of each stored transaction that counts and was signed before its row had one. Nonces belong to an account, so the
 * relayer tells accounts apart by this column.
 *
 * @module
 */
import { Transaction } from 'ethers';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { windowStart } from './gas-budget.ts';

/** Must run before the relayer's first pass. */
export async function recordSenders(db: PlatformDatabase, nowMs: number): Promise<void> {
  const rows = await db
    .selectFrom('relayer_transactions')
    .select(['id', 'raw_transaction'])
    .where('sender', 'is', null)
    .where((eb) => eb.or([eb('state', '=', 'open'), eb('created_at', '>', windowStart(nowMs))]))
    .execute();
  for (const { id, raw_transaction } of rows) {
    const sender = Transaction.from(raw_transaction).from;
    await db.updateTable('relayer_transactions').set({ sender }).where('id', '=', id).execute();
  }
}
