/**
 * What a transaction that custodian B shows means for the request that it belongs to. Nothing of it counts unless its content is that of
 * the request, and a signature counts only for the digest that this side computed. Vectors: vectors/custodian-b.json.
 *
 * @module
 */
import { type EvmAddress, type Hex, PoolError, parseHex32 } from '@pool/core';
import { computeRequestDigest } from '@pool/policy';
import { acceptSignature } from '../accept-signature.ts';
import { describeReason, failForeign, type Step } from '../custodian/custodian-outcomes.ts';
import type { Outcome } from '../signer.ts';
import type { TransactionRecord } from './answers.ts';
import { isSameTransaction, type SupportedRequest, type VaultPlace } from './transaction-body.ts';

/** This side's own configuration. */
export type VaultExpectation = { readonly place: VaultPlace; readonly address: EvmAddress };

const denials = {
  REJECTED: 'denied',
  BLOCKED: 'blocked by a policy',
  CANCELLED: 'cancelled',
} as const;

/** @throws PoolError `custodian_invalid_response`, `signature_rejected` */
export function interpretTransaction(
  record: TransactionRecord,
  request: SupportedRequest,
  { place, address }: VaultExpectation,
): Step {
  const { id: providerId, status } = record;
  if (!isSameTransaction(record, request, place)) {
    return failForeign(providerId);
  }
  switch (status) {
    case 'SUBMITTED':
    case 'PENDING_AML_SCREENING':
    case 'PENDING_ENRICHMENT':
      return { state: 'submitted', providerId };
    case 'PENDING_AUTHORIZATION':
    case 'PENDING_3RD_PARTY':
    case 'PENDING_3RD_PARTY_MANUAL_APPROVAL':
      return { state: 'awaiting-approval', providerId };
    case 'CONFIRMING':
      // The call is on its way, and the caller watches the chain itself.
      return request.kind === 'token-approval'
        ? acceptSent(record)
        : { state: 'signing', providerId };
    case 'COMPLETED':
      return request.kind === 'token-approval'
        ? acceptSent(record)
        : { state: 'signed', providerId, signature: acceptMessage(record, request, address) };
    case 'REJECTED':
    case 'BLOCKED':
    case 'CANCELLED':
      return {
        state: 'refused',
        providerId,
        reason: 'denied',
        message: `the request was ${denials[status]} at the custodian: ${describeReason(record.subStatus)}`,
      };
    case 'TIMEOUT':
      return { state: 'expired', providerId };
    case 'FAILED':
      // The approve process used up every RETRY: nobody decided in time.
      return record.subStatus === 'TIMEOUT'
        ? { state: 'expired', providerId }
        : {
            state: 'failed',
            providerId,
            retryable: false,
            code: 'custodian_failed',
            message: `the custodian could not complete the request: ${describeReason(record.subStatus)}`,
          };
    default:
      // `QUEUED`, `PENDING_SIGNATURE`, `BROADCASTING`, and statuses of another version: the custodian still works on it.
      return { state: 'signing', providerId };
  }
}

function acceptMessage(
  { signedMessages }: TransactionRecord,
  request: SupportedRequest,
  expectedSigner: EvmAddress,
): Hex {
  const [signed, ...others] = signedMessages ?? [];
  if (signed === undefined || others.length > 0) {
    throw invalidAnswer('does not show exactly one signed message');
  }
  const digest = computeRequestDigest(request);
  if (`0x${signed.content.replace(/^0x/, '').toLowerCase()}` !== digest) {
    throw invalidAnswer('shows the signature of another digest');
  }
  const { r, s, v, fullSig } = signed.signature;
  const isSplit = typeof r === 'string' && typeof s === 'string';
  return acceptSignature({
    signature: isSplit ? { r, s, v: v ?? undefined } : (fullSig ?? ''),
    digest,
    expectedSigner,
  });
}

/** The custodian says that it sent the call. Calldata, amount and destination were compared, if the destination is shown. */
function acceptSent({ id: providerId, txHash, destinationAddress }: TransactionRecord): Outcome {
  const hash = (txHash ?? '').toLowerCase();
  if ((destinationAddress ?? '') === '' || !/^0x[0-9a-f]{64}$/.test(hash)) {
    throw invalidAnswer('sent the call, and does not show its hash and its destination');
  }
  return { state: 'sent', providerId, txHash: parseHex32(hash) };
}

function invalidAnswer(what: string): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    `the custodian ${what}; nothing of it is used`,
  );
}
