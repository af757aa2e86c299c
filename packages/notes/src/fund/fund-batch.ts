/**
 * From manifest and seed to the whole batch (protocol §3). The agent, the approver and an enclave each rebuild the same batch.
 * Vectors: vectors/fund-batch.json.
 *
 * Confidential: the plan contains who receives what, and `secret`. Never log it. Only commitments, batchRoot, batchNonce,
 * batchId, total, assetId, the sealed notes and their hash leave the machine.
 *
 * @module
 */
import {
  type AssetId,
  computeBatchId,
  computeBatchNonce,
  computeManifestDigest,
  computeWalletAddress,
  type Field,
  type FundManifest,
  fundManifestSchema,
  type Hex32,
  maxAmount,
  PoolError,
  parseAmount,
  parseEvmAddress,
  parseWire,
} from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import { fundBaseTag } from '../hash/tags.ts';
import { createSeedSource, deriveSlotOrder, type SeedSource } from '../keys/seed.ts';
import {
  type AddressedSealedNote,
  assertDistinct,
  computeManifestAssetId,
  computeSealedNotesHash,
  deriveDummy,
  fillSlot,
  type NoteSlot,
  type Payee,
  readPayee,
} from '../note/note-slot.ts';
import { stepBatchRoot } from './batch-root.ts';
import { runToEnd, type Steps } from './steps.ts';

/** One slot of the batch. Confidential, except for the commitment. */
export type FundSlot = NoteSlot;

/** The whole batch. Confidential; the module header lists what may leave the machine. */
export type FundBatchPlan = {
  readonly manifestDigest: Hex32;
  readonly assetId: AssetId;
  /** Sum of all amounts, base units, 1 … 2^128-1. */
  readonly total: bigint;
  /** The funder signs it, and the contract receives it. */
  readonly batchNonce: Field;
  /** The contract computes it from funder and batchNonce. It is a public input of the proof. */
  readonly batchId: Field;
  /** Secret: a payee who knows it can link the notes of the batch. */
  readonly secret: Field;
  readonly batchRoot: Field;
  /** In slot order. */
  readonly commitments: readonly Field[];
  /** In slot order, including dummies. */
  readonly sealedNotes: readonly AddressedSealedNote[];
  /** keccak256 over all sealed notes in slot order. */
  readonly sealedNotesHash: Hex32;
  readonly slots: readonly FundSlot[];
};

/**
 * Builds the batch. Deterministic. It does not verify the recipients' evidence: the caller must do so before.
 *
 * @param manifest - confidential
 * @param seed - 32 random bytes, fresh for this manifest, secret
 * @throws PoolError `invalid_request` (manifest malformed), `batch-too-large`, `invalid-amount` (the sum is 2^128 or more),
 *   `duplicate-recipient`, `invalid-address`, `invalid_wallet_pub`, `wallet_mismatch` (W does not belong to the address),
 *   `invalid_encryption_key`, `invalid_value`
 *
 * @example
 * const plan = buildFundBatch(manifest, randomBytes(32));
 * const input = computeFundWitnessInput(plan, eligibilityRoot, paths);
 */
export function buildFundBatch(manifest: FundManifest, seed: Uint8Array): FundBatchPlan {
  return runToEnd(stepFundBatch(manifest, seed));
}

/** {@link buildFundBatch} that pauses after each slot. The whole computation takes a second for 256 slots. */
export function* stepFundBatch(manifest: FundManifest, seed: Uint8Array): Steps<FundBatchPlan> {
  parseWire(fundManifestSchema, manifest, 'batch manifest');
  if (manifest.recipients.length > manifest.size) {
    throw new PoolError(
      'batch-too-large',
      `the batch has ${manifest.size} slots; remove recipients or choose a larger size`,
    );
  }
  const total = sumAmounts(manifest);
  const manifestDigest = computeManifestDigest(manifest);
  const source = createSeedSource(seed, manifestDigest);
  const assetId = computeManifestAssetId(manifest);
  const funder = parseEvmAddress(manifest.funder);
  const batchNonce = computeBatchNonce({
    employerId: manifest.employerId,
    chainId: manifest.chainId,
    pool: parseEvmAddress(manifest.pool),
    funder,
    jobKey: manifest.jobKey,
    attempt: manifest.attempt,
  });
  const batchId = computeBatchId(funder, batchNonce);
  const secret = source.deriveField('pool/v1/fund/secret', 0);
  const base = poseidon([fundBaseTag, batchId, secret]);

  const payees = yield* placePayees(manifest, source);
  const filled: ReturnType<typeof fillSlot>[] = [];
  for (const [slot, payee] of payees.entries()) {
    filled.push(fillSlot({ payee, slot, assetId, base, source, kind: 'fund' }));
    yield;
  }
  const commitments = filled.map(({ slot }) => slot.commitment);
  const sealedNotes = filled.map(({ sealedNote }) => sealedNote);
  return {
    manifestDigest,
    assetId,
    total,
    batchNonce,
    batchId,
    secret,
    batchRoot: yield* stepBatchRoot(commitments),
    commitments,
    sealedNotes,
    sealedNotesHash: computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)),
    slots: filled.map(({ slot }) => slot),
  };
}

function sumAmounts(manifest: FundManifest): bigint {
  const total = manifest.recipients.reduce((sum, { amount }) => sum + parseAmount(amount), 0n);
  if (total > maxAmount) {
    throw new PoolError('invalid-amount', 'the amounts of a batch must add up to less than 2^128');
  }
  return total;
}

/** Payees in slot order: recipients in the slots that the seed assigns, dummies in all others. */
function* placePayees(manifest: FundManifest, source: SeedSource): Steps<Payee[]> {
  const payees: Payee[] = [];
  for (const [recipientIndex, recipient] of manifest.recipients.entries()) {
    assertWallet(recipient, recipientIndex);
    payees.push(readPayee(recipient, recipientIndex));
    yield;
  }
  assertDistinct(payees, 'batch');
  const order = deriveSlotOrder(source, manifest.size);
  const bySlot = new Map(payees.map((payee, i) => [order[i], payee]));
  const placed: Payee[] = [];
  for (let slot = 0; slot < manifest.size; slot += 1) {
    placed.push(bySlot.get(slot) ?? deriveDummy(source, 'fund', slot));
    yield;
  }
  return placed;
}

function assertWallet(recipient: FundManifest['recipients'][number], recipientIndex: number): void {
  if (computeWalletAddress(recipient.walletPub) !== parseEvmAddress(recipient.address)) {
    throw new PoolError(
      'wallet_mismatch',
      `recipient ${recipientIndex}: walletPub does not belong to the address`,
    );
  }
}
