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
export const heldReasons: ReadonlySet<string> = new Set([
  'hold-amount',
  'hold-new-payee',
  'hold-duplicate-roster',
  'hold-unknown-roster',
  'hold-denied-roster',
]);

/** Votes and waits about the payment itself; a withdrawal, a permit or an approval says nothing about it. */
const paymentKinds: ReadonlySet<string> = new Set(['fund-authorization', 'spend']);

/** @param waiting - for a caller that asks about many manifests */
export function findManifestState(
  ledger: Pick<Ledger, 'listVotes' | 'listWaiting'>,
  manifestDigest: Hex32,
  waiting = ledger.listWaiting(),
): StateOfManifest {
  const votes = ledger.listVotes(manifestDigest).filter(({ kind }) => paymentKinds.has(kind));
  if (votes.some(({ value }) => value === 'approve')) {
    return { state: 'approved' };
  }
  const denied = votes.at(-1);
  if (denied !== undefined) {
    const { reason = 'denied' } = denied;
    return { state: 'denied', reason, message: decisionReasons[reason] };
  }
  const wait = waiting.find(
    (one) => one.manifestDigest === manifestDigest && paymentKinds.has(one.kind),
  );
  if (wait === undefined) {
    return { state: 'pending' };
  }
  const { reason } = wait;
  return {
    state: heldReasons.has(reason) ? 'held' : 'pending',
    reason,
    message: decisionReasons[reason],
  };
}
