/**
 * The body of a signature request at custodian A. The custodian computes the digest from it, and the approver reads in it what it
 * votes about. Vectors: vectors/custodian-a.json.
 *
 * @module
 */
import type { TypedData } from '@pool/core';
import { computeRequestData, computeRequestDigest, type SignRequest } from '@pool/policy';

/** A request that a custodian can sign: a viewing key needs a signer that repeats its signatures. */
export type VotedRequest = Exclude<SignRequest, { readonly kind: 'viewing-key' }>;

/** One JSON document. Its text is signed by the user action, so the order of its fields never changes. */
export type SignatureBody = Readonly<Record<string, unknown>> & {
  readonly kind: 'Eip712' | 'Eip191' | 'Hash' | 'Transaction';
  readonly externalId: string;
};

/** @throws PoolError if the payload is not a valid document of its kind */
export function createSignatureBody(request: VotedRequest): SignatureBody {
  const { externalId } = request;
  switch (request.kind) {
    case 'fund-authorization':
    case 'void':
    case 'permit':
    case 'disclosure':
      return encodeTypedData(computeRequestData(request), externalId);
    case 'sign-in': {
      const text = Buffer.from(request.payload.message, 'utf8').toString('hex');
      return { kind: 'Eip191', message: `0x${text}`, externalId };
    }
    case 'spend':
      // The provider shows hashes without 0x.
      return { kind: 'Hash', hash: computeRequestDigest(request).slice(2), externalId };
    case 'token-approval':
      return { kind: 'Transaction', transaction: request.payload.unsignedTransaction, externalId };
  }
}

/** Typed data without its primaryType, which the provider does not take: the approver knows it by the policy. */
export function encodeTypedData(data: TypedData, externalId: string): SignatureBody {
  const message = Object.entries(data.message).map(([name, value]) => [name, String(value)]);
  return {
    kind: 'Eip712',
    types: data.types,
    domain: data.domain,
    message: Object.fromEntries(message) as Record<string, string>,
    externalId,
  };
}
