/**
 * The wish to cancel a job. It is stored beside the job by whoever asks, without the lease of the worker, and is never
 * taken back. Nothing is signed for a cancellation before the wish is on disk.
 *
 * - Nothing has left: the job fails with `cancelled`.
 * - The authorisation is out: its funder withdraws it (`voidBatch`), and the job waits for the chain.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { cancellationName } from './record.ts';
import type { Run } from './run.ts';

/** What is stored. @param nowMs - when it was asked for */
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

/** Why a job ended whose authorisation can never land because somebody wanted that. */
export function describeCancelled(cause: 'expired' | 'voided'): string {
  const how =
    cause === 'voided'
      ? 'the funder withdrew its authorisation'
      : 'its authorisation expired before it was settled';
  return `the job was cancelled: ${how}, and nothing was paid; to pay after all, use a new Idempotency-Key`;
}
