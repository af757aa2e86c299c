/**
 * The next step for a nonce whose transactions are not mined. Whoever sends keeps the same order: store signed bytes, then send them.
 *
 * @module
 */
import { isReplacementDue } from './replacement.ts';
import { type SignedTransaction, signWithinCap } from './transaction-signer.ts';

/** The newest stored transaction of a nonce. */
export type StoredTransaction = {
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly signedAtMs: number;
  /** How many transactions of this nonce are stored, at least 1. */
  readonly count: number;
};

export type SendAgainDeps = {
  readonly nowMs: () => number;
  /** How long the first transaction of a nonce waits to be mined before it is replaced. */
  readonly replaceAfterMs: number;
  /** Next nonce of its account by the chain's newest block. */
  readonly fetchNonce: () => Promise<number>;
  /** Sends stored bytes. */
  readonly broadcast: (rawTransaction: string) => Promise<void>;
  /** Signs another transaction for the nonce, with higher fees. @throws PoolError `fee_cap_reached` */
  readonly sign: () => Promise<SignedTransaction>;
  /** Stores what was signed. False: it must not be sent. */
  readonly store: (signed: SignedTransaction) => Promise<boolean>;
};

/** Sends the newest bytes again, or, after a long wait, a replacement that is stored first. */
export async function sendAgain(newest: StoredTransaction, deps: SendAgainDeps): Promise<void> {
  const { count, signedAtMs, nonce } = newest;
  // Not replaced: a transaction that waits behind another nonce, and one that the head has mined.
  const mayReplace =
    isReplacementDue(count, signedAtMs, deps.nowMs(), deps.replaceAfterMs) &&
    (await deps.fetchNonce()) === nonce;
  const signed = mayReplace ? await signWithinCap(deps.sign) : undefined;
  if (signed === undefined) {
    // Where the cap forbids higher fees, the sent bytes may still be mined when the chain asks for less.
    await deps.broadcast(newest.rawTransaction);
  } else if (await deps.store(signed)) {
    await deps.broadcast(signed.rawTransaction);
  }
}
