/**
 * The relayer's nonces that are not final yet (docs/decisions/0007). A transaction that nobody mines would hold
 * up everything behind it, so after a while another one of the same nonce and higher fees is stored and sent;
 * once its batch can no longer land, one that only frees the nonce. All of them stay on record: whichever gets
 * a final receipt decides, and the chain takes one of them at most.
 *
 * @module
 */
import { type ErrorBody, errorCodeOf } from '@pool/core';
import type { Selectable } from 'kysely';
import type { FinalBlock } from '../chain/finality.ts';
import type { PoolChain, Receipt, VoidCall } from '../chain/pool-chain.ts';
import { isReplacementDue } from '../chain/replacement.ts';
import type { SignedTransaction } from '../chain/transaction-signer.ts';
import type { PlatformDatabase, PlatformTables } from '../database/platform-tables.ts';
import type { Ownership } from '../database/process-lock.ts';
import { describeFailure, type Log } from '../log.ts';
import { describeWithdrawal } from './settlement-store.ts';

export type RelayerDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long a nonce's first transaction waits to be mined before another one takes its place. */
  readonly replaceAfterMs: number;
  /**
   * Called in each transaction that stores signed bytes; it throws when another process owns the database by now.
   * Absent: an embedded database, whose lock lives as long as the process.
   */
  readonly assertOwner?: Ownership['assertOwner'];
  /** After each nonce and each settlement of a pass, whatever became of it. */
  readonly onStep?: () => void;
};

type RelayerTransaction = Selectable<PlatformTables['relayer_transactions']>;

/** Open transactions of one nonce, the newest first. */
export type SentNonce = readonly [RelayerTransaction, ...RelayerTransaction[]];

/** Everything that may still be mined, by rising nonce. */
export async function selectOpenNonces({ db, chain }: RelayerDeps): Promise<SentNonce[]> {
  const rows = await db
    .selectFrom('relayer_transactions')
    .selectAll()
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .orderBy('nonce')
    .orderBy('id', 'desc')
    .execute();
  const nonces: [RelayerTransaction, ...RelayerTransaction[]][] = [];
  for (const row of rows) {
    const last = nonces.at(-1);
    if (last?.[0].nonce === row.nonce) {
      last.push(row);
    } else {
      nonces.push([row]);
    }
  }
  return nonces;
}

/** Stores signed bytes; they may be broadcast afterwards, and not before. */
export async function insertTransaction(
  deps: RelayerDeps,
  settlementId: number,
  purpose: RelayerTransaction['purpose'],
  signed: SignedTransaction,
): Promise<void> {
  const { db, chain, nowMs } = deps;
  if (!db.isTransaction) {
    await db
      .transaction()
      .execute((trx) => insertTransaction({ ...deps, db: trx }, settlementId, purpose, signed));
    return;
  }
  await deps.assertOwner?.(db);
  await db
    .insertInto('relayer_transactions')
    .values({
      settlement_id: settlementId,
      chain: chain.key,
      nonce: signed.nonce,
      tx_hash: signed.txHash,
      raw_transaction: signed.rawTransaction,
      purpose,
      state: 'open',
      created_at: new Date(nowMs()).toISOString(),
    })
    .execute();
}

/**
 * Stores the signed bytes of a `fund()`, unless its funder withdrew the batch meanwhile.
 * @returns false when nothing was stored, and nothing may be sent
 */
export async function insertFund(
  deps: RelayerDeps,
  settlementId: number,
  signed: SignedTransaction,
): Promise<boolean> {
  return await deps.db.transaction().execute(async (trx) => {
    // A withdrawal that is being stored comes first; one that comes later finds these bytes.
    await trx
      .selectFrom('settlements')
      .select('id')
      .where('id', '=', settlementId)
      .forUpdate()
      .execute();
    if ((await findWithdrawal(trx, settlementId)) !== undefined) {
      return false;
    }
    await insertTransaction({ ...deps, db: trx }, settlementId, 'fund', signed);
    await trx
      .updateTable('settlements')
      .set({ state: 'submitted' })
      .where('id', '=', settlementId)
      .where('state', '=', 'accepted')
      .execute();
    return true;
  });
}

/** The withdrawal of a settlement, when its funder signed one. */
async function findWithdrawal(
  db: PlatformDatabase,
  settlementId: number,
): Promise<VoidCall | undefined> {
  const row = await db
    .selectFrom('settlements')
    .selectAll()
    .where('id', '=', settlementId)
    .executeTakeFirstOrThrow();
  return describeWithdrawal(row);
}

/** A nonce that is out: send it again, send something better, or read its final receipt. */
export async function followNonce(
  deps: RelayerDeps,
  sent: SentNonce,
  final: FinalBlock,
): Promise<void> {
  const { chain, log } = deps;
  const { nonce } = sent[0];
  // The count is read at the final block before the receipts: one missing afterwards is missing for good.
  const finalNonce = await chain.fetchNonceAt(final.number);
  for (const transaction of sent) {
    const receipt = await chain.fetchReceipt(transaction.tx_hash);
    if (receipt !== undefined) {
      if (receipt.blockNumber <= final.number) {
        await recordOutcome(deps, sent, transaction, receipt);
      }
      return;
    }
  }
  if (finalNonce > nonce) {
    log.warn({ nonce, txHash: sent[0].tx_hash }, 'another transaction took the nonce');
    await setState(deps.db, sent, 'dropped');
    return;
  }
  await sendAgain(deps, sent, final);
}

async function sendAgain(deps: RelayerDeps, sent: SentNonce, final: FinalBlock): Promise<void> {
  const { chain, log, nowMs, replaceAfterMs } = deps;
  const [newest] = sent;
  if (newest.purpose === 'fund') {
    const withdrawal = await findWithdrawal(deps.db, newest.settlement_id);
    if (withdrawal !== undefined && !(await canNeverLand(deps, newest, final))) {
      await withdrawAtNonce(deps, newest, withdrawal);
      return;
    }
  }
  const isDue = isReplacementDue(sent.length, newest.created_at, nowMs(), replaceAfterMs);
  // What waits behind another nonce is not to blame, and what the head has mined needs no replacing.
  if (!isDue || (await chain.fetchNonce()) !== newest.nonce) {
    await chain.broadcast(newest.raw_transaction);
    return;
  }
  const isCancel = newest.purpose === 'cancel' || (await canNeverLand(deps, newest, final));
  const signed = await signWithinCap(chain, newest, isCancel ? 'cancel' : 'same-call');
  if (signed === undefined) {
    // The cap forbids a better offer: what is out may still be mined when the chain asks for less.
    await chain.broadcast(newest.raw_transaction);
    return;
  }
  const purpose = isCancel ? 'cancel' : newest.purpose;
  if (purpose === 'fund') {
    if (!(await insertFund(deps, newest.settlement_id, signed))) {
      return;
    }
  } else {
    await insertTransaction(deps, newest.settlement_id, purpose, signed);
  }
  log.warn(
    { nonce: newest.nonce, isCancel, txHash: signed.txHash },
    'not mined for long: replacing at higher fees',
  );
  await chain.broadcast(signed.rawTransaction);
}

/** The withdrawal takes the nonce of the `fund()` that is out: the chain takes one of the two. */
async function withdrawAtNonce(
  deps: RelayerDeps,
  newest: RelayerTransaction,
  withdrawal: VoidCall,
): Promise<void> {
  const { chain, log } = deps;
  const { nonce, settlement_id } = newest;
  // Mined already, or the batch landed through another transaction: what is final decides.
  if ((await chain.fetchNonce()) > nonce || (await chain.simulateVoid(withdrawal)) !== undefined) {
    return;
  }
  // Without a better offer it goes out at what the cap allows: a node that still has the fund() refuses it, one that lost
  // the fund() takes it, and the nonce does not stay empty for everybody behind it.
  const signed =
    (await signWithinCap(chain, newest, withdrawal)) ?? (await chain.signVoid(withdrawal, nonce));
  await insertTransaction(deps, settlement_id, 'void', signed);
  log.info({ nonce, txHash: signed.txHash }, 'withdrawal sent');
  await chain.broadcast(signed.rawTransaction);
}

async function signWithinCap(
  chain: PoolChain,
  { raw_transaction }: RelayerTransaction,
  purpose: 'same-call' | 'cancel' | VoidCall,
): Promise<SignedTransaction | undefined> {
  try {
    return await chain.signReplacement(raw_transaction, purpose);
  } catch (error) {
    if (errorCodeOf(error) === 'fee_cap_reached') {
      return undefined;
    }
    throw error;
  }
}

/** True when no later block can take the batch: its deadline is over, it was withdrawn, or its nonce is used. */
async function canNeverLand(
  { db, chain }: RelayerDeps,
  { settlement_id }: RelayerTransaction,
  final: FinalBlock,
): Promise<boolean> {
  const row = await db
    .selectFrom('settlements')
    .select(['deadline', 'funder', 'batch_nonce'])
    .where('id', '=', settlement_id)
    .executeTakeFirstOrThrow();
  return (
    Number(row.deadline) < final.timestamp ||
    (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number)) ||
    (await chain.fetchBatchRootOf(row.funder, row.batch_nonce, final.number)) !== undefined
  );
}

/** One of a nonce's transactions has a final receipt: it decides, and the others never will. */
async function recordOutcome(
  deps: RelayerDeps,
  sent: SentNonce,
  mined: RelayerTransaction,
  receipt: Receipt,
): Promise<void> {
  const state = decideState(mined, receipt);
  // A withdrawal that reverts came too late, which the settlement's own outcome tells.
  const isRevert = state === 'reverted' && mined.purpose === 'fund';
  const reason = isRevert ? await explainRevert(deps, mined.tx_hash) : undefined;
  await deps.db.transaction().execute(async (trx) => {
    await setState(trx, sent, 'dropped');
    await setState(trx, [mined], state);
    if (reason !== undefined) {
      await trx
        .updateTable('settlements')
        .set({
          state: 'reverted',
          tx_hash: mined.tx_hash,
          block_number: receipt.blockNumber,
          gas_used: receipt.gasUsed.toString(),
          error_code: reason.code,
          error_message: reason.message,
        })
        .where('id', '=', mined.settlement_id)
        .where('state', '!=', 'settled')
        // Its authorisation lives on, and is still to be withdrawn.
        .where('void_signature', 'is', null)
        .execute();
    }
  });
}

// A settlement whose nonce was freed is taken up again, and the simulation tells what became of it.
function decideState(
  { purpose }: RelayerTransaction,
  { succeeded }: Receipt,
): RelayerTransaction['state'] {
  if (purpose === 'cancel') {
    return 'cancelled';
  }
  return succeeded ? 'succeeded' : 'reverted';
}

// Nodes forget the state of old blocks. That it reverted is a fact all the same, and must be recorded.
async function explainRevert({ chain, log }: RelayerDeps, txHash: string): Promise<ErrorBody> {
  try {
    return await chain.explainRevert(txHash);
  } catch (error) {
    log.warn({ txHash, ...describeFailure(error) }, 'the reason of a revert cannot be read');
    return { code: 'reverted', message: 'the transaction reverted; its reason is not available' };
  }
}

async function setState(
  db: PlatformDatabase,
  transactions: readonly RelayerTransaction[],
  state: RelayerTransaction['state'],
): Promise<void> {
  await db
    .updateTable('relayer_transactions')
    .set({ state })
    .where(
      'id',
      'in',
      transactions.map(({ id }) => id),
    )
    .execute();
}
