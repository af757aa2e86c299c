/**
 * Why platform and relayer refuse a released batch. A refusal decides nothing about the job. It is shown while the job
 * waits, it lets other batches of the funder go first, and it explains an end without a payment.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import { type ErrorBody, isPoolError } from '@pool/core';
import type { Batch } from '../job/plan-batch.ts';
import { createRetryEvent, type Run } from '../job/run.ts';

const unknownRevert: ErrorBody = {
  code: 'reverted',
  message: 'The transaction reverted; no node tells why.',
};

/** The platform may refuse for hours. The batch is sent again later, and other batches need not wait for it. */
const budgetCode = 'gas_budget_exceeded';

/**
 * Why no transaction of the platform with this batch is pending. Undefined: the platform does not report that.
 * @param row - the platform's row of the batch, `reverted`. Undefined: it has none
 * @param postError - the answer to the last post of the settlement
 */
export function toRefusal(
  row: SettlementRecord | undefined,
  postError: unknown,
): ErrorBody | undefined {
  if (row !== undefined) {
    return row.error ?? unknownRevert;
  }
  if (!isPoolError(postError)) {
    return undefined;
  }
  const { code, status, retryable } = postError;
  const isRefusedPost = code === budgetCode || (!retryable && status >= 400 && status < 500);
  return isRefusedPost ? { code, message: postError.message } : undefined;
}

/**
 * Stores and announces a refusal if it is new.
 * @param refusal - undefined: there is none now
 * @param waitsFor - the stage while there is one
 */
export async function updateRefusal(
  run: Run,
  refusal: ErrorBody | undefined,
  waitsFor: 'settlement-refused' | 'awaiting-approval' = 'settlement-refused',
): Promise<void> {
  const known = run.landing().refusal;
  if (refusal?.code !== known?.code) {
    await run.amend({
      refusal: refusal === undefined ? undefined : { code: refusal.code, message: refusal.message },
    });
    if (refusal !== undefined) {
      run.deps.onEvent({ kind: 'refused', stage: run.record().stage, code: refusal.code });
    }
  }
  if (run.record().stage !== 'cancelling') {
    await run.announce(refusal === undefined ? 'settling' : waitsFor);
  }
}

/** A mined revert later decides between `partial` and `failed`, so it is stored once the chain confirms it. */
export async function recordRevert(run: Run, batch: Batch, row: SettlementRecord): Promise<void> {
  if (row.error !== undefined) {
    await recordRefusal(run, row.error);
  }
  const { txHash } = row;
  if (txHash === undefined || run.landing().revert?.txHash === txHash) {
    return;
  }
  const { chain } = run.context;
  const receipt = await chain.fetchReceipt(txHash);
  if (receipt?.reverted !== true || !receipt.final) {
    return;
  }
  // The row may name any reverted transaction. Only one that carried this batch makes the job `partial`.
  const carried = await chain.fetchCarriedBatch(txHash);
  if (carried?.batchRoot !== batch.batchRoot || carried.batchNonce !== row.batch.batchNonce) {
    return;
  }
  const seen = await chain.fetchRevertReason(txHash).catch(() => undefined);
  const isTold = seen !== undefined && seen.code !== 'reverted';
  const error = isTold ? seen : (row.error ?? seen ?? unknownRevert);
  await run.amend({ revert: { txHash, error } });
}

/** Stores the last error for the message of `settlement_expired`, and announces it if it is new. */
export async function recordError(run: Run, error: unknown): Promise<void> {
  const body = isPoolError(error)
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'an unexpected error; see the log of the agent' };
  if (run.landing().lastRefusal?.code !== body.code) {
    run.deps.onEvent(createRetryEvent(run.record().stage, error));
  }
  await recordRefusal(run, body);
}

/** Stores the refusal if its code is new. */
async function recordRefusal(run: Run, body: ErrorBody): Promise<void> {
  if (run.landing().lastRefusal?.code !== body.code) {
    await run.amend({ lastRefusal: { code: body.code, message: body.message } });
  }
}
