/**
 * The request to cancel a job. The route stores it beside the job without the lease of the worker. It is never taken back.
 * Nothing is signed for a cancellation before the request is on disk.
 *
 * - If nothing has left, the job fails with `cancelled`.
 * - If the authorisation is out, its funder withdraws it (`voidBatch`), and the job waits for the chain.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { cancellationName } from './record.ts';
import type { Run } from './run.ts';

/** The stored text. @param nowMs - when the cancellation was requested */
export function serializeCancellation(nowMs: number): string {
  return JSON.stringify({ askedAtMs: nowMs });
}

export async function isCancelled(run: Run): Promise<boolean> {
  return (await run.journal.getValue(cancellationName)) !== undefined;
}

/** For the steps before the release. @throws PoolError `cancelled` */
export async function assertNotCancelled(run: Run): Promise<void> {
  if (await isCancelled(run)) {
    throw new PoolError(
      'cancelled',
      'the job was cancelled before its batch left this agent, and nothing was paid; to pay after all, use a new Idempotency-Key',
    );
  }
}

/** The message of a cancelled job whose authorisation can never land. */
export function describeCancelled(cause: 'expired' | 'voided'): string {
  const how =
    cause === 'voided'
      ? 'the funder withdrew its authorisation'
      : 'its authorisation expired before it was settled';
  return `the job was cancelled: ${how}, and nothing was paid; to pay after all, use a new Idempotency-Key`;
}
