/**
 * The state of an archived spend, and the states that may follow it. Every step that depends on how far a spend is switches on it.
 *
 *     archived ──► signed ──► released ──► settled | reverted | expired | already-spent
 *         └──────────┴──► abandoned
 *
 * A spend may end without the states in between: the archive may have been restored from a backup, and then the chain knows more than
 * the archive does. `recovered` replaces `released` where the archive is older than the signature.
 *
 * @module
 */
import type { ErrorBody, Hex32 } from '@pool/core';

/** The holder's signature over m. Public once the spend is sent, and secret before: it belongs to one W. */
export type StoredSignature = { readonly rSig: Hex32; readonly s: Hex32; readonly parity: 0 | 1 };

/** A final transaction that carried the spend and reverted. */
export type SpendRevert = { readonly txHash: Hex32; readonly error: ErrorBody };

export type SpendState =
  /** Manifest and seed are stored. No signature has arrived. `isAsked`: the signer may have made one, or may make it later. */
  | { readonly kind: 'archived'; readonly isAsked?: true }
  /** The signature is stored. Nothing has left this machine. */
  | { readonly kind: 'signed'; readonly signature: StoredSignature }
  /**
   * The authorisation may have left: only the chain can say that it is dead (protocol §8, "Late landing"). `givenUp`: why the platform
   * refuses it for good, so that it is not sent again.
   */
  | {
      readonly kind: 'released';
      readonly signature: StoredSignature;
      readonly revert?: SpendRevert;
      readonly givenUp?: ErrorBody;
    }
  /** As `released`, but this archive does not have the signature. Nothing can be sent again. */
  | { readonly kind: 'recovered'; readonly revert?: SpendRevert }
  /** A final block has the spend, no matter who sent it. */
  | { readonly kind: 'settled'; readonly txHash: Hex32; readonly blockNumber: number }
  /** A transaction with the spend reverted, and the authorisation is dead. Nothing moved. */
  | { readonly kind: 'reverted'; readonly revert: SpendRevert }
  /** The deadline has passed in a final block, and no input is used. */
  | { readonly kind: 'expired'; readonly lastRefusal?: ErrorBody }
  /** Another spend used one of the inputs. */
  | { readonly kind: 'already-spent' }
  /** It failed before anything left. The notes are free again. */
  | { readonly kind: 'abandoned'; readonly code: string };

export type SpendStateKind = SpendState['kind'];

/** How the chain can end a spend that is not released. */
const byChain = ['settled', 'reverted', 'expired', 'already-spent'] as const;

/**
 * The states that may follow each state. A spend also stays in its state while other facts of it change. A write with another change
 * is refused ({@link assertSpendTransition}).
 */
export const spendTransitions: Readonly<Record<SpendStateKind, readonly SpendStateKind[]>> = {
  archived: ['signed', 'recovered', 'abandoned', ...byChain],
  signed: ['released', 'abandoned', ...byChain],
  released: [...byChain],
  recovered: [...byChain],
  settled: [],
  reverted: [],
  expired: [],
  'already-spent': [],
  abandoned: [],
};

/** True while the chain has not decided, so somebody must watch. */
export function isOpen({ kind }: SpendState): boolean {
  return spendTransitions[kind].length > 0;
}

/** True while no other spend may use the inputs. A settled spend keeps its lock: a note store may learn of the spend later. */
export function holdsInputs(state: SpendState): boolean {
  return isOpen(state) || state.kind === 'settled';
}

/** True if nothing of the spend has left this machine, as far as the archive knows. */
export function isUnreleased({ kind }: SpendState): boolean {
  return kind === 'archived' || kind === 'signed';
}

/** Why a released spend is not sent again. Undefined: it may be sent. */
export function findGivenUp(state: SpendState): ErrorBody | undefined {
  return state.kind === 'released' ? state.givenUp : undefined;
}

/** True if a request for the signature may be at the signer, and no signature has arrived. */
export function isAskedFor(state: SpendState): boolean {
  return state.kind === 'archived' && state.isAsked === true;
}

/**
 * True if no signature over the spend exists and none will, or if the signer is part of this process and forgets it. Only then may the
 * notes be used by another spend at once: a signer outside this process signs no second spend of a note while the first one can land.
 * @param isRefused - the signer gave its final answer, and it was no
 */
export function mayAbandon(
  state: SpendState,
  { isRemote, isRefused }: { readonly isRemote: boolean; readonly isRefused: boolean },
): boolean {
  switch (state.kind) {
    case 'archived':
      return state.isAsked !== true || isRefused || !isRemote;
    case 'signed':
      return !isRemote;
    default:
      return false;
  }
}

/** @throws Error for a change that {@link spendTransitions} does not contain */
export function assertSpendTransition(from: SpendStateKind, to: SpendStateKind): void {
  if (from !== to && !spendTransitions[from].includes(to)) {
    throw new Error(`a spend cannot go from ${from} to ${to}`);
  }
}
