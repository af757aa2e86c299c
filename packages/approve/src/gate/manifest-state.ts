/**
 * What became of a stored manifest, from the ledger's votes and waiting requests.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { decisionReasons, type Ledger } from '@pool/policy';

/**
 * - `pending`: stored; nothing was asked for it, or a fact is missing
 * - `held`: people must release it
 * - `approved`: the gate voted yes
 * - `denied`: the gate voted no, or a person did
 */
export type ManifestState = 'pending' | 'held' | 'approved' | 'denied';

export type StateOfManifest = {
  readonly state: ManifestState;
  readonly reason?: string;
  readonly message?: string;
};

/** Reasons that people end. */
const heldReasons: ReadonlySet<string> = new Set([
  'hold-amount',
  'hold-new-payee',
  'hold-duplicate-roster',
  'hold-unknown-roster',
]);

/** Votes and waits about the payment itself; a withdrawal, a permit or an approval says nothing about it. */
const paymentKinds: ReadonlySet<string> = new Set(['fund-authorization', 'spend']);

export function findManifestState(ledger: Ledger, manifestDigest: Hex32): StateOfManifest {
  const votes = ledger.listVotes(manifestDigest).filter(({ kind }) => paymentKinds.has(kind));
  if (votes.some(({ value }) => value === 'approve')) {
    return { state: 'approved' };
  }
  const denied = votes.at(-1);
  if (denied !== undefined) {
    const { reason = 'denied' } = denied;
    return { state: 'denied', reason, message: decisionReasons[reason] };
  }
  const waiting = ledger
    .listWaiting()
    .find((one) => one.manifestDigest === manifestDigest && paymentKinds.has(one.kind));
  if (waiting === undefined) {
    return { state: 'pending' };
  }
  const { reason } = waiting;
  return {
    state: heldReasons.has(reason) ? 'held' : 'pending',
    reason,
    message: decisionReasons[reason],
  };
}
