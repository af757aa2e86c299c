/**
 * The long checks of a batch (protocol §8): field elements, the hash of the sealed notes, the root of the commitments, the
 * digest and the keys of the notes. The contract checks root and digest again; here a mistake costs no gas, and no sealed note is stored
 * that does not belong to its batch. Runs in a thread of its own (batch-check-worker.ts).
 *
 * @module
 */
import type { FundBatchWire } from '@pool/api';
import {
  computeAssetId,
  computeBatchId,
  type EvmAddress,
  fieldToHex,
  type Hex,
  isPoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';
import {
  type BatchArithmetic,
  computeFundPublicInputs,
  computeSealedNotesHash,
  type FundPublicInputs,
} from '@pool/notes';
import { attempt, refuse } from './refuse-settlement.ts';

/** Input of the thread. Public, except which keys are paid together. */
export type BatchJob = {
  readonly kind: 'batch';
  readonly batch: FundBatchWire;
  /** In slot order. */
  readonly encryptionPublicKeys: readonly string[];
  /** In slot order. */
  readonly sealed: readonly Hex[];
  readonly chainId: number;
  readonly pool: EvmAddress;
};

/** Public inputs that the proof must have. */
export type ProofInputs = Pick<FundPublicInputs, 'digest' | 'z' | 'y'>;

export type BatchVerdict =
  | { readonly kind: 'fits'; readonly inputs: ProofInputs }
  | { readonly kind: 'refused'; readonly message: string };

/** @returns a verdict for any input of a caller; throws for internal failures */
export async function checkBatch(
  job: BatchJob,
  arithmetic: Pick<BatchArithmetic, 'computeBatchRoot' | 'findInvalidKey'>,
): Promise<BatchVerdict> {
  try {
    return { kind: 'fits', inputs: await computeInputs(job, arithmetic) };
  } catch (error) {
    return describeRefusal(error);
  }
}

/** @throws the error itself, unless it is a refusal */
export function describeRefusal(error: unknown): BatchVerdict {
  if (isPoolError(error) && ['invalid_settlement', 'invalid_spend'].includes(error.code)) {
    return { kind: 'refused', message: error.message };
  }
  throw error;
}

async function computeInputs(
  { batch, encryptionPublicKeys, sealed, chainId, pool }: BatchJob,
  arithmetic: Pick<BatchArithmetic, 'computeBatchRoot' | 'findInvalidKey'>,
): Promise<ProofInputs> {
  const token = attempt('batch.token', () => parseEvmAddress(batch.token));
  const funder = attempt('batch.funder', () => parseEvmAddress(batch.funder));
  const commitments = batch.commitments.map((word, slot) =>
    attempt(`batch.commitments.${slot}`, () => parseField(word)),
  );
  const batchRoot = attempt('batch.batchRoot', () => parseField(batch.batchRoot));
  const batchNonce = attempt('batch.batchNonce', () => parseField(batch.batchNonce));
  const eligibilityRoot = attempt('batch.eligibilityRoot', () => parseField(batch.eligibilityRoot));
  const digest = attempt('batch.digest', () => parseField(batch.digest));
  if (batchNonce === 0n) {
    throw refuse('batch.batchNonce is zero');
  }
  if (!Number.isInteger(Math.log2(commitments.length))) {
    throw refuse('batch.commitments (invalid_value)');
  }
  if (computeSealedNotesHash(sealed) !== batch.sealedNotesHash) {
    throw refuse('batch.sealedNotesHash is not the hash of the sealed notes in slot order');
  }
  if ((await arithmetic.computeBatchRoot(commitments)) !== batchRoot) {
    throw refuse('batch.batchRoot is not the root of the commitments');
  }
  const inputs = computeFundPublicInputs({
    assetId: computeAssetId(chainId, pool, token),
    total: BigInt(batch.total),
    batchId: computeBatchId(funder, batchNonce),
    eligibilityRoot,
    batchRoot,
    commitments,
  });
  if (fieldToHex(inputs.digest) !== fieldToHex(digest)) {
    throw refuse('batch.digest does not fit the batch');
  }
  const slot = await arithmetic.findInvalidKey(encryptionPublicKeys);
  if (slot !== undefined) {
    throw refuse(`sealedNotes.${slot}.encryptionPublicKey (invalid_encryption_key)`);
  }
  const { z, y } = inputs;
  return { digest: inputs.digest, z, y };
}
