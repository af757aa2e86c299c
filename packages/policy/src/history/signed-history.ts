/**
 * What a custodian's own history says was approved, as a history of the ledger: for the comparison at start, and to re-baseline a
 * ledger that was restored from a backup.
 *
 * @module
 */
import type { EvmAddress, Hex32 } from '@pool/core';
import type { SignRequest } from '../requests/requests.ts';
import {
  computeCountScope,
  computeDay,
  computeGuardDigest,
  computeGuardId,
  computeSpendDigestId,
} from './guard-id.ts';
import {
  type CountEntry,
  emptyHistory,
  type GuardEntry,
  type LedgerHistory,
} from './ledger-history.ts';

/** One signature of the past. */
export type SignedRequest =
  | { readonly kind: 'request'; readonly request: SignRequest; readonly atMs: number }
  /** A custodian shows only m of a spend. `holder`: whose wallet signed it, where the policy lists the wallet. */
  | {
      readonly kind: 'spend-digest';
      readonly digest: Hex32;
      readonly holder?: EvmAddress | undefined;
      readonly atMs: number;
    };

/**
 * Permits and token approvals are left out: their ids need the manifest, and without a batch they pay nobody. A spend is guarded by
 * its digest: its notes and its sum are unknown. So are the people of a batch. `check-learnt.ts` says what waits because of it.
 */
export function createSignedHistory(signed: readonly SignedRequest[]): LedgerHistory {
  const guards: GuardEntry[] = [];
  const counts: CountEntry[] = [];
  for (const one of signed) {
    const guard = createGuard(one);
    if (guard !== undefined) {
      guards.push(guard);
    }
    if (one.kind === 'request' && guard !== undefined) {
      counts.push(...createCount(one.request, guard.id, one.atMs));
    }
  }
  return { ...emptyHistory, guards, counts };
}

function createGuard(signed: SignedRequest): GuardEntry | undefined {
  const common = { firstAtMs: signed.atMs, isConflicted: false };
  if (signed.kind === 'spend-digest') {
    const { digest, holder } = signed;
    return { ...common, id: computeSpendDigestId(holder, digest), kind: 'spend', digest };
  }
  const { request } = signed;
  const id = computeGuardId(request, { batchNonce: undefined, manifestDigest: undefined });
  return id === undefined
    ? undefined
    : { ...common, id, kind: request.kind, digest: computeGuardDigest(request) };
}

function createCount(request: SignRequest, guardId: string, atMs: number): readonly CountEntry[] {
  if (request.kind !== 'fund-authorization') {
    return [];
  }
  const { chainId, pool, authorization } = request.payload;
  const { token, total } = authorization;
  return [
    {
      guardId,
      scope: computeCountScope({ chainId, pool, token }),
      day: computeDay(atMs),
      amount: total,
      atMs,
    },
  ];
}
