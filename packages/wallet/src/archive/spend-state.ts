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
import { type FaultPointOf, listFaultPoints, type PhaseTable } from '@pool/idempotency/engine';

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
const ending = { before: 'outcome.before-store', after: 'outcome.after-store' } as const;

export const spendPhases = {
  archived: {
    next: ['signed', 'recovered', 'abandoned', ...byChain],
    facts: { isAsked: 'may' },
    stored: { before: 'archive.before-store', after: 'archive.after-store' },
    work: ['started', 'checked', 'key.after-claim', 'key.after-bind', 'signature.before-ask'],
  },
  signed: {
    next: ['released', 'abandoned', ...byChain],
    facts: { signature: 'must' },
    stored: { before: 'signature.before-store', after: 'signature.after-store' },
    work: ['proof.made'],
  },
  released: {
    next: [...byChain],
    facts: { signature: 'must', revert: 'may', givenUp: 'may' },
    stored: { before: 'release.before-store', after: 'release.after-store' },
    work: ['spend.posted', 'outcome.observed'],
  },
  recovered: { next: [...byChain], facts: { revert: 'may' }, stored: {}, work: [] },
  settled: {
    next: [],
    facts: { txHash: 'must', blockNumber: 'must' },
    stored: ending,
    work: [],
  },
  reverted: { next: [], facts: { revert: 'must' }, stored: ending, work: [] },
  expired: { next: [], facts: { lastRefusal: 'may' }, stored: ending, work: [] },
  'already-spent': { next: [], facts: {}, stored: ending, work: [] },
  abandoned: { next: [], facts: { code: 'must' }, stored: {}, work: [] },
} as const satisfies PhaseTable<SpendState>;

/** Every place of a spend where a crash could matter. `SpendDeps.onFaultPoint` is called at each of them. */
export const spendFaultPoints = listFaultPoints(spendPhases);

export type SpendFaultPoint = FaultPointOf<typeof spendPhases>;

/** True while the chain has not decided, so somebody must watch. */
export function isOpen({ kind }: SpendState): boolean {
  return spendPhases[kind].next.length > 0;
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
