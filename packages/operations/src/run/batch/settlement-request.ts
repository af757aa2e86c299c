/**
 * The settlement in the form that the platform's relayer receives (ARCHITECTURE.md), and what the funder keeps of it after the erasure of
 * its recipients (protocol §3): the sealed notes with the P of each slot, so that they can be delivered again. If the ciphertext of a note
 * is lost, its money is lost. It holds no amount but the total.
 *
 * @module
 */
import { type Delivery, edgeRoutes, type FundBatchWire, type SettlementRequest } from '@pool/api';
import { fieldToHex, PoolError, parseWire } from '@pool/core';
import type { OpenPhase, RecordedProof } from '../job/phases.ts';
import type { DisbursementRecord } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import type { DatedBatch } from './batch.ts';

/** A phase in which proof and signature are stored. */
type SignedPhase = Extract<OpenPhase, { readonly kind: 'signed' | 'released' }>;

/** Everything the relayer needs, and nothing that opens a note. */
export function createSettlementRequest(
  { record, deps }: Run,
  batch: DatedBatch,
  { proved, signature, permit }: SignedPhase,
): SettlementRequest {
  return {
    chain: batch.manifest.chain,
    batch: createBatchWire(batch, proved),
    proof: proved.proof,
    funderSignature: signature,
    ...(permit === undefined ? {} : { permit: permit.wire }),
    bodyFingerprint: deps.fingerprints.compute(record.key, record.requestDigest),
    sealedNotes: listSealedNotes(batch),
  };
}

function listSealedNotes({ plan }: DatedBatch): SettlementRequest['sealedNotes'] {
  return plan.sealedNotes.map(({ encryptionPublicKey, sealed }) => ({
    encryptionPublicKey,
    sealed,
  }));
}

/** The batch as the contract receives it. Nothing in it opens a note. */
export function createBatchWire(batch: DatedBatch, proved: RecordedProof): FundBatchWire {
  const { manifest, plan } = batch;
  return {
    funder: manifest.funder,
    token: manifest.token,
    total: plan.total.toString(),
    batchNonce: fieldToHex(plan.batchNonce),
    eligibilityRoot: proved.eligibilityRoot,
    batchRoot: batch.batchRoot,
    commitments: plan.commitments.map(fieldToHex),
    sealedNotesHash: plan.sealedNotesHash,
    digest: proved.digest,
    deadline: batch.deadline,
  };
}

/** Name of the write-once value beside the job. */
export const deliveryName = 'delivery/1';

/** Stores the delivery once. Called before the batch leaves, so no batch settles without one. */
export async function keepDelivery(run: Run, batch: DatedBatch): Promise<void> {
  const { phase } = run;
  // Otherwise the store was restored from before the signature. The run that released the batch stored its own delivery.
  if (phase.kind === 'signed' || phase.kind === 'released') {
    const delivery: Delivery = {
      chain: batch.manifest.chain,
      batch: createBatchWire(batch, phase.proved),
      sealedNotes: listSealedNotes(batch),
    };
    await run.putOnce(deliveryName, JSON.stringify(delivery));
  }
}

/** @throws PoolError `store_damaged` when it is not one that {@link keepDelivery} stored */
export function parseDelivery(text: string): Delivery {
  try {
    return parseWire(edgeRoutes.redeliverNotes.body, JSON.parse(text), 'the stored delivery');
  } catch {
    // The cause is omitted: an error of the parser quotes its input.
    throw new PoolError(
      'store_damaged',
      'the sealed notes in the job store are damaged; restore the job store from a backup and run the command again',
    );
  }
}

/** Whether a job put notes on chain. The sealed notes of other jobs are not needed. */
export function hasNotesOnChain({ phase }: DisbursementRecord): boolean {
  return phase.kind === 'completed';
}
