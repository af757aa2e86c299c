/**
 * The rows of the relayer's nonces: what was signed for each, stored before it is sent.
 *
 * @module
 */
import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { SignedTransaction } from '@pool/evm-sender';
import type { Log } from '@pool/http-server';
import { assertMaySign, lockTotal } from '../budget/relayer-total.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { purposes } from '../store/on-chain.ts';
import {
  claimSubmission,
  lockSubmission,
  type RelayerTransaction,
  type SubmissionRow,
} from '../store/submissions.ts';

export type RelayerDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long a nonce's first transaction waits to be mined before it is replaced. */
  readonly replaceAfterMs: number;
  /**
   * Called in each transaction that writes. It throws when another process leads.
   * Absent: an embedded database, whose lock lives as long as the process.
   */
  readonly assertLeader?: Term['assertLeader'];
  /** The most that the relayer may spend in 24 hours. Absent: no limit, in tests only. */
  readonly dailyWei?: bigint;
  /** Whether nothing new is sent now, because the relayer waits for a new key (reload.ts). */
  readonly isWaiting?: () => boolean;
  /** Called after each nonce and each submission of a pass, for every outcome. */
  readonly onStep?: () => void;
};

/** Open transactions of one nonce of one account, the newest first. */
export type SentNonce = readonly [RelayerTransaction, ...RelayerTransaction[]];

/** Everything that may still be mined, of each account by rising nonce. */
export async function selectOpenNonces({ db, chain }: RelayerDeps): Promise<SentNonce[]> {
  const rows = await db
    .selectFrom('relayer_transactions')
    .selectAll()
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .orderBy('sender')
    .orderBy('nonce')
    .orderBy('id', 'desc')
    .execute();
  const nonces: [RelayerTransaction, ...RelayerTransaction[]][] = [];
  for (const row of rows) {
    const last = nonces.at(-1);
    if (last?.[0].nonce === row.nonce && last[0].sender === row.sender) {
      last.push(row);
    } else {
      nonces.push([row]);
    }
  }
  return nonces;
}

/** What a signed transaction is stored as. */
export type StoredAs = {
  readonly id: number;
  readonly purpose: RelayerTransaction['purpose'];
  /** 0, unless the nonce has transactions: the number after the newest of them, as it was when the nonce was decided. */
  readonly attempt: number;
};

/**
 * Stores signed bytes, in a transaction of {@link writeAsLeader}. They may be broadcast only afterwards. It fails when the nonce got
 * another transaction meanwhile.
 */
export async function insertTransaction(
  { db, chain, nowMs }: RelayerDeps,
  { id, purpose, attempt }: StoredAs,
  signed: SignedTransaction,
): Promise<void> {
  await db
    .insertInto('relayer_transactions')
    .values({
      submission_id: id,
      chain: chain.key,
      sender: signed.sender,
      nonce: signed.nonce,
      attempt,
      tx_hash: signed.txHash,
      raw_transaction: signed.rawTransaction,
      purpose,
      state: 'open',
      created_at: new Date(nowMs()).toISOString(),
      gas_limit: Number(signed.gasLimit),
      max_fee_wei: signed.maxFeePerGas.toString(),
    })
    .execute();
}

/**
 * Stores the signed bytes that carry a submission out, unless its row forbids it: a funder may have withdrawn the batch meanwhile.
 * @param isFirst - nothing of it was sent: it must still be `accepted`, and becomes `submitted`
 * @returns false when nothing was stored; then nothing may be sent
 * @throws PoolError `gas_budget_exceeded` for a first transaction above what the relayer may spend in a day
 */
export async function insertCall(
  deps: RelayerDeps,
  { id, kind }: Pick<SubmissionRow, 'id' | 'kind'>,
  signed: SignedTransaction,
  isFirst: boolean,
  attempt = 0,
): Promise<boolean> {
  return await writeAsLeader(deps, async (trx) => {
    if (isFirst) {
      await lockTotal(trx, deps.chain.key);
    }
    const { void_signature } = await lockSubmission(trx, id);
    const may = isFirst ? await claimSubmission(trx, id) : void_signature === null;
    if (may) {
      // Never for a replacement: the transactions behind its nonce wait for it, and fee caps bound it.
      if (isFirst && deps.dailyWei !== undefined) {
        await assertMaySign(trx, deps.chain.key, id, signed, deps.dailyWei, deps.nowMs());
      }
      const purpose = purposes[kind];
      await insertTransaction({ ...deps, db: trx }, { id, purpose, attempt }, signed);
    }
    return may;
  });
}
