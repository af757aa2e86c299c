/**
 * What the caller read from its own node before it decides. A fact that the node did not answer is undefined; a decision that needs
 * it waits.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';

export type Facts = {
  /**
   * The batch of the request: unused, used, or voided. A signer without a node passes `open`: the contract refuses a used batch
   * again.
   */
  readonly batch?: 'open' | 'used' | 'voided' | undefined;
  /**
   * The attempt before this one, at a final block. `dead`: its deadline passed unused, or it was voided. `settled`: its batch was
   * funded, under any root.
   */
  readonly previousAttempt?: 'dead' | 'settled' | 'alive' | undefined;
  /** Nullifiers of the request that are used on chain, in any block. */
  readonly usedNullifiers?: readonly Hex32[] | undefined;
  /** Manifest digests of earlier spends over the same nullifiers that can no longer land, at a final block. */
  readonly deadSpends?: readonly Hex32[] | undefined;
};
