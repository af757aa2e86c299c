/**
 * What the caller has to read from its own node before it decides. Pure: it names the questions, and the caller answers them as
 * {@link Facts}.
 *
 * @module
 */
import {
  computeBatchId,
  computeBatchNonce,
  type EvmAddress,
  fieldToHex,
  type Hex32,
} from '@pool/core';
import { computeBatchGuardId } from '../history/guard-id.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { RebuiltFund, RebuiltManifest } from '../rebuild/rebuild-manifest.ts';

/** The newest block of a node. */
export type ClockWitness = {
  /** Its time, Unix seconds. */
  readonly blockSeconds: number;
  /** How much the host's clock may differ from it. */
  readonly maxDifferenceSeconds: number;
};

export type Facts = {
  /** Newest blocks, each of which must agree with the clock. A signer without a node passes none. */
  readonly clock?: readonly ClockWitness[] | undefined;
  /**
   * The batch of the request: unused, used, or voided. A signer without a node passes `open`: the contract refuses a used batch
   * again.
   */
  readonly batch?: 'open' | 'used' | 'voided' | undefined;
  /**
   * The attempt before this one, at a final block of each node. `dead`: its deadline passed unused, by the blocks and by the own clock with
   * {@link deadMarginSeconds}; or it was voided, where it was never approved or two nodes say so. `settled`: its batch was funded, under
   * any root.
   */
  readonly previousAttempt?: 'dead' | 'settled' | 'alive' | undefined;
  /** Nullifiers of the request that are used on chain, in any block. */
  readonly usedNullifiers?: readonly Hex32[] | undefined;
  /** Manifest digests of earlier spends over the same nullifiers that can no longer land, at a final block. */
  readonly deadSpends?: readonly Hex32[] | undefined;
};

/** A batch on chain. */
export type BatchQuestion = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly funder: EvmAddress;
  readonly batchNonce: Hex32;
  readonly batchId: Hex32;
  /** Unix seconds. Undefined: unknown, so only a voided batch is dead. */
  readonly deadline: number | undefined;
  /** Its authorisation was approved, as far as the ledger knows. */
  readonly isApproved: boolean;
};

/**
 * How long after a deadline the own clock must be until an attempt or a spend counts as dead, seconds. A node's blocks alone prove
 * nothing: one lying node would have a second payment signed while the first may land.
 */
export const deadMarginSeconds = 900;

export type FactQuestions = {
  /** For `facts.batch`. */
  readonly batch: BatchQuestion | undefined;
  /** For `facts.previousAttempt`. Undefined: this is the first. */
  readonly previousAttempt: BatchQuestion | undefined;
  /** For `facts.usedNullifiers`. */
  readonly nullifiers:
    | { readonly chainId: number; readonly pool: EvmAddress; readonly values: readonly Hex32[] }
    | undefined;
  /** For `facts.deadSpends`: dead when the clock and a final block are past the deadline, and the shared nullifiers are unused in it. */
  readonly earlierSpends: readonly {
    readonly manifestDigest: Hex32;
    readonly deadline: number;
    readonly nullifiers: readonly Hex32[];
  }[];
};

export function listFactQuestions(manifest: RebuiltManifest, ledger: LedgerView): FactQuestions {
  if (manifest.kind === 'fund') {
    const batchNonce = fieldToHex(manifest.batchNonce);
    const batchId = fieldToHex(manifest.batchId);
    return {
      batch: ask(ledger, { ...manifest, batchNonce, batchId }, manifest.file.deadline),
      previousAttempt: manifest.attempt === 1 ? undefined : findPrevious(manifest, ledger),
      nullifiers: undefined,
      earlierSpends: [],
    };
  }
  const { chainId, pool, nullifiers, manifestDigest } = manifest;
  const others = ledger
    .listNullifiers(nullifiers)
    .filter((entry) => entry.manifestDigest !== manifestDigest);
  const digests = [...new Set(others.map((entry) => entry.manifestDigest))];
  return {
    batch: undefined,
    previousAttempt: undefined,
    nullifiers: { chainId, pool, values: nullifiers },
    earlierSpends: digests.map((digest) => {
      const shared = others.filter((entry) => entry.manifestDigest === digest);
      return {
        manifestDigest: digest,
        deadline: Math.max(...shared.map(({ deadline }) => deadline)),
        nullifiers: shared.map(({ nullifier }) => nullifier),
      };
    }),
  };
}

/** The attempt before this one, as it was stored, or as it would have been under the same funder and pool. */
function findPrevious(manifest: RebuiltFund, ledger: LedgerView): BatchQuestion {
  const { employerId, jobKey, chainId, pool, funder } = manifest;
  const attempt = manifest.attempt - 1;
  const stored = ledger
    .listAttempts(employerId, jobKey)
    .find((entry) => entry.batch?.attempt === attempt);
  if (stored?.batch !== undefined) {
    return ask(ledger, { ...stored, ...stored.batch }, stored.deadline, stored.digest);
  }
  const nonce = computeBatchNonce({ employerId, chainId, pool, funder, jobKey, attempt });
  const batchId = fieldToHex(computeBatchId(funder, nonce));
  return ask(ledger, { chainId, pool, funder, batchNonce: fieldToHex(nonce), batchId }, undefined);
}

/**
 * @param digest - of the stored authorisation. If another one of this batch was approved, as a re-baselined ledger learns, its deadline
 *   may be later
 */
function ask(
  ledger: LedgerView,
  { chainId, pool, funder, batchNonce, batchId }: Omit<BatchQuestion, 'deadline' | 'isApproved'>,
  deadline: number | undefined,
  digest?: Hex32,
): BatchQuestion {
  const id = computeBatchGuardId('fund-authorization', chainId, pool, funder, batchNonce);
  const guard = ledger.findGuard(id);
  const isOther = digest !== undefined && guard !== undefined;
  return {
    ...{ chainId, pool, funder, batchNonce, batchId },
    deadline: isOther && (guard.isConflicted || guard.digest !== digest) ? undefined : deadline,
    isApproved: guard !== undefined,
  };
}
