/**
 * The relayer: sends stored settlements and follows them to a final outcome (architecture §3.6, protocol §8).
 *
 * The order that makes a crash harmless: simulate → sign → store the signed bytes → broadcast. After a
 * restart the stored bytes are broadcast again, which the chain accepts once; a settlement with open bytes
 * is never signed anew. Success is decided elsewhere, by the indexer alone: a settlement is settled when
 * its batch is in a final block, whoever's transaction put it there.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import type { Selectable } from 'kysely';
import type { FinalBlock } from '../chain/finality.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase, PlatformTables } from '../database/platform-tables.ts';
import { describeFailure, type Log } from '../log.ts';
import { parseStoredCall, type SettlementRow } from './settlement-store.ts';

export type RelayerDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
};

type OpenTransaction = Selectable<PlatformTables['relayer_transactions']>;

/** One pass over everything unfinished on the chain. Passes must not overlap: nonces are given out here. */
export async function runRelayerPass(deps: RelayerDeps): Promise<void> {
  const final = await deps.chain.fetchFinalBlock();
  for (const transaction of await selectOpenTransactions(deps)) {
    await isolate(deps, transaction.settlement_id, () => follow(deps, transaction, final));
  }
  for (const row of await selectUnfinished(deps)) {
    await isolate(deps, row.id, () =>
      row.state === 'accepted' ? send(deps, row, final) : recover(deps, row, final),
    );
  }
}

// One settlement's trouble must not hold up the others.
async function isolate(deps: RelayerDeps, id: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log.warn({ settlement: id, ...describeFailure(error) }, 'settlement step failed');
  }
}

/** Simulates, signs, stores, broadcasts. */
async function send(deps: RelayerDeps, row: SettlementRow, final: FinalBlock): Promise<void> {
  const { chain, db, log } = deps;
  if (await isNonceTaken(deps, row, final)) {
    return;
  }
  const call = parseStoredCall(row);
  const refusal = await chain.simulateFund(call);
  if (refusal !== undefined) {
    log.info({ settlement: row.id, code: refusal.code }, 'simulation refused');
    await markReverted(deps, row.id, refusal);
    return;
  }
  const signed = await chain.signFund(call, await nextNonce(deps));
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('relayer_transactions')
      .values({
        settlement_id: row.id,
        chain: chain.key,
        nonce: signed.nonce,
        tx_hash: signed.txHash,
        raw_transaction: signed.rawTransaction,
        state: 'open',
        created_at: new Date(deps.nowMs()).toISOString(),
      })
      .execute();
    await trx
      .updateTable('settlements')
      .set({ state: 'submitted' })
      .where('id', '=', row.id)
      .execute();
  });
  await chain.broadcast(signed.rawTransaction);
  log.info({ settlement: row.id, txHash: signed.txHash }, 'settlement sent');
}

// The chain's count alone would reuse the nonce of bytes that are stored and not yet mined.
async function nextNonce({ chain, db }: RelayerDeps): Promise<number> {
  const onChain = await chain.fetchNonce();
  const open = await db
    .selectFrom('relayer_transactions')
    .select((eb) => eb.fn.max('nonce').as('highest'))
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .executeTakeFirst();
  const highest = open?.highest ?? null;
  return highest === null ? onChain : Math.max(onChain, Number(highest) + 1);
}

/** A transaction that is out: broadcast again, or read its final receipt. */
async function follow(
  deps: RelayerDeps,
  transaction: OpenTransaction,
  final: FinalBlock,
): Promise<void> {
  const { chain } = deps;
  // The count is read at the final block before the receipt: a receipt missing afterwards is missing for good.
  const finalNonce = await chain.fetchNonceAt(final.number);
  const receipt = await chain.fetchReceipt(transaction.tx_hash);
  if (receipt === undefined) {
    if (finalNonce > transaction.nonce) {
      deps.log.warn({ txHash: transaction.tx_hash }, 'another transaction took the nonce');
      await setTransactionState(deps, transaction.id, 'dropped');
      return;
    }
    await chain.broadcast(transaction.raw_transaction);
    return;
  }
  if (receipt.blockNumber > final.number) {
    return;
  }
  if (receipt.succeeded) {
    await setTransactionState(deps, transaction.id, 'succeeded');
    return;
  }
  const reason = await chain.explainRevert(transaction.tx_hash);
  await deps.db.transaction().execute(async (trx) => {
    await trx
      .updateTable('relayer_transactions')
      .set({ state: 'reverted' })
      .where('id', '=', transaction.id)
      .execute();
    await trx
      .updateTable('settlements')
      .set({
        state: 'reverted',
        tx_hash: transaction.tx_hash,
        block_number: receipt.blockNumber,
        gas_used: receipt.gasUsed.toString(),
        error_code: reason.code,
        error_message: reason.message,
      })
      .where('id', '=', transaction.settlement_id)
      .where('state', '!=', 'settled')
      .execute();
  });
}

/** `submitted` with nothing of ours under way: the batch landed by itself, or everything sent was dropped. */
async function recover(deps: RelayerDeps, row: SettlementRow, final: FinalBlock): Promise<void> {
  const pending = await deps.db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('settlement_id', '=', row.id)
    .where('state', 'in', ['open', 'succeeded'])
    .executeTakeFirst();
  if (pending !== undefined || (await isNonceTaken(deps, row, final))) {
    return;
  }
  await deps.db
    .updateTable('settlements')
    .set({ state: 'accepted' })
    .where('id', '=', row.id)
    .where('state', '=', 'submitted')
    .execute();
}

/**
 * True when the batch nonce is used as far as the chain's head knows: then nothing is sent. Used for our own
 * root, the indexer settles the row once that is final; used for another root, the row is closed once final.
 */
async function isNonceTaken(
  deps: RelayerDeps,
  row: SettlementRow,
  final: FinalBlock,
): Promise<boolean> {
  const { chain } = deps;
  if ((await chain.fetchBatchRootOf(row.batch_nonce, 'latest')) === undefined) {
    return false;
  }
  const finalRoot = await chain.fetchBatchRootOf(row.batch_nonce, final.number);
  if (finalRoot !== undefined && finalRoot !== row.batch_root) {
    await markReverted(deps, row.id, {
      code: 'settled_elsewhere',
      message:
        'this batch nonce was used by another batch: the job was paid elsewhere, do not resubmit',
    });
  }
  return true;
}

async function markReverted(deps: RelayerDeps, id: number, reason: ErrorBody): Promise<void> {
  await deps.db
    .updateTable('settlements')
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
}

async function setTransactionState(
  deps: RelayerDeps,
  id: number,
  state: OpenTransaction['state'],
): Promise<void> {
  await deps.db.updateTable('relayer_transactions').set({ state }).where('id', '=', id).execute();
}

async function selectOpenTransactions({ db, chain }: RelayerDeps): Promise<OpenTransaction[]> {
  return await db
    .selectFrom('relayer_transactions')
    .selectAll()
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .orderBy('nonce')
    .execute();
}

async function selectUnfinished({ db, chain }: RelayerDeps): Promise<SettlementRow[]> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('chain', '=', chain.key)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .orderBy('id')
    .execute();
}
