/**
 * What a payer keeps to prove its payments after recipients and seed are erased (docs/disclosure.md): the openings of each note that it
 * paid, with memo and evidence, and what shows that it is the payer. The seed is not among them. Confidential, so the caller encrypts them.
 *
 * @module
 */
import {
  assertField,
  type DisclosedInsertion,
  type EvmAddress,
  type FundManifest,
  fieldToHex,
  type Hex32,
  hexToBytes,
  parseEvmAddress,
  type SpendManifest,
  spendShapes,
} from '@pool/core';
import { buildSpend, openSpendPayments, stepBatchPayments } from '@pool/notes';
import { computeInTurns, type Pace } from '../give-way.ts';
import type { ArchivedSpend } from './spend-archive.ts';

/** The manifest, and the seed of everything random in the batch. Secret. */
export type SeededManifest = { readonly manifest: FundManifest; readonly seed: Hex32 };

/** The openings of one batch or spend. */
export type KeptOpenings = {
  readonly version: 1;
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly token: EvmAddress;
  /** Root of the commitments: it names the batch or spend on chain. */
  readonly root: Hex32;
  /** The transaction that settled it. */
  readonly txHash: Hex32;
  readonly paidAtMs: number;
  /** Idempotency-Key of a batch. */
  readonly jobKey?: string;
  /** All payees with memos and all sealed notes. `index` is 0: the chain has it. */
  readonly insertion: DisclosedInsertion;
};

/** A paid batch, before its recipients and seed are erased. */
export type PaidBatch = SeededManifest & {
  readonly jobKey: string;
  readonly txHash: Hex32;
  readonly paidAtMs: number;
};

/** Takes about a second for 256 slots. @param pace - awaited after each slot */
export async function openBatch(
  { manifest, seed, jobKey, txHash, paidAtMs }: PaidBatch,
  pace: Pace,
): Promise<KeptOpenings> {
  const choice = { txHash, index: 0, payees: everyone(manifest.recipients), withMemos: true };
  const steps = stepBatchPayments(manifest, hexToBytes(seed, 32), choice);
  const { insertion, root } = await computeInTurns(steps, pace);
  return { ...placeOf(manifest), root: fieldToHex(root), txHash, paidAtMs, jobKey, insertion };
}

/** @returns undefined for a spend that paid no note, was not settled, or is erased */
export function openSpend(spend: ArchivedSpend): KeptOpenings | undefined {
  const { secrets, state, outRoot, createdAtMs } = spend;
  if (secrets === undefined || state.kind !== 'settled' || secrets.manifest.outputs.length === 0) {
    return undefined;
  }
  const { manifest } = secrets;
  const seed = hexToBytes(secrets.seed, 32);
  const { txHash } = state;
  const choice = { txHash, index: 0, payees: everyone(manifest.outputs), withMemos: true };
  const insertion = openSpendPayments(manifest, seed, fillInputs(manifest), choice);
  const root = buildSpend(manifest, seed, fillInputs(manifest)).operation.outRoot;
  if (fieldToHex(root) !== outRoot) {
    throw new Error('an archived spend has another root than its manifest gives');
  }
  return { ...placeOf(manifest), root: outRoot, txHash, paidAtMs: createdAtMs, insertion };
}

/** Outputs do not depend on the nullifiers of dummy inputs, so the viewing key is not needed: distinct numbers are enough. */
export function fillInputs({ circuit, inputNullifiers }: SpendManifest) {
  const free = spendShapes[circuit].inputs - inputNullifiers.length;
  return Array.from({ length: free }, (_, place) => assertField(BigInt(place + 1)));
}

function everyone(people: readonly unknown[]): readonly number[] {
  return people.map((_, place) => place);
}

function placeOf({ chainId, pool, token }: FundManifest | SpendManifest) {
  return {
    version: 1 as const,
    chainId,
    pool: parseEvmAddress(pool),
    token: parseEvmAddress(token),
  };
}
