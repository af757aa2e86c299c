/**
 * What a funder keeps of a batch past the erasure of its recipients (protocol §3): the sealed notes with the P of each slot,
 * so that they can be delivered again. A note whose ciphertext is lost is money lost. No amount in it but the total.
 *
 * @module
 */
import { type Delivery, deliverySchema } from '@pool/api';
import { PoolError, parseWire } from '@pool/core';
import type { DisbursementRecord } from './record.ts';
import type { DatedBatch } from './release-record.ts';
import type { Run } from './run.ts';
import { createSettlementRequest } from './settlement-request.ts';

/** Name of the write-once value beside the job. */
export const deliveryName = 'delivery/1';

/** Stores the delivery unless it is stored. Called before the batch leaves, so no batch settles without one. */
export async function keepDelivery(run: Run, batch: DatedBatch): Promise<void> {
  const { proved, signature } = run.record();
  if (proved === undefined || signature === undefined) {
    // A store restored from before the proof: the batch left under another life of this job, which stored its own.
    return;
  }
  const {
    chain,
    batch: wire,
    sealedNotes,
  } = createSettlementRequest(batch, proved, run.record(), signature, run.deps.fingerprints);
  const delivery: Delivery = { chain, batch: wire, sealedNotes };
  await run.journal.putOnce(deliveryName, JSON.stringify(delivery));
}

/** @throws PoolError `delivery_damaged` when it is not one that {@link keepDelivery} stored */
export function parseDelivery(text: string): Delivery {
  try {
    return parseWire(deliverySchema, JSON.parse(text), 'the stored delivery');
  } catch {
    // No cause: an error of the parser quotes what it read.
    throw new PoolError(
      'delivery_damaged',
      'the sealed notes in the job store are damaged; restore the job store from a backup and run the command again',
    );
  }
}

/** Whether a job that ended put notes on chain. Of any other, the sealed notes are of no use to anybody. */
export function hasNotesOnChain(state: string, { result }: DisbursementRecord): boolean {
  return state === 'done' && result?.status === 'completed';
}
