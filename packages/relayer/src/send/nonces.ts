/**
 * The relayer's nonces that are not final yet (docs/decisions/0007). A transaction that is not mined would hold up every
 * transaction behind it, so after a while another one of the same nonce with higher fees is stored and sent. Once its
 * batch can no longer land, the replacement only frees the nonce. All of them stay on record: the one with a final
 * receipt decides, and the chain executes at most one of them.
 *
 * @module
 */

import { unknownRevertReason } from '@pool/contracts';
import { type ErrorBody, errorCodeOf } from '@pool/core';
import { type PlatformDatabase, writeAsLeader } from '@pool/database';
import {
  type FinalBlock,
  fetchNonceOutcome,
  isReplacementDue,
  type NonceReads,
  type Receipt,
  type SignedTransaction,
  sendAgain,
  signWithinCap,
} from '@pool/evm-sender';
import { describeFailure } from '@pool/http-server';
import type { GasDecision, PoolCall, PoolChain } from '../chain/pool-chain.ts';
import { canNeverLand, describeWithdrawal } from '../store/on-chain.ts';
import {
  isCall,
  markRefused,
  type RelayerTransaction,
  recordRevert,
  type SubmissionRow,
} from '../store/submissions.ts';
import { insertCall, insertTransaction, type RelayerDeps, type SentNonce } from './sent-nonces.ts';

/** Follows a nonce in use: reads its final receipt, sends its bytes again, or replaces them. */
export async function followNonce(
  deps: RelayerDeps,
  sent: SentNonce,
  row: SubmissionRow,
  final: FinalBlock,
  reads: NonceReads,
): Promise<void> {
  const { chain, log } = deps;
  const { nonce, sender } = sent[0];
  const txHashes = sent.map(({ tx_hash }) => tx_hash);
  const outcome = await fetchNonceOutcome(reads, { nonce, txHashes }, final);
  switch (outcome.kind) {
    case 'mined':
      return;
    case 'final': {
      const mined = sent.find(({ tx_hash }) => tx_hash === outcome.txHash) ?? sent[0];
      await recordOutcome(deps, sent, mined, outcome.receipt);
      return;
    }
    case 'replaced':
      log.warn({ nonce, txHash: sent[0].tx_hash }, 'another transaction took the nonce');
      await writeAsLeader(deps, (trx) => setState(trx, sent, 'dropped'));
      return;
    case 'pending':
      if (sender === chain.relayerAddress) {
        await followPending(deps, sent, row, final);
      } else {
        await followOldAccount(deps, sent, row, final);
      }
  }
}

/**
 * The nonce of an earlier account, whose key this process does not have. Its bytes can be sent again, and not be replaced or cancelled.
 * They are forgotten once a final block shows that their submission can never land; until then it is not sent from the new account.
 */
async function followOldAccount(
  deps: RelayerDeps,
  sent: SentNonce,
  row: SubmissionRow,
  final: FinalBlock,
): Promise<void> {
  const [newest] = sent;
  const { nonce, sender } = newest;
  if (await canNeverLand(deps.chain, row, final)) {
    deps.log.warn({ nonce, sender }, 'a transaction of an earlier account can no longer land');
    await writeAsLeader(deps, (trx) => setState(trx, sent, 'dropped'));
    return;
  }
  // Nothing of a withdrawn batch is sent again.
  if (newest.purpose !== 'fund' || row.void_signature === null) {
    await deps.chain.broadcast(newest.raw_transaction);
  }
}

/** Sends the bytes of a nonce again, replaces them, or gives the nonce to a withdrawal or to a cancel. */
async function followPending(
  deps: RelayerDeps,
  sent: SentNonce,
  row: SubmissionRow,
  final: FinalBlock,
): Promise<void> {
  const { chain, log, nowMs, replaceAfterMs } = deps;
  const [newest] = sent;
  const { nonce, raw_transaction: rawTransaction } = newest;
  const signedAtMs = Date.parse(newest.created_at);
  const withdrawal = newest.purpose === 'fund' ? describeWithdrawal(row) : undefined;
  if (withdrawal !== undefined && !(await canNeverLand(chain, row, final))) {
    const isDue = isReplacementDue(sent.length, signedAtMs, nowMs(), replaceAfterMs);
    await withdrawAtNonce(deps, newest, withdrawal, isDue);
    return;
  }
  const excess = newest.purpose === 'cancel' ? undefined : await chain.findExcess(rawTransaction);
  if (excess !== undefined) {
    await cancelRefused(deps, newest, excess);
    return;
  }
  let isCancel = newest.purpose === 'cancel';
  await sendAgain(
    { nonce, rawTransaction, signedAtMs, count: sent.length },
    {
      ...{ nowMs, replaceAfterMs, fetchNonce: chain.fetchNonce },
      broadcast: (raw) =>
        raw === rawTransaction ? broadcastStored(deps, newest) : chain.broadcast(raw),
      async sign() {
        isCancel ||= await canNeverLand(chain, row, final);
        return await chain.signReplacement(rawTransaction, isCancel ? 'cancel' : 'same-call');
      },
      async store(signed) {
        if (isCall(newest) && !isCancel) {
          if (!(await insertCall(deps, row, signed, false, newest.attempt + 1))) {
            return false;
          }
        } else {
          await insertReplacement(deps, newest, isCancel ? 'cancel' : newest.purpose, signed);
        }
        const { txHash } = signed;
        log.warn({ nonce, isCancel, txHash }, 'not mined for long: replacing at higher fees');
        return true;
      },
    },
  );
}

/** Stores another transaction for the nonce of the newest. */
async function insertReplacement(
  deps: RelayerDeps,
  { submission_id: id, attempt }: RelayerTransaction,
  purpose: RelayerTransaction['purpose'],
  signed: SignedTransaction,
): Promise<void> {
  await writeAsLeader(deps, (trx) =>
    insertTransaction({ ...deps, db: trx }, { id, purpose, attempt: attempt + 1 }, signed),
  );
}

/** Sends stored bytes again. A cancel takes the nonce of bytes that the node will never accept. */
async function broadcastStored(deps: RelayerDeps, newest: RelayerTransaction): Promise<void> {
  try {
    await deps.chain.broadcast(newest.raw_transaction);
  } catch (error) {
    if (errorCodeOf(error) !== 'transaction_rejected' || newest.purpose === 'cancel') {
      throw error;
    }
    deps.log.warn({ nonce: newest.nonce, ...describeFailure(error) }, 'never accepted');
    await cancelRefused(deps, newest, {
      code: 'transaction_rejected',
      message: 'the node of this chain will never accept the transaction; nothing was paid',
    });
  }
}

/**
 * Frees the nonce of bytes that must not or cannot be mined, and ends their submission with the reason. A withdrawn
 * settlement stays unfinished: its authorisation must still be withdrawn. If another node mined the bytes, the indexer
 * finds the batch.
 */
async function cancelRefused(
  deps: RelayerDeps,
  newest: RelayerTransaction,
  reason: ErrorBody,
): Promise<void> {
  const { chain, log } = deps;
  const { nonce, submission_id: id } = newest;
  if ((await chain.fetchNonce()) > nonce) {
    return;
  }
  const signed = await signCancel(chain, newest);
  await writeAsLeader(deps, async (trx) => {
    const attempt = newest.attempt + 1;
    await insertTransaction({ ...deps, db: trx }, { id, purpose: 'cancel', attempt }, signed);
    if (isCall(newest)) {
      await markRefused(trx, id, reason);
    }
  });
  log.warn({ nonce, code: reason.code, txHash: signed.txHash }, 'never accepted: nonce cancelled');
  await chain.broadcast(signed.rawTransaction);
}

// A node without the old bytes accepts a cancel at any fee; a node that has them requires higher fees.
async function signCancel(
  chain: PoolChain,
  newest: RelayerTransaction,
): Promise<SignedTransaction> {
  return (
    (await signWithinCap(() => chain.signReplacement(newest.raw_transaction, 'cancel'))) ??
    (await chain.signCancel(newest.nonce))
  );
}

/** Gives the nonce of a sent `fund()` to the withdrawal: the chain executes one of the two. */
async function withdrawAtNonce(
  deps: RelayerDeps,
  newest: RelayerTransaction,
  withdrawal: PoolCall,
  isDue: boolean,
): Promise<void> {
  const { chain, log } = deps;
  const { nonce } = newest;
  // Mined already: its final receipt decides.
  if ((await chain.fetchNonce()) > nonce) {
    return;
  }
  const gas = await decideWithdrawal(deps, withdrawal);
  if (gas === undefined) {
    // The batch landed through another transaction, or the funder's contract no longer accepts the signature. Nothing of a
    // withdrawn batch is sent again, so the nonce is freed for the transactions behind it.
    if (isDue && (await chain.fetchNonce()) === nonce) {
      const signed = await signCancel(chain, newest);
      await insertReplacement(deps, newest, 'cancel', signed);
      log.warn({ nonce, txHash: signed.txHash }, 'withdrawal refused: nonce cancelled');
      await chain.broadcast(signed.rawTransaction);
    }
    return;
  }
  // Where the cap forbids higher fees, it is sent at what the cap allows: a node that has the fund() refuses it, a node that
  // lost the fund() accepts it, and the nonce does not stay empty.
  const signed =
    (await signWithinCap(() => chain.signReplacement(newest.raw_transaction, withdrawal))) ??
    (await chain.sign(withdrawal, nonce, gas));
  await insertReplacement(deps, newest, 'void', signed);
  log.info({ nonce, txHash: signed.txHash }, 'withdrawal sent');
  await chain.broadcast(signed.rawTransaction);
}

/** The gas of a call that the contract accepts now, or why nothing is sent. */
export async function decideCall(
  chain: Pick<PoolChain, 'simulate' | 'decideGas'>,
  call: PoolCall,
): Promise<GasDecision> {
  const refusal = await chain.simulate(call);
  return refusal === undefined ? await chain.decideGas(call) : { kind: 'refused', reason: refusal };
}

/** The gas of a withdrawal that the contract accepts now. Undefined: it does not, or the node does not answer. */
async function decideWithdrawal(
  { chain, log }: RelayerDeps,
  withdrawal: PoolCall,
): Promise<bigint | undefined> {
  try {
    const decision = await decideCall(chain, withdrawal);
    return decision.kind === 'limit' ? decision.gasLimit : undefined;
  } catch (error) {
    log.warn({ ...describeFailure(error) }, 'a withdrawal cannot be simulated');
    return undefined;
  }
}

/** Records the final receipt of one of a nonce's transactions. The others can never be mined. */
async function recordOutcome(
  deps: RelayerDeps,
  sent: SentNonce,
  mined: RelayerTransaction,
  receipt: Receipt,
): Promise<void> {
  const state = decideState(mined, receipt);
  // A withdrawal that reverts came too late: the outcome of the settlement shows it.
  const isRevert = state === 'reverted' && isCall(mined);
  const seen = isRevert ? await readRevertReason(deps, mined.tx_hash) : undefined;
  // The submission is tried again once the account has the role.
  const reason = seen !== undefined && (await isRoleMissing(deps.chain, seen)) ? undefined : seen;
  await writeAsLeader(deps, async (trx) => {
    await setState(trx, sent, 'dropped');
    await setState(trx, [mined], state);
    await trx
      .updateTable('relayer_transactions')
      .set({ gas_used: Number(receipt.gasUsed) })
      .where('id', '=', mined.id)
      .execute();
    if (reason !== undefined) {
      await recordRevert(trx, mined.submission_id, { txHash: mined.tx_hash, receipt, reason });
    }
  });
}

/**
 * Whether a call failed because the relayer's account lacks its role now: that is an operator's mistake, which must not end what was
 * accepted. The pool is asked, since the contract of a funder can revert with the same error.
 */
export async function isRoleMissing(chain: PoolChain, { code }: ErrorBody): Promise<boolean> {
  return code === 'access-control-unauthorized-account' && !(await chain.hasRelayerRole());
}

// A settlement whose nonce was freed is tried again, and the simulation decides.
function decideState(
  { purpose }: RelayerTransaction,
  { succeeded }: Receipt,
): RelayerTransaction['state'] {
  if (purpose === 'cancel') {
    return 'cancelled';
  }
  return succeeded ? 'succeeded' : 'reverted';
}

// Nodes prune the state of old blocks. The revert must be recorded even without its reason.
async function readRevertReason({ chain, log }: RelayerDeps, txHash: string): Promise<ErrorBody> {
  try {
    return await chain.fetchRevertReason(txHash);
  } catch (error) {
    log.warn({ txHash, ...describeFailure(error) }, 'the reason of a revert cannot be read');
    return unknownRevertReason;
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
