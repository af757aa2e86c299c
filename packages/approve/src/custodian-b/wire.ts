/**
 * Reads a transaction of custodian B: the content that the custodian stores, and the digest that it is about to sign.
 *
 * @module
 */
import { type Hex32, parseEvmAddress, parseHex, parseHex32 } from '@pool/core';
import { tooLarge } from '@pool/http-client';
import * as v from 'valibot';
import { foreign, type Reading, readHexText, readTransaction } from '../preimage/preimage.ts';
import { readTypedData } from '../preimage/typed-data.ts';

const text = v.pipe(v.string(), v.maxLength(256));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(256));
const hex = v.pipe(v.string(), v.maxLength(4_096));

/** What the gate reads. The co-signer sends more fields, which differ between the two stages. */
export const callbackSchema = v.object({
  requestId: name,
  txId: v.optional(text),
  externalTxId: v.optional(text),
  operation: name,
  sourceType: v.optional(text),
  sourceId: v.union([name, v.pipe(v.number(), v.transform(String))]),
  destAddress: v.optional(text),
  amountStr: v.optional(text),
  signerId: name,
  rawTx: v.optional(
    v.pipe(v.array(v.object({ payload: hex, rawTx: v.optional(hex) })), v.maxLength(16)),
  ),
});
export type Callback = v.InferOutput<typeof callbackSchema>;

export type CallbackAnswer = {
  readonly action: 'APPROVE' | 'REJECT' | 'RETRY';
  readonly requestId: string;
  /** Public: the custodian shows it. */
  readonly rejectionReason?: string;
};

const transactionSchema = v.object({
  id: name,
  operation: name,
  status: v.optional(name),
  source: v.object({
    type: v.literal('VAULT_ACCOUNT'),
    id: v.union([name, v.pipe(v.number(), v.transform(String))]),
  }),
  createdBy: v.optional(name),
  destinationAddress: v.optional(v.pipe(v.string(), v.maxLength(256))),
  extraParameters: v.optional(v.unknown()),
});
export type FetchedTransaction = v.InferOutput<typeof transactionSchema>;

/** Undefined: the answer is not a transaction. */
export function parseTransaction(json: unknown): FetchedTransaction | undefined {
  const parsed = v.safeParse(transactionSchema, json);
  return parsed.success ? parsed.output : undefined;
}

const typedMessageSchema = v.strictObject({
  rawMessageData: v.strictObject({
    messages: v.strictTuple([
      v.variant('type', [
        v.strictObject({
          type: v.literal('EIP712'),
          content: v.strictObject({
            types: v.unknown(),
            domain: v.unknown(),
            message: v.unknown(),
            primaryType: v.unknown(),
          }),
          index: v.nullish(v.literal(0)),
        }),
        v.strictObject({
          type: v.literal('EIP191'),
          content: v.pipe(v.string(), v.maxLength(16_384)),
          index: v.nullish(v.literal(0)),
        }),
      ]),
    ]),
    algorithm: v.nullish(v.literal('MPC_ECDSA_SECP256K1')),
  }),
});

const contractCallSchema = v.strictObject({
  contractCallData: v.pipe(v.string(), v.regex(/^(?:0x)?[0-9a-fA-F]{2,2048}$/)),
});

/** What a fetched transaction signs. @param chainId - of a contract call that is not built yet; undefined: no chain lists its destination */
export function readTransactionContent(
  transaction: FetchedTransaction,
  callback: Pick<Callback, 'destAddress' | 'amountStr' | 'rawTx'>,
  chainId: number | undefined,
): Reading {
  switch (transaction.operation) {
    case 'TYPED_MESSAGE':
      return readMessage(transaction.extraParameters);
    case 'CONTRACT_CALL':
      return readCall(transaction, callback, chainId);
    default:
      return foreign('the operation is neither a typed message nor a contract call');
  }
}

/** Statuses in which a contract call is authorised, and nothing is signed yet. */
const statusesBeforeSigning: ReadonlySet<string> = new Set([
  'SUBMITTED',
  'PENDING_AML_SCREENING',
  'PENDING_ENRICHMENT',
  'PENDING_AUTHORIZATION',
]);

/**
 * A contract call that is about to be signed, and whose transaction the co-signer does not show: its fees cannot be checked. A status that
 * is not known counts as one of the signing stage.
 */
export function isHiddenAtSigning(
  { operation, status = '' }: FetchedTransaction,
  { rawTx }: Pick<Callback, 'rawTx'>,
): boolean {
  return (
    operation === 'CONTRACT_CALL' &&
    rawTx?.[0]?.rawTx === undefined &&
    !statusesBeforeSigning.has(status)
  );
}

function readMessage(extraParameters: unknown): Reading {
  if (extraParameters === tooLarge) {
    return foreign('the request is larger than the gate reads');
  }
  const parsed = v.safeParse(typedMessageSchema, extraParameters);
  if (!parsed.success) {
    return foreign('the typed message is not exactly one document, or has an unknown field');
  }
  const [message] = parsed.output.rawMessageData.messages;
  return message.type === 'EIP712'
    ? readTypedData(message.content)
    : readHexText(withPrefix(message.content));
}

function readCall(
  transaction: FetchedTransaction,
  callback: Pick<Callback, 'destAddress' | 'amountStr' | 'rawTx'>,
  chainId: number | undefined,
): Reading {
  if (!/^0(?:\.0+)?$/.test(callback.amountStr ?? '0')) {
    return foreign('the contract call carries coins');
  }
  const unsigned = callback.rawTx?.[0]?.rawTx;
  if (unsigned !== undefined) {
    const built = readTransaction(withPrefix(unsigned));
    return built.kind === 'transaction' ? { ...built, kind: 'built-call' } : built;
  }
  const parsed = v.safeParse(contractCallSchema, transaction.extraParameters);
  const to = transaction.destinationAddress || callback.destAddress;
  if (!parsed.success || to === undefined || !/^0x[0-9a-fA-F]{40}$/.test(to)) {
    return foreign('the contract call has no destination, or an unknown field');
  }
  if (chainId === undefined) {
    return foreign('no chain of the gate lists the token that the contract call goes to');
  }
  const data = parseHex(withPrefix(parsed.output.contractCallData).toLowerCase());
  try {
    return { kind: 'call', chainId, to: parseEvmAddress(to), data };
  } catch {
    return foreign('the destination of the contract call is not an address');
  }
}

/** The digests that a callback says the co-signer is about to sign. Undefined: one of them is not 32 bytes. */
export function readDigests({ rawTx = [] }: Pick<Callback, 'rawTx'>): readonly Hex32[] | undefined {
  const digests = rawTx.map(({ payload }) => withPrefix(payload).toLowerCase());
  return digests.every((digest) => /^0x[0-9a-f]{64}$/.test(digest))
    ? digests.map((digest) => parseHex32(digest))
    : undefined;
}

function withPrefix(hex: string): string {
  return hex.startsWith('0x') ? hex : `0x${hex}`;
}
