/**
 * The body of a transaction request at custodian B: a typed message, from which the custodian computes the digest, or the call of a
 * token's `approve`, which the custodian signs and sends itself. Never RAW: that operation signs bare bytes. Vectors:
 * vectors/custodian-b.json.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type EvmAddress,
  type Hex,
  parseEvmAddress,
  parseHex,
  type TypedData,
  tryParseEvmAddress,
} from '@pool/core';
import { computeRequestData, type SignRequest, type TokenApprovalRequest } from '@pool/policy';
import { Transaction } from 'ethers';
import * as v from 'valibot';
import { contractCallSchema, type TransactionRecord, typedMessageSchema } from './answers.ts';

/** The kinds that custodian B signs for a funder. */
export const supportedKinds = [
  'fund-authorization',
  'void',
  'permit',
  'token-approval',
  'sign-in',
] as const;

/** A request that custodian B signs. */
export type SupportedRequest = Extract<
  SignRequest,
  { readonly kind: (typeof supportedKinds)[number] }
>;

/** Where the custodian signs: one asset of one vault account. */
export type VaultPlace = { readonly vaultAccountId: string; readonly assetId: string };

/** One JSON document. Its text is hashed by the token of the request, so the order of its fields never changes. */
export type TransactionBody = Readonly<Record<string, unknown>> & {
  readonly operation: 'TYPED_MESSAGE' | 'CONTRACT_CALL';
  readonly externalTxId: string;
};

/** @throws PoolError if the payload is not a valid document of its kind */
export function createTransactionBody(
  request: SupportedRequest,
  { assetId, vaultAccountId }: VaultPlace,
): TransactionBody {
  const { externalId: externalTxId, kind: note } = request;
  const source = { type: 'VAULT_ACCOUNT', id: vaultAccountId };
  if (request.kind === 'token-approval') {
    const { to, data } = decodeCall(request);
    return {
      operation: 'CONTRACT_CALL',
      assetId,
      source,
      destination: { type: 'ONE_TIME_ADDRESS', oneTimeAddress: { address: to } },
      amount: '0',
      externalTxId,
      note,
      extraParameters: { contractCallData: data },
    };
  }
  return {
    operation: 'TYPED_MESSAGE',
    assetId,
    source,
    externalTxId,
    note,
    extraParameters: { rawMessageData: { messages: [createMessage(request)] } },
  };
}

function createMessage(request: Exclude<SupportedRequest, TokenApprovalRequest>): {
  readonly type: 'EIP712' | 'EIP191';
  readonly content: unknown;
} {
  if (request.kind !== 'sign-in') {
    return encodeTypedData(computeRequestData(request));
  }
  const { message } = request.payload;
  return { type: 'EIP191', content: Buffer.from(message, 'utf8').toString('hex') };
}

/** Typed data as the provider takes it: with the type of its domain, and integers as decimal text. */
function encodeTypedData({ types, primaryType, domain, message }: TypedData): {
  readonly type: 'EIP712';
  readonly content: object;
} {
  const { name, version, chainId, verifyingContract } = domain;
  return {
    type: 'EIP712',
    content: {
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'version', type: 'string' },
          { name: 'chainId', type: 'uint256' },
          { name: 'verifyingContract', type: 'address' },
        ],
        ...types,
      },
      primaryType,
      domain: { name, version, chainId, verifyingContract },
      message: Object.fromEntries(
        Object.entries(message).map(([field, value]) => [field, String(value)]),
      ),
    },
  };
}

/** Destination and calldata of an approval. Gas and nonce are the custodian's. */
function decodeCall({ payload }: TokenApprovalRequest): {
  readonly to: EvmAddress;
  readonly data: Hex;
} {
  const { to, data } = Transaction.from(payload.unsignedTransaction);
  return { to: parseEvmAddress(to), data: parseHex(data) };
}

/**
 * True if the transaction that the custodian shows has the whole content of the request: same operation, wallet, asset and document,
 * for a call the same calldata, no coins, and the same destination once it is shown.
 */
export function isSameTransaction(
  record: TransactionRecord,
  request: SupportedRequest,
  place: VaultPlace,
): boolean {
  const { operation, externalTxId, extraParameters } = createTransactionBody(request, place);
  const isOurs =
    record.operation === operation &&
    record.externalTxId === externalTxId &&
    record.assetId === place.assetId &&
    record.source.type === 'VAULT_ACCOUNT' &&
    String(record.source.id) === place.vaultAccountId;
  if (!isOurs) {
    return false;
  }
  return request.kind === 'token-approval'
    ? isSameCall(record, request)
    : isSameMessage(record.extraParameters, extraParameters);
}

function isSameMessage(shown: unknown, ours: unknown): boolean {
  const [theirMessage, ourMessage] = [shown, ours].map((value) => {
    const parsed = v.safeParse(typedMessageSchema, value);
    return parsed.success ? parsed.output.rawMessageData.messages[0] : undefined;
  });
  return (
    theirMessage !== undefined &&
    theirMessage.type === ourMessage?.type &&
    isDeepStrictEqual(theirMessage.content, ourMessage.content)
  );
}

function isSameCall(record: TransactionRecord, request: TokenApprovalRequest): boolean {
  const { to, data } = decodeCall(request);
  const call = v.safeParse(contractCallSchema, record.extraParameters);
  const amount = record.amountInfo?.amount ?? '0';
  const shown = record.destinationAddress ?? '';
  return (
    call.success &&
    `0x${call.output.contractCallData.replace(/^0x/, '').toLowerCase()}` === data &&
    /^0(?:\.0+)?$/.test(String(amount)) &&
    (shown === '' || tryParseEvmAddress(shown) === to)
  );
}
