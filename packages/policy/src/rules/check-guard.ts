/**
 * The signing guard: one content for each id, for ever. The same content may be approved again.
 *
 * @module
 */
import type { Field, Hex32 } from '@pool/core';
import { computeGuardDigest, computeGuardId } from '../history/guard-id.ts';
import { emptyHistory, type GuardEntry, type LedgerHistory } from '../history/ledger-history.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import { type DecideInput, type DecisionRecord, type Finding, fail, pass } from './findings.ts';

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
  const refuse = (reason: DecisionReason): Guarded => {
    const finding = fail('signing-guard', reason, id === undefined ? undefined : `Id: ${id}.`);
    return { finding, entry: undefined, isRepeat: false };
  };
  if (id === undefined) {
    return refuse('manifest-missing');
  }
  const digest = computeGuardDigest(request);
  const known = ledger.findGuard(id);
  if (known === undefined) {
    const entry = { id, kind: request.kind, digest, firstAtMs: nowMs, isConflicted: false };
    return { finding: pass('signing-guard', 'not approved before'), entry, isRepeat: false };
  }
  if (known.isConflicted) {
    return refuse('guard-conflicted');
  }
  if (known.digest !== digest) {
    return refuse('guard-other-digest');
  }
  return {
    finding: pass('signing-guard', 'approved before, with the same content'),
    entry: known,
    isRepeat: true,
  };
}

/**
 * What the ledger stores with an approval. Undefined: the guard refused it.
 * @param list - what it adds besides the guard
 */
export function createRecord(
  { entry }: Guarded,
  manifestDigest: Hex32 | undefined,
  list: (guard: GuardEntry) => Partial<LedgerHistory> = () => ({}),
): DecisionRecord | undefined {
  return entry === undefined
    ? undefined
    : {
        manifestDigest,
        guard: entry,
        history: { ...emptyHistory, ...list(entry), guards: [entry] },
      };
}
