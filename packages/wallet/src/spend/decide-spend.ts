/**
 * The late-landing rule of spends (protocol §8) as one pure decision: what the final state of the chain means for a spend whose
 * authorisation may have left this machine. Everything uncertain waits.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import type { NullifierState } from './spend-ports.ts';

export type SpendDecision =
  /** The spend is on chain, no matter who sent it. */
  | { readonly kind: 'settled' }
  /** Another spend used one of the inputs, so this one can never land. */
  | { readonly kind: 'already-spent' }
  /** The deadline has passed, and the contract refuses the spend from now on. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'wait' };

export type SpendView = {
  readonly outRoot: Hex32;
  /** Unix seconds. The contract accepts the spend while `block.timestamp <= deadline`. */
  readonly deadline: number;
  readonly nullifiers: NullifierState;
};

export function decideSpend({ outRoot, deadline, nullifiers }: SpendView): SpendDecision {
  const { outRoots, pending, finalBlock } = nullifiers;
  const used = outRoots.filter((root) => root !== undefined);
  if (used.includes(outRoot)) {
    return { kind: 'settled' };
  }
  if (used.length > 0) {
    return { kind: 'already-spent' };
  }
  // Mined and not final: a reorganisation may still remove it.
  if (pending) {
    return { kind: 'wait' };
  }
  return finalBlock.timestampSeconds > deadline ? { kind: 'expired' } : { kind: 'wait' };
}
