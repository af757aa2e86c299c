/**
 * The settlement in the form that the platform's relayer receives (ARCHITECTURE.md).
 *
 * @module
 */
import type { FundBatchWire, SettlementRecord, SettlementRequest } from '@pool/api';
import { type EvmAddress, fieldToHex, type Hex32 } from '@pool/core';
import type { Fingerprinter } from '../job/body-fingerprint.ts';
import type { Phase } from '../job/phase.ts';
import type { Batch } from '../job/plan-batch.ts';
import type { DisbursementRecord, RecordedProof } from '../job/record.ts';
import type { DatedBatch } from './release-record.ts';

/** A phase in which proof and signature are stored. */
export type SignedPhase = Extract<Phase, { readonly kind: 'signed' | 'released' }>;

/** Everything the relayer needs, and nothing that opens a note. */
export function createSettlementRequest(
  batch: DatedBatch,
  { proved, signature }: SignedPhase,
  record: DisbursementRecord,
  fingerprints: Fingerprinter,
): SettlementRequest {
  const { manifest, plan } = batch;
  return {
    chain: manifest.chain,
    batch: createBatchWire(batch, proved),
    proof: proved.proof,
    funderSignature: signature,
    ...(record.permit === undefined ? {} : { permit: record.permit.wire }),
    bodyFingerprint: fingerprints.compute(record.key, record.requestDigest),
    sealedNotes: plan.sealedNotes.map(({ encryptionPublicKey, sealed }) => ({
      encryptionPublicKey,
      sealed,
    })),
  };
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

/** Is the platform's row about this very batch? */
export function isRowOf(batch: Batch, row: SettlementRecord): boolean {
  return row.batch.batchRoot === batch.batchRoot;
}

/** Is the platform's row about this nonce of this funder? Another funder under the same nonce pays another batch. */
export function isUnderNonce(row: SettlementRecord, funder: EvmAddress, nonce: Hex32): boolean {
  const { batch } = row;
  return batch.batchNonce === nonce && batch.funder.toLowerCase() === funder.toLowerCase();
}
