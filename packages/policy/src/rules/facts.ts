/**
 * What the caller read from its own node before it decides. A fact that the node did not answer is undefined; a decision that needs
 * it waits.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';

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
