/**
 * The long checks of a batch (protocol §8) or a spend (protocol §6–§8), as the contract makes them: field elements, the hash of the
 * sealed notes, the root of the commitments, the signature of a spend, the digest and the keys of the notes. A mistake costs no gas here,
 * and no sealed note is stored that does not belong to its batch or spend. Runs in a thread of its own (batch-check-worker.ts).
 *
 * @module
 */
import type { FundBatchWire, SpendCallWire } from '@pool/api';
import {
  computeAssetId,
  computeBatchId,
  type EvmAddress,
  type Hex,
  type Hex32,
  hexToBigint,
  isPoolError,
  parseEvmAddress,
  type SpendCircuit,
} from '@pool/core';
import {
  type BatchArithmetic,
  computeFundPublicInputs,
  computeSealedNotesHash,
  computeSpendPublicInputs,
  type FundPublicInputs,
  type SpendOperation,
  verifyMaskedSigner,
} from '@pool/notes';
import { settlementRefusals, spendRefusals } from './refuse-settlement.ts';

/** Input of the thread. Public, except which keys get notes together. */
type Job = {
  /** In slot order. */
  readonly encryptionPublicKeys: readonly string[];
  readonly chainId: number;
  readonly pool: EvmAddress;
};

export type BatchJob = Job & {
  readonly kind: 'batch';
  readonly batch: FundBatchWire;
  /** In slot order. */
  readonly sealed: readonly Hex[];
};

export type SpendJob = Job & {
  readonly kind: 'spend';
  readonly spend: SpendCallWire;
  readonly circuit: SpendCircuit;
  readonly sealedNotesHash: Hex32;
};

/** Public inputs that the proof must have. */
export type ProofInputs = Pick<FundPublicInputs, 'digest' | 'z' | 'y'>;

export type Verdict =
  | { readonly kind: 'fits'; readonly inputs: ProofInputs }
  | { readonly kind: 'refused'; readonly message: string };

type Arithmetic = Pick<BatchArithmetic, 'computeBatchRoot' | 'findInvalidKey'>;

/** @returns a verdict for any input of a caller; throws for internal failures */
export async function checkInputs(
  job: BatchJob | SpendJob,
  arithmetic: Arithmetic,
): Promise<Verdict> {
  try {
    const isBatch = job.kind === 'batch';
    const { digest, z, y } = await (isBatch
      ? computeBatchInputs(job, arithmetic)
      : computeSpendInputs(job, arithmetic));
    const slot = await arithmetic.findInvalidKey(job.encryptionPublicKeys);
    (isBatch ? settlementRefusals : spendRefusals).assertThat(
      slot === undefined,
      `sealedNotes.${slot}.encryptionPublicKey (invalid_encryption_key)`,
    );
    return { kind: 'fits', inputs: { digest, z, y } };
  } catch (error) {
    if (isPoolError(error) && ['invalid_settlement', 'invalid_spend'].includes(error.code)) {
      return { kind: 'refused', message: error.message };
    }
    throw error;
  }
}

async function computeBatchInputs(
  { batch, sealed, chainId, pool }: BatchJob,
  arithmetic: Arithmetic,
): Promise<ProofInputs> {
  const { attempt, assertThat, field, fields } = settlementRefusals;
  const token = attempt('batch.token', () => parseEvmAddress(batch.token));
  const funder = attempt('batch.funder', () => parseEvmAddress(batch.funder));
  const commitments = fields(batch, 'commitments');
  const batchRoot = field(batch, 'batchRoot');
  const batchNonce = field(batch, 'batchNonce');
  const eligibilityRoot = field(batch, 'eligibilityRoot');
  const digest = field(batch, 'digest');
  assertThat(batchNonce !== 0n, 'batch.batchNonce is zero');
  assertThat(Number.isInteger(Math.log2(commitments.length)), 'batch.commitments (invalid_value)');
  assertThat(
    computeSealedNotesHash(sealed) === batch.sealedNotesHash,
    'batch.sealedNotesHash is not the hash of the sealed notes in slot order',
  );
  assertThat(
    (await arithmetic.computeBatchRoot(commitments)) === batchRoot,
    'batch.batchRoot is not the root of the commitments',
  );
  const inputs = computeFundPublicInputs({
    assetId: computeAssetId(chainId, pool, token),
    total: BigInt(batch.total),
    batchId: computeBatchId(funder, batchNonce),
    eligibilityRoot,
    batchRoot,
    commitments,
  });
  assertThat(inputs.digest === digest, 'batch.digest does not fit the batch');
  return inputs;
}

async function computeSpendInputs(
  { spend, circuit, sealedNotesHash, chainId, pool }: SpendJob,
  arithmetic: Arithmetic,
): Promise<ProofInputs> {
  const { attempt, assertThat, field, fields } = spendRefusals;
  const commitments = fields(spend, 'commitments');
  const operation: SpendOperation = {
    circuit,
    assetId: computeAssetId(chainId, pool, parseEvmAddress(spend.token)),
    withdrawAmount: BigInt(spend.withdrawAmount),
    recipient: spend.recipient === undefined ? undefined : parseEvmAddress(spend.recipient),
    deadline: spend.deadline,
    sealedNotesHash,
    outRoot: field(spend, 'outRoot'),
    nullifiers: fields(spend, 'nullifiers'),
  };
  const noteRoot = field(spend, 'noteRoot');
  const eligibilityRoot = field(spend, 'eligibilityRoot');
  const digest = field(spend, 'digest');
  const rSig = hexToBigint(spend.rSig);
  const maskedSigner = {
    maskedPub: { x: hexToBigint(spend.maskedX), y: hexToBigint(spend.maskedY) },
    maskedDigest: hexToBigint(spend.maskedDigest),
    slope: hexToBigint(spend.slope),
  };
  assertThat(
    verifyMaskedSigner(maskedSigner, { rSig, s: hexToBigint(spend.s), parity: spend.parity }),
    'the signature is not one by the masked key: maskedX, maskedY, slope, maskedDigest, rSig, s and parity do not fit together',
  );
  assertThat(
    (await arithmetic.computeBatchRoot(commitments)) === operation.outRoot,
    'spend.outRoot is not the root of the commitments',
  );
  const statement = { operation, commitments, noteRoot, eligibilityRoot, maskedSigner, rSig };
  const inputs = attempt('spend', () => computeSpendPublicInputs(statement));
  assertThat(inputs.digest === digest, 'spend.digest does not fit the spend');
  return inputs;
}
