/**
 * Release, watch, resend or withdraw: from a signed authorisation to an outcome that the chain has finalised (protocol
 * §8, "Late landing"). Only {@link decideSettlement} can end the job here. A released authorisation may land until it is
 * dead, independently of the answers of platform, gate and relayer.
 *
 * A refusal of platform and relayer decides nothing about the job. It is shown while the job waits, it lets other batches of the funder go
 * first, and it explains an end without a payment.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import { type ErrorBody, isPoolError } from '@pool/core';
import { waitAtMost } from '@pool/evm-sender';
import { createPacer, rethrowInterruption, toErrorBody } from '@pool/idempotency/engine';
import type { NonceState } from '../../ports.ts';
import type { DatedBatch } from '../batch/batch.ts';
import { decideSettlement, type Outcome } from '../batch/decide-settlement.ts';
import {
  findForeign,
  pickForeign,
  recordForeign,
  settledElsewhere,
} from '../batch/foreign-settlement.ts';
import { renewReleasedProof } from '../batch/prove-batch.ts';
import { createSettlementRequest, keepDelivery } from '../batch/settlement-request.ts';
import type { Run } from '../job/run.ts';
import { grantAllowance, stopApproval } from '../sign/allowance.ts';
import { freeAccount } from '../sign/approval.ts';
import { VotePendingError } from '../sign/ask-signer.ts';
import { abandonRefused, postVoid } from '../sign/give-up.ts';

/** How long a chain may take to answer the balance of the funder. */
const readTimeoutMs = 3_000;

/** The platform may refuse for hours. The batch is sent again later, and other batches need not wait for it. */
const budgetCode = 'gas_budget_exceeded';

const unknownRevert: ErrorBody = {
  code: 'reverted',
  message: 'The transaction reverted; no node tells why.',
};

/** @returns what the chain has finalised. Throws interruptions only */
export async function settleBatch(run: Run, batch: DatedBatch): Promise<Outcome> {
  const { chain } = run.context;
  const { platform, clock, pollMs } = run.deps;
  const { key } = run.record;
  // The latest deadline of any authorisation known under this nonce. Another agent may have signed one, or this agent
  // before its store was restored.
  let deadline = Math.max(batch.deadline, run.landing.latestDeadline ?? 0);
  // The platform's answer to the last post, if it was an error.
  let postError: unknown;
  let hasPosted = false;
  // What the batch needs before it can be sent again.
  let waitsFor: 'settlement-refused' | 'awaiting-approval' = 'settlement-refused';
  const resending = createPacer(clock, pollMs);
  const withdrawing = createPacer(clock, pollMs);
  const stopping = createPacer(clock, pollMs);

  /** Keeps an error of the outside world from ending the watch. The last one is stored for the message of `settlement_expired`. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error, run.signal);
      if (error instanceof VotePendingError) {
        throw error;
      }
      const body = toErrorBody(error);
      if (run.landing.lastRefusal?.code !== body.code) {
        run.announceRetry(error);
        await run.amend({ lastRefusal: body });
      }
      return undefined;
    }
  }

  async function recordRow(row: SettlementRecord): Promise<void> {
    const foreign = pickForeign(run, row);
    if (foreign !== undefined) {
      return recordForeign(run, foreign);
    }
    if (row.batch.deadline > deadline) {
      deadline = row.batch.deadline;
      await run.amend({ latestDeadline: deadline });
    }
    if (row.batch.batchRoot === batch.batchRoot && row.state === 'reverted') {
      await recordRevert(run, row);
    }
  }

  /**
   * Reads the platform's settlement under this key.
   * @returns whether the batch may be sent again: no transaction with its nonce is pending, and no settlement on other terms is alive, as far
   *   as the platform answers
   */
  async function readRow(): Promise<boolean> {
    const answer = await attempt(async () => ({ row: await platform.getSettlement(key) }));
    const row = answer?.row;
    if (row !== undefined) {
      await attempt(() => recordRow(row));
    }
    const foreign = await findForeign(run);
    if (foreign !== undefined) {
      await updateRefusal(run, foreign);
      return false;
    }
    if (answer === undefined) {
      return true;
    }
    const own = row === undefined || pickForeign(run, row) !== undefined ? undefined : row;
    if (
      own !== undefined &&
      (own.batch.batchRoot !== batch.batchRoot || own.state !== 'reverted')
    ) {
      await updateRefusal(run, undefined);
      return false;
    }
    // A run that has posted nothing yet keeps the refusal that an earlier run stored. One on other terms is dead by now.
    const { refusal } = run.landing;
    const known = hasPosted || refusal?.code === settledElsewhere ? undefined : refusal;
    const told = own === undefined ? toRefusal(postError) : (own.error ?? unknownRevert);
    await updateRefusal(run, told ?? known, waitsFor);
    return true;
  }

  /** Sends the settlement to the platform. */
  async function post(): Promise<void> {
    resending.markTried();
    postError = undefined;
    hasPosted = true;
    await attempt(async () => {
      if (run.phase.kind === 'released') {
        const request = createSettlementRequest(run, batch, run.phase);
        const posting = async () => recordRow(await platform.postSettlement(key, request));
        await posting().catch((error: unknown) => {
          postError = error;
          throw error;
        });
      }
    });
    await abandonRefused(run, batch, postError);
    await run.passFaultPoint('settling.posted');
  }

  /**
   * Sends the same authorisation again, with a proof and an allowance that are valid now.
   * @returns whether it was sent
   */
  async function resend(): Promise<boolean> {
    // A store without the signature has nothing to send. A batch that cannot be collected now must not take a turn,
    // because others would wait for it.
    const isReady =
      run.phase.kind === 'released' &&
      (await canCollect(run)) &&
      (await attempt(() => renewReleasedProof(run, batch))) === 'current';
    if (isReady && !run.hold.claim()) {
      return false;
    }
    waitsFor = 'settlement-refused';
    if (!isReady) {
      resending.markTried();
      return false;
    }
    try {
      const grant = () => grantAllowance({ run, batch, wait: 'once' });
      while ((await attempt(grant)) === 'look-again') {
        // A vote took its time.
      }
    } catch (error) {
      if (!(error instanceof VotePendingError)) {
        throw error;
      }
      // The same authorisation is sent once its new permit or approval is given.
      waitsFor = 'awaiting-approval';
      resending.markTried();
      return false;
    }
    await post();
    return true;
  }

  /**
   * Other batches of the funder and token may go first while the platform says that nothing of this batch is out, and in any case
   * once it is abandoned: its authorisation was never sent, or the platform did not take it, and its withdrawal may wait for a vote until
   * the deadline. They wait while an approval of this batch may still change the allowance.
   */
  function shareTurn(): void {
    freeAccount(run);
    const isIdle = run.landing.refusal !== undefined || run.phase.kind === 'abandoned';
    if (isIdle && !run.mayChangeAllowance) {
      run.hold.release();
    } else {
      run.hold.claim();
    }
  }

  /** @param mayBeUsed - the nonce is used and not final, or not known: sending again could only spend another allowance */
  async function resendIfRefused(mayBeUsed: boolean): Promise<void> {
    const isFree = await readRow();
    const isDue = isFree && !mayBeUsed && resending.isDue() && !(await isPastDeadline(run, batch));
    if (!(isDue && (await resend()))) {
      shareTurn();
    }
  }

  /** Sends the funder's withdrawal and nothing else. */
  async function withdraw(mayBeUsed: boolean): Promise<void> {
    await run.announce('cancelling');
    await readRow();
    if (stopping.isDue()) {
      stopping.markTried();
      await attempt(() => stopApproval(run, batch));
    }
    shareTurn();
    if (mayBeUsed || !withdrawing.isDue()) {
      return;
    }
    withdrawing.markTried();
    try {
      await attempt(() => postVoid(run, batch));
    } catch (error) {
      if (!(error instanceof VotePendingError)) {
        throw error;
      }
    }
  }

  await keepDelivery(run, batch);
  if (run.phase.kind === 'signed') {
    // Stored before it is sent: after a crash the job must not be reported as failed.
    await run.move('released', { releasedAtMs: clock.nowMs() });
    await post();
  }
  for (;;) {
    const nonce: NonceState | undefined = await attempt(() =>
      chain.fetchNonceState(run.funder.address, run.batchNonce),
    );
    const { batchRoot } = batch;
    const decision =
      nonce === undefined ? undefined : decideSettlement({ batchRoot, deadline, nonce });
    if (decision !== undefined && decision.kind !== 'wait') {
      await run.passFaultPoint('settling.observed');
      return decision;
    }
    const isGivenUp = run.phase.kind === 'abandoned' || (await run.isCancelled());
    const mayBeUsed = nonce === undefined || nonce.pending;
    await (isGivenUp ? withdraw(mayBeUsed) : resendIfRefused(mayBeUsed));
    await run.pause();
  }
}

/** Why no transaction of the platform with this batch is pending. Undefined: its answer to the post does not say that. */
function toRefusal(postError: unknown): ErrorBody | undefined {
  if (!isPoolError(postError)) {
    return undefined;
  }
  const { code, status, retryable, message } = postError;
  const isRefused = code === budgetCode || (!retryable && status >= 400 && status < 500);
  return isRefused ? { code, message } : undefined;
}

/**
 * Stores and announces a refusal if it is new.
 * @param refusal - undefined: there is none now
 * @param waitsFor - the stage while there is one
 */
async function updateRefusal(
  run: Run,
  refusal: ErrorBody | undefined,
  waitsFor: 'settlement-refused' | 'awaiting-approval' = 'settlement-refused',
): Promise<void> {
  if (refusal?.code !== run.landing.refusal?.code) {
    await run.amend({
      refusal: refusal === undefined ? undefined : { code: refusal.code, message: refusal.message },
    });
    if (refusal !== undefined) {
      run.deps.onEvent({ kind: 'refused', stage: run.record.stage, code: refusal.code });
    }
  }
  if (run.record.stage !== 'cancelling') {
    await run.announce(refusal === undefined ? 'settling' : waitsFor);
  }
}

/** A mined revert later decides between `partial` and `failed`, so it is stored once the chain confirms it. */
async function recordRevert(run: Run, row: SettlementRecord): Promise<void> {
  const { error, txHash } = row;
  if (error !== undefined && run.landing.lastRefusal?.code !== error.code) {
    await run.amend({ lastRefusal: { code: error.code, message: error.message } });
  }
  if (txHash === undefined || run.landing.revert?.txHash === txHash) {
    return;
  }
  const { chain } = run.context;
  const receipt = await chain.fetchReceipt(txHash);
  if (receipt?.reverted !== true || !receipt.final) {
    return;
  }
  // The row may name any reverted transaction. Only one that carried this batch makes the job `partial`.
  const carried = await chain.fetchCarriedBatch(txHash);
  const { batchRoot, batchNonce } = row.batch;
  if (carried?.batchRoot === batchRoot && carried.batchNonce === batchNonce) {
    const seen = await chain.fetchRevertReason(txHash).catch(() => undefined);
    const isTold = seen !== undefined && seen.code !== 'reverted';
    await run.amend({
      revert: { txHash, error: isTold ? seen : (error ?? seen ?? unknownRevert) },
    });
  }
}

async function isPastDeadline(run: Run, batch: DatedBatch): Promise<boolean> {
  try {
    return (await run.now()) > batch.deadline;
  } catch (error) {
    rethrowInterruption(error);
    return true;
  }
}

/** False: the funder holds less than the total. True too if the chain does not answer. */
async function canCollect({ context, token, funder, total }: Run): Promise<boolean> {
  const balance = context.chain.fetchTokenBalance(token, funder.address);
  return await waitAtMost(balance, readTimeoutMs).then(
    (held) => held >= total,
    () => true,
  );
}
