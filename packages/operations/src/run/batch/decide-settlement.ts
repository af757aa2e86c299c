/**
 * The late-landing rule (protocol §8) as one pure decision: what the final state of the chain means for a batch whose
 * authorisation may have left this process. `failed` and `partial` require a dead authorisation. Everything uncertain waits.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import type { FundedBatch, NonceState } from '../../ports.ts';

export type SettlementDecision =
  /** The batch of this job is on chain, no matter who sent it. */
  | { readonly kind: 'settled'; readonly funded: FundedBatch }
  /** Another batch used this nonce, so another agent paid this key. */
  | { readonly kind: 'settled-elsewhere'; readonly funded: FundedBatch }
  /** The authorisation can never land. */
  | { readonly kind: 'dead'; readonly cause: 'expired' | 'voided' }
  | { readonly kind: 'wait' };

/** What the chain has decided. */
export type Outcome = Exclude<SettlementDecision, { readonly kind: 'wait' }>;

export type SettlementView = {
  /** Undefined: this process knows no batch of this job. */
  readonly batchRoot: Hex32 | undefined;
  /**
   * Unix seconds, the latest deadline of any authorisation known under this nonce. Undefined: none is known to have
   * left, so there is nothing to wait for.
   */
  readonly deadline: number | undefined;
  readonly nonce: NonceState;
};

export function decideSettlement(view: SettlementView): SettlementDecision {
  const { batchRoot, deadline, nonce } = view;
  if (nonce.funded !== undefined) {
    return nonce.funded.batchRoot === batchRoot
      ? { kind: 'settled', funded: nonce.funded }
      : { kind: 'settled-elsewhere', funded: nonce.funded };
  }
  // Mined and not final: a reorganisation may still remove it.
  if (nonce.pending) {
    return { kind: 'wait' };
  }
  if (nonce.voided) {
    return { kind: 'dead', cause: 'voided' };
  }
  if (deadline !== undefined && nonce.finalBlock.timestampSeconds > deadline) {
    return { kind: 'dead', cause: 'expired' };
  }
  return { kind: 'wait' };
}
