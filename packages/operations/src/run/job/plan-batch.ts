/**
 * The batch that follows from a stored manifest and its seed (protocol §3). Does not depend on the current settings.
 *
 * @module
 */
import { type FundManifest, fieldToHex, type Hex32, hexToBytes } from '@pool/core';
import { type FundBatchPlan, stepFundBatch } from '@pool/notes';
import type { SeededManifest } from '@pool/wallet';
import { computeInTurns, type Pace } from '@pool/wallet';

/** Confidential. */
export type Batch = {
  readonly manifest: FundManifest;
  /** 32 bytes from which everything random in the batch derives. Secret. */
  readonly seed: Hex32;
  readonly plan: FundBatchPlan;
  readonly batchRoot: Hex32;
};

/** Takes about a second for 256 slots. @param pace - awaited after each slot */
export async function planBatch({ manifest, seed }: SeededManifest, pace: Pace): Promise<Batch> {
  const plan = await computeInTurns(stepFundBatch(manifest, hexToBytes(seed, 32)), pace);
  return { manifest, seed, plan, batchRoot: fieldToHex(plan.batchRoot) };
}
