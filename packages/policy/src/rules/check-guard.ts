/**
 * The signing guard: one content for each id, for ever. The same content may be approved again.
 *
 * @module
 */
import type { Field, Hex32 } from '@pool/core';
import { computeGuardDigest, computeGuardId } from '../guard/guard-id.ts';
import type { GuardEntry } from '../ledger/ledger-view.ts';
import type { DecideInput } from './decision.ts';
import { type Finding, fail, pass } from './findings.ts';

export type Guarded = {
  readonly finding: Finding;
  /** What the ledger stores. Undefined: refused. */
  readonly entry: GuardEntry | undefined;
  /** The same content was approved before. */
  readonly isRepeat: boolean;
};

/** @param authorization - the stored manifest of the request, as far as the kind needs one */
export function checkGuard(
  input: Pick<DecideInput, 'request' | 'ledger' | 'origin' | 'nowMs'>,
  authorization: { readonly batchNonce?: Field; readonly manifestDigest?: Hex32 },
): Guarded {
  const { request, ledger, origin, nowMs } = input;
  const id = computeGuardId(request, {
    batchNonce: authorization.batchNonce,
    manifestDigest: authorization.manifestDigest,
    transactionId: origin.kind === 'custodian' ? origin.transactionId : undefined,
  });
  if (id === undefined) {
    return {
      finding: fail('signing-guard', 'manifest-missing'),
      entry: undefined,
      isRepeat: false,
    };
  }
  const digest = computeGuardDigest(request);
  const known = ledger.findGuard(id);
  const entry = { id, kind: request.kind, digest, firstAtMs: nowMs, isConflicted: false };
  if (known === undefined) {
    return { finding: pass('signing-guard', 'not approved before'), entry, isRepeat: false };
  }
  if (known.isConflicted) {
    const finding = fail('signing-guard', 'guard-conflicted', `Id: ${id}.`);
    return { finding, entry: undefined, isRepeat: false };
  }
  if (known.digest !== digest) {
    const finding = fail('signing-guard', 'guard-other-digest', `Id: ${id}.`);
    return { finding, entry: undefined, isRepeat: false };
  }
  return {
    finding: pass('signing-guard', 'approved before, with the same content'),
    entry: known,
    isRepeat: true,
  };
}
