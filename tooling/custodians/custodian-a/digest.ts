/**
 * The four kinds of a signature request on an EVM wallet, and the digest that each one signs.
 *
 * @module
 */
import { getBytes, hashMessage, Transaction, TypedDataEncoder } from 'ethers';
import * as v from 'valibot';
import { ApiError } from './errors.ts';

const hex = v.pipe(v.string(), v.regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'must be hex with 0x'));
const externalId = v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(50)));

const signatureBodySchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('Eip712'),
    types: v.record(v.string(), v.array(v.strictObject({ name: v.string(), type: v.string() }))),
    domain: v.strictObject({
      name: v.optional(v.string()),
      version: v.optional(v.string()),
      chainId: v.optional(v.union([v.pipe(v.number(), v.integer()), v.string()])),
      verifyingContract: v.optional(v.string()),
      salt: v.optional(v.string()),
    }),
    message: v.record(v.string(), v.unknown()),
    externalId,
  }),
  v.strictObject({ kind: v.literal('Eip191'), message: hex, externalId }),
  v.strictObject({
    kind: v.literal('Hash'),
    hash: v.pipe(v.string(), v.regex(/^(?:0x)?[0-9a-fA-F]{64}$/, 'must be 32 bytes of hex')),
    externalId,
  }),
  v.strictObject({ kind: v.literal('Transaction'), transaction: hex, externalId }),
]);

export type SignatureBody = v.InferOutput<typeof signatureBodySchema>;

/** @throws ApiError 400 */
export function parseSignatureBody(input: unknown): SignatureBody {
  const result = v.safeParse(signatureBodySchema, input);
  if (!result.success) {
    const [issue] = result.issues;
    throw new ApiError(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
  }
  // A body that has no digest is refused before an approval is asked for.
  computeDigest(result.output);
  return result.output;
}

/**
 * The 32 bytes that the wallet signs.
 * @throws ApiError 400 when the body is no typed data or no unsigned transaction
 */
export function computeDigest(body: SignatureBody): Uint8Array {
  switch (body.kind) {
    case 'Eip712':
      return readOrRefuse('typed data', () => {
        const { EIP712Domain: _, ...types } = body.types;
        return getBytes(TypedDataEncoder.hash(definedOnly(body.domain), types, body.message));
      });
    case 'Eip191':
      return getBytes(hashMessage(getBytes(body.message)));
    case 'Hash':
      return getBytes(body.hash.startsWith('0x') ? body.hash : `0x${body.hash}`);
    case 'Transaction':
      return readOrRefuse('an unsigned transaction', () => {
        const transaction = Transaction.from(body.transaction);
        if (transaction.signature !== null) {
          throw new Error('it is signed');
        }
        return getBytes(transaction.unsignedHash);
      });
  }
}

function definedOnly(domain: object): Record<string, string | number> {
  const entries = Object.entries(domain) as [string, string | number | undefined][];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function readOrRefuse(what: string, read: () => Uint8Array): Uint8Array {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw new ApiError(400, `The body is not ${what}: ${reason.slice(0, 200)}`);
  }
}
