/**
 * What platform and relayer say against a released batch. It decides nothing about the job: it is told while the job
 * waits, lets other batches of the funder have their turn, and explains an end without a payment.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import { type ErrorBody, isPoolError } from '@pool/core';
import type { Batch } from './plan-batch.ts';
import { createRetryEvent, type Run } from './run.ts';

const unknownRevert: ErrorBody = {
  code: 'reverted',
  message: 'The transaction reverted; no node tells why.',
};

/** The platform took nothing and may for hours: the batch is sent again, and others need not wait for it. */
const budgetCode = 'gas_budget_exceeded';

/**
 * Why the platform has nothing of this batch out; undefined: it does not say so.
 * @param row - the platform's row of the batch, `reverted`; undefined: it has none
 * @param postError - what the last post of the settlement was answered
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

/** Persists and announces a refusal when it is news. @param refusal - undefined: there is none any more */
export async function setRefusal(run: Run, refusal: ErrorBody | undefined): Promise<void> {
  const known = run.record().refusal ?? undefined;
  if (refusal?.code !== known?.code) {
    await run.update({
      refusal: refusal === undefined ? null : { code: refusal.code, message: refusal.message },
    });
    if (refusal !== undefined) {
      run.deps.onEvent({ kind: 'refused', stage: run.record().stage, code: refusal.code });
    }
  }
  if (run.record().stage !== 'cancelling') {
    await run.announce(refusal === undefined ? 'settling' : 'settlement-refused');
  }
}

/** A mined revert decides between `partial` and `failed` later, so it is kept once the chain confirms it. */
export async function noteRevert(run: Run, batch: Batch, row: SettlementRecord): Promise<void> {
  if (row.error !== undefined) {
    await rememberBody(run, row.error);
  }
  const { txHash } = row;
  if (txHash === undefined || run.record().revert?.txHash === txHash) {
    return;
  }
  const { chain } = run.context;
  const receipt = await chain.fetchReceipt(txHash);
  if (receipt?.reverted !== true || !receipt.final) {
    return;
  }
  // The row may name any reverted transaction: only one that carried our batch makes this job `partial`.
  const carried = await chain.fetchCarriedBatch(txHash);
  if (carried?.batchRoot !== batch.batchRoot || carried.batchNonce !== row.batch.batchNonce) {
    return;
  }
  const seen = await chain.fetchRevertReason(txHash).catch(() => undefined);
  const isTold = seen !== undefined && seen.code !== 'reverted';
  const error = isTold ? seen : (row.error ?? seen ?? unknownRevert);
  await run.update({ revert: { txHash, error } });
}

/** Keeps what was answered last for the message of `settlement_expired`, and announces it when it is news. */
export async function remember(run: Run, error: unknown): Promise<void> {
  const body = isPoolError(error)
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'an unexpected error; see the log of the agent' };
  if (run.record().lastRefusal?.code !== body.code) {
    run.deps.onEvent(createRetryEvent(run.record().stage, error));
  }
  await rememberBody(run, body);
}

/** Written only when it changes. */
async function rememberBody(run: Run, body: ErrorBody): Promise<void> {
  if (run.record().lastRefusal?.code !== body.code) {
    await run.update({ lastRefusal: { code: body.code, message: body.message } });
  }
}
