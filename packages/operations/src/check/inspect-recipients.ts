/**
 * Which recipients could be paid now, why the others could not, and when each one signed in. The judgement is that of a
 * disbursement ({@link walkRegistration}); this module adds the facts behind it. Moves nothing.
 *
 * @module
 */
import type { Readiness, RecipientRecord } from '@pool/api';
import { type EvidenceDomain, type EvmAddress, isPoolError, verifyEvidence } from '@pool/core';
import type { ChainContext } from '../ports.ts';
import { walkRegistration } from './check-registration.ts';
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

export type InspectDeps = Pick<CheckDeps, 'platform' | 'evidence' | 'paidKeys' | 'hasGate'> & {
  /** For reading the time of a sign-in. */
  readonly evidenceDomain: EvidenceDomain;
  readonly nowMs: () => number;
};

/** Addresses in one look-up. */
const addressesPerLookup = 256;

/**
 * One result per address, in their order.
 * @throws PoolError 503 `platform_unreachable`, `edge_token_refused`, `platform_invalid_response`
 */
export async function inspectRecipients(
  addresses: readonly EvmAddress[],
  context: ChainContext,
  deps: InspectDeps,
): Promise<readonly RecipientStanding[]> {
  const standings: RecipientStanding[] = [];
  for (let start = 0; start < addresses.length; start += addressesPerLookup) {
    const asked = addresses.slice(start, start + addressesPerLookup);
    standings.push(...(await inspectSome(asked, context, deps)));
  }
  return standings;
}

async function inspectSome(
  addresses: readonly EvmAddress[],
  context: ChainContext,
  deps: InspectDeps,
): Promise<readonly RecipientStanding[]> {
  const records = new Map<string, RecipientRecord>();
  const platform: InspectDeps['platform'] = {
    async lookupRecipients(chain, asked) {
      const found = await deps.platform.lookupRecipients(chain, asked);
      for (const record of found) {
        records.set(record.address.toLowerCase(), record);
      }
      return found;
    },
  };
  const entries = addresses.map((address, requestIndex) => ({
    requestIndex,
    address,
    amount: undefined,
    memo: undefined,
  }));
  const reasons = new Map<number, string>();
  const checks = { ...deps, hasGate: deps.hasGate, platform, routeChain: refuseToRoute };
  const request = { unregistered: 'fail' as const };
  for await (const issue of walkRegistration(request, entries, context, checks)) {
    reasons.set(issue.requestIndex, issue.message.replace(/^recipients\[[0-9]+\]: /, ''));
  }
  return addresses.map((address, index): RecipientStanding => {
    const record = records.get(address.toLowerCase());
    const reason = reasons.get(index);
    const signedInAtMs = readSignInTime(record, deps);
    return {
      address,
      isReady: reason === undefined,
      readiness: deps.hasGate ? (record?.readiness ?? 'not_enrolled') : 'eligibility_disabled',
      ...(reason === undefined ? {} : { reason }),
      ...(signedInAtMs === undefined ? {} : { signedInAtMs }),
    };
  });
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

function refuseToRoute(): never {
  throw new Error('the chain is known already');
}
