/**
 * Which recipients could be paid now, why the others could not, and when each one signed in. The judgement is that of a
 * disbursement ({@link judgeInTurns}); this module adds the facts behind it. Moves nothing.
 *
 * @module
 */
import type { Readiness, RecipientRecord } from '@pool/api';
import { type EvidenceDomain, type EvmAddress, isPoolError, verifyEvidence } from '@pool/core';
import type { ChainContext } from '../ports.ts';
import { judgeInTurns } from './check-registration.ts';
import type { CheckDeps } from './checks.ts';

export type RecipientStanding = {
  readonly address: EvmAddress;
  /** A disbursement would pay this recipient now. The funder's money is not checked. */
  readonly isReady: boolean;
  /** The platform's answer. `ready` with `isReady` false: the sign-in evidence is invalid. */
  readonly readiness: Readiness;
  /** Why the recipient is not ready. Absent: it is. */
  readonly reason?: string;
  /** When the wallet signed in with its encryption key. Absent: it has not, or the evidence is invalid. */
  readonly signedInAtMs?: number;
};

export type InspectDeps = Pick<CheckDeps, 'platform' | 'evidence' | 'hasGate'> & {
  /** For reading the time of a sign-in. */
  readonly evidenceDomain: EvidenceDomain;
  readonly nowMs: () => number;
};

/**
 * One result per address, in their order.
 * @throws PoolError 503 `platform_unreachable`, `edge_token_refused`, `platform_invalid_response`
 */
export async function inspectRecipients(
  addresses: readonly EvmAddress[],
  context: ChainContext,
  deps: InspectDeps,
): Promise<readonly RecipientStanding[]> {
  const entries = addresses.map((address) => ({ address }));
  const standings: RecipientStanding[] = [];
  for await (const [{ address }, verdict, record] of judgeInTurns(entries, context, deps)) {
    const signedInAtMs = readSignInTime(record, deps);
    standings.push({
      address,
      isReady: verdict.kind === 'verified',
      readiness: deps.hasGate ? (record?.readiness ?? 'not_enrolled') : 'eligibility_disabled',
      ...(verdict.kind === 'verified' ? {} : { reason: verdict.reason }),
      ...(signedInAtMs === undefined ? {} : { signedInAtMs }),
    });
  }
  return standings;
}

function readSignInTime(
  record: RecipientRecord | undefined,
  { evidenceDomain, nowMs }: InspectDeps,
): number | undefined {
  if (record?.evidence === undefined) {
    return undefined;
  }
  try {
    return verifyEvidence(record.evidence, evidenceDomain, nowMs()).issuedAtMs;
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}
