/**
 * What the relayer's transactions are for: a settlement of an employer, or a spend of a holder. Each kind has a table. Nonces,
 * replacements and outcomes are the same for both, and so are the writes here. Nobody withdraws a spend: it ends with its
 * deadline, or when one of its notes is spent.
 *
 * @module
 */

import { type ErrorBody, parseHex32 } from '@pool/core';
import type { PlatformDatabase, PlatformTables, SettlementTable, SpendTable } from '@pool/database';
import type { FinalBlock, Receipt } from '@pool/evm-sender';
import type { Selectable } from 'kysely';
import type { PoolChain } from '../chain/pool-chain.ts';

export type IntentKind = 'settlement' | 'spend';
export type Intent = { readonly kind: IntentKind; readonly id: number };

export type SettlementRow = Selectable<SettlementTable>;
export type SpendRow = Selectable<SpendTable>;
export type RelayerTransaction = Selectable<PlatformTables['relayer_transactions']>;

/** A final receipt of a reverted transaction, and the reason. */
type RevertFacts = {
  readonly txHash: string;
  readonly receipt: Receipt;
  readonly reason: ErrorBody;
};

/** Reserves gas for a row, in the transaction that stores it. @throws PoolError when none is left */
export type ReserveGas = (trx: PlatformDatabase) => Promise<number>;

/** The table of each kind, its column in `relayer_transactions`, and the purpose of the transaction that carries it out. */
export const intentKinds = {
  settlement: { table: 'settlements', column: 'settlement_id', purpose: 'fund' },
  spend: { table: 'spends', column: 'spend_id', purpose: 'spend' },
} as const;

/** The facts of a reverted transaction do not belong to the next attempt; relayer_transactions keeps them. */
export const noOutcome = {
  tx_hash: null,
  block_number: null,
  gas_used: null,
  error_code: null,
  error_message: null,
} as const;

/** What a stored transaction is for. */
export function intentOf({ settlement_id, spend_id }: RelayerTransaction): Intent {
  // The table requires one of the two.
  return settlement_id === null
    ? { kind: 'spend', id: spend_id ?? 0 }
    : { kind: 'settlement', id: settlement_id };
}

/** False: the row has ended, or gave its key to another one. */
export function isUnfinished({ state, superseded_at }: SettlementRow | SpendRow): boolean {
  return superseded_at === null && (state === 'accepted' || state === 'submitted');
}

/** True for the transaction that carries the intent out; false for a withdrawal or a freed nonce. */
export function isCall({ purpose }: RelayerTransaction): boolean {
  return purpose === 'fund' || purpose === 'spend';
}

/** Idempotency-Key, for the log. */
export async function selectKey(db: PlatformDatabase, { kind, id }: Intent): Promise<string> {
  const { key } = await db
    .selectFrom(intentKinds[kind].table)
    .select('key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return key;
}

/**
 * In the transaction that stores signed bytes: nobody else changes the row meanwhile. It waits for a withdrawal that is being
 * stored. A later one finds the bytes.
 */
export async function lockIntent(trx: PlatformDatabase, { kind, id }: Intent): Promise<void> {
  await trx
    .selectFrom(intentKinds[kind].table)
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .execute();
}

/** For the first bytes: `accepted` becomes `submitted`. False: nothing may be sent. */
export async function claimIntent(trx: PlatformDatabase, { kind, id }: Intent): Promise<boolean> {
  const taken = await trx
    .updateTable(intentKinds[kind].table)
    .set({ state: 'submitted' })
    .where('id', '=', id)
    .where('state', '=', 'accepted')
    .$if(kind === 'settlement', (query) => query.where('void_signature', 'is', null))
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Whether later bytes may be sent: its funder has not withdrawn it. */
export async function mayResend(trx: PlatformDatabase, { kind, id }: Intent): Promise<boolean> {
  return kind === 'spend' || (await selectSettlement(trx, id)).void_signature === null;
}

/** True when a final block shows that it never lands, or that it has landed. */
export async function canIntentNeverLand(
  db: PlatformDatabase,
  chain: PoolChain,
  { kind, id }: Intent,
  final: FinalBlock,
): Promise<boolean> {
  if (kind === 'spend') {
    const { deadline, first_nullifier } = await selectSpend(db, id);
    return (
      Number(deadline) < final.timestampSeconds ||
      (await chain.fetchOutRootOf(first_nullifier, final.number)) !== undefined
    );
  }
  const { deadline, funder, batch_nonce } = await selectSettlement(db, id);
  return (
    Number(deadline) < final.timestampSeconds ||
    (await chain.fetchIsVoided(funder, batch_nonce, final.number)) ||
    (await chain.fetchBatchRootOf(funder, batch_nonce, final.number)) !== undefined
  );
}

/** It can never land. */
export async function markEnded(
  db: PlatformDatabase,
  intent: Intent,
  reason: ErrorBody,
): Promise<void> {
  await updateReverted(db, intent, reason).execute();
}

/** Refused before anything could land. A settlement that its funder withdrew stays unfinished: its withdrawal must be sent. */
export async function markRefused(
  db: PlatformDatabase,
  intent: Intent,
  reason: ErrorBody,
): Promise<void> {
  await updateReverted(db, intent, reason)
    .$if(intent.kind === 'settlement', (query) => query.where('void_signature', 'is', null))
    .execute();
}

/** Ends it with a reverted transaction, unless its authorisation is still valid and must still be withdrawn. */
export async function recordRevert(
  trx: PlatformDatabase,
  intent: Intent,
  { txHash, receipt, reason }: RevertFacts,
): Promise<void> {
  await updateReverted(trx, intent, reason)
    .set({
      tx_hash: txHash,
      block_number: receipt.blockNumber,
      gas_used: receipt.gasUsed.toString(),
    })
    .$if(intent.kind === 'settlement', (query) => query.where('void_signature', 'is', null))
    .execute();
}

function updateReverted(db: PlatformDatabase, { kind, id }: Intent, reason: ErrorBody) {
  return db
    .updateTable(intentKinds[kind].table)
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled');
}

/** The outcome of a row in its wire format. */
export function describeOutcome(row: SettlementRow | SpendRow) {
  return {
    ...(row.tx_hash === null ? {} : { txHash: parseHex32(row.tx_hash) }),
    ...(row.block_number === null ? {} : { blockNumber: row.block_number }),
    ...(row.gas_used === null ? {} : { gasUsed: row.gas_used }),
    ...(row.error_code === null || row.state !== 'reverted'
      ? {}
      : { error: { code: row.error_code, message: row.error_message ?? '' } }),
  };
}

/** The row of a dead attempt gives its key to the next one. */
export async function supersede(
  trx: PlatformDatabase,
  { kind, id }: Intent,
  now: string,
): Promise<void> {
  await trx
    .updateTable(intentKinds[kind].table)
    .set({ superseded_at: now })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
}

export async function selectSettlement(db: PlatformDatabase, id: number): Promise<SettlementRow> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export async function selectSpend(db: PlatformDatabase, id: number): Promise<SpendRow> {
  return await db.selectFrom('spends').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}
