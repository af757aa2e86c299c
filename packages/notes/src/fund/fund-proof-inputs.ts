/**
 * The inputs of a fund proof (protocol §5, §6): the public vector x with its digest D, challenge z and evaluation y, and the
 * private inputs by signal name. Vectors: vectors/fund-public-inputs.json.
 *
 * @module
 */
import { assertField, type Field, hexToBigint } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import type { VerifiedPath } from '../trees/verified-path.ts';
import type { FundBatchPlan } from './fund-batch.ts';
import { computeChallenge } from './public-vector.ts';
import { runToEnd, type Steps } from './steps.ts';
import { dummyPath, findPath, type PlacedPath, type WitnessSignal } from './witness-signals.ts';

/** The public inputs of a fund proof. Public. */
export type FundPublicInputs = {
  /** assetId, total, batchId, eligibilityRoot, batchRoot, c_0 … c_{N-1}. */
  readonly x: Field[];
  /** D = H_5 of the first five elements. It commits to the commitments through batchRoot. */
  readonly digest: Field;
  /** keccak256(D ‖ x_0 ‖ … ) mod r over 32-byte words. */
  readonly z: Field;
  /** x_0 + z(x_1 + z(x_2 + …)). */
  readonly y: Field;
};

/**
 * Computes x, D, z, y as the contract does.
 * @throws PoolError `invalid_field_element` for any element outside [0, r)
 */
export function computeFundPublicInputs(batch: {
  readonly assetId: Field;
  readonly total: bigint;
  readonly batchId: Field;
  readonly eligibilityRoot: Field;
  readonly batchRoot: Field;
  readonly commitments: readonly Field[];
}): FundPublicInputs {
  const { assetId, total, batchId, eligibilityRoot, batchRoot, commitments } = batch;
  const bound = [assetId, total, batchId, eligibilityRoot, batchRoot];
  const digest = poseidon(bound);
  const x = [...bound, ...commitments].map(assertField);
  return { x, digest, ...computeChallenge(digest, x) };
}

/**
 * All inputs of `fund-N` by signal name. **Secret**: they contain amounts, owners and `secret`. Pass them only to the prover's
 * memory.
 *
 * @param plan - the batch; N is its number of slots
 * @param eligibilityRoot - an accepted root
 * @param paths - each recipient's path under that root, by wallet id (32-byte hex). Dummies need none.
 * @throws PoolError `unregistered-recipient` when a recipient has no path under that root
 */
export function computeFundWitnessInput(
  plan: FundBatchPlan,
  eligibilityRoot: Field,
  paths: ReadonlyMap<string, VerifiedPath>,
): Record<string, WitnessSignal> {
  return runToEnd(stepFundWitnessInput(plan, eligibilityRoot, paths));
}

/** {@link computeFundWitnessInput} that pauses after each slot. */
export function* stepFundWitnessInput(
  plan: FundBatchPlan,
  eligibilityRoot: Field,
  paths: ReadonlyMap<string, VerifiedPath>,
): Steps<Record<string, WitnessSignal>> {
  const { digest, z, y } = computeFundPublicInputs({ ...plan, eligibilityRoot });
  const placed: PlacedPath[] = [];
  for (const slot of plan.slots) {
    placed.push(
      slot.recipientIndex === undefined ? dummyPath : findPath(slot, eligibilityRoot, paths),
    );
    yield;
  }
  const decimal = (value: bigint): string => value.toString();
  return {
    D: decimal(digest),
    z: decimal(z),
    y: decimal(y),
    assetId: decimal(plan.assetId),
    total: decimal(plan.total),
    batchId: decimal(plan.batchId),
    secret: decimal(plan.secret),
    eligibilityRoot: decimal(eligibilityRoot),
    amounts: plan.slots.map(({ amount }) => decimal(amount)),
    walletIds: plan.slots.map(({ walletId }) => decimal(walletId)),
    px: plan.slots.map(({ encryptionPoint }) => decimal(encryptionPoint.x)),
    py: plan.slots.map(({ encryptionPoint }) => decimal(encryptionPoint.y)),
    leafIndices: placed.map(({ index }) => String(index)),
    siblings: placed.map(({ siblings }) =>
      siblings.map((level) => level.map((sibling) => decimal(hexToBigint(sibling)))),
    ),
  };
}
