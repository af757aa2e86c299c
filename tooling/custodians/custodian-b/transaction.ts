/**
 * A transaction of custodian B: what a caller may create, what the custodian remembers, and what a reader sees.
 *
 * @module
 */
import { getAddress, isAddress } from 'ethers';
import * as v from 'valibot';
import { ApiProblemError, malformed } from './api-problem.ts';
import type { ParsedConfig, VaultAccount } from './config.ts';
import { addressOf, computeMessageDigest, type SignedMessage } from './vault.ts';

/** The documented statuses, and those that a test makes up. */
export type Status = string;

/** Nothing follows. */
const finalStatuses: ReadonlySet<Status> = new Set([
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
  'BLOCKED',
  'TIMEOUT',
]);
/** From here on a cancellation comes too late. */
const lateStatuses: ReadonlySet<Status> = new Set(['BROADCASTING', 'CONFIRMING']);

export type Work =
  /** `digest` is what the custodian computed from the message. */
  | { readonly operation: 'TYPED_MESSAGE'; readonly digest: string }
  | { readonly operation: 'CONTRACT_CALL'; readonly to: string; readonly data: string };

/** What the custodian remembers. It changes in place; {@link Transaction.work} never does. */
export type Transaction = {
  readonly id: string;
  readonly externalTxId: string | undefined;
  readonly assetId: string;
  readonly vaultAccountId: string;
  readonly note: string;
  readonly extraParameters: unknown;
  readonly work: Work;
  readonly createdBy: string;
  readonly createdAt: number;
  status: Status;
  subStatus: string;
  lastUpdated: number;
  signedBy: string[];
  rejectedBy: string;
  signedMessages?: SignedMessage[];
  /** Of a contract call: built once, so that every retry of a callback shows the same. */
  unsignedTransaction?: string;
  signedTransaction?: string;
  txHash?: string;
  errorDescription?: string;
};

const requestSchema = v.object({
  operation: v.optional(v.string(), 'TRANSFER'),
  assetId: v.optional(v.string()),
  externalTxId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
  note: v.optional(v.string(), ''),
  amount: v.optional(v.union([v.string(), v.number()]), '0'),
  source: v.object({
    type: v.literal('VAULT_ACCOUNT'),
    id: v.union([v.string(), v.number()]),
  }),
  destination: v.optional(
    v.object({
      type: v.string(),
      oneTimeAddress: v.optional(v.object({ address: v.string() })),
    }),
  ),
  extraParameters: v.optional(v.record(v.string(), v.unknown()), {}),
});

const rawMessageDataSchema = v.object({
  messages: v.pipe(v.array(v.unknown()), v.length(1)),
});

export type TransactionRequest = {
  readonly externalTxId: string | undefined;
  readonly assetId: string;
  readonly account: VaultAccount;
  readonly note: string;
  readonly extraParameters: unknown;
  readonly work: Work;
};

/** @throws ApiProblemError 400 */
export function parseTransactionRequest(
  input: unknown,
  { vaultAccounts, chains }: ParsedConfig,
): TransactionRequest {
  const parsed = v.safeParse(requestSchema, input);
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0]) ?? 'the body';
    throw malformed(`${path} is missing or not of its form`);
  }
  const { operation, externalTxId, note, source, extraParameters } = parsed.output;
  if (operation === 'RAW') {
    throw new ApiProblemError(400, 1400, 'RAW signing is disabled');
  }
  const account = vaultAccounts.find(({ id }) => id === String(source.id));
  if (account === undefined) {
    throw malformed('source: no vault account has this id');
  }
  const assetId = parsed.output.assetId ?? '';
  if (!account.assets.includes(assetId)) {
    throw malformed('assetId: the vault account does not have this asset');
  }
  const shared = { externalTxId, assetId, account, note, extraParameters };
  if (operation === 'TYPED_MESSAGE') {
    const raw = v.safeParse(rawMessageDataSchema, extraParameters['rawMessageData']);
    if (!raw.success) {
      throw malformed('extraParameters.rawMessageData: exactly one message is expected');
    }
    const digest = computeMessageDigest(raw.output.messages[0]);
    return { ...shared, work: { operation, digest } };
  }
  if (operation === 'CONTRACT_CALL') {
    if (chains[assetId] === undefined) {
      throw malformed('assetId: no chain is configured for it');
    }
    return { ...shared, work: { operation, ...parseCall(parsed.output) } };
  }
  throw malformed('operation: TYPED_MESSAGE or CONTRACT_CALL is expected');
}

function parseCall(request: v.InferOutput<typeof requestSchema>): { to: string; data: string } {
  const { destination, extraParameters } = request;
  const to = destination?.oneTimeAddress?.address;
  const data = extraParameters['contractCallData'];
  if (destination?.type !== 'ONE_TIME_ADDRESS' || to === undefined || !isAddress(to)) {
    throw malformed('destination: a ONE_TIME_ADDRESS is expected');
  }
  if (typeof data !== 'string' || !/^(0x)?([0-9a-fA-F]{2})+$/.test(data)) {
    throw malformed('extraParameters.contractCallData: hex is expected');
  }
  if (Number(request.amount) !== 0) {
    throw malformed('amount: a contract call of this simulator carries no value');
  }
  return { to: getAddress(to), data: data.startsWith('0x') ? data : `0x${data}` };
}

export function isFinal({ status }: Transaction): boolean {
  return finalStatuses.has(status);
}

/** A transaction can be cancelled until it is broadcast. */
export function isCancellable(transaction: Transaction): boolean {
  return !isFinal(transaction) && !lateStatuses.has(transaction.status);
}

/** What `GET /v1/transactions/…` shows. Addresses appear once a transaction is on its way, as documented. */
export function viewTransaction(transaction: Transaction, account: VaultAccount): object {
  const { work, status } = transaction;
  const onChain =
    work.operation === 'CONTRACT_CALL' && (status === 'CONFIRMING' || status === 'COMPLETED');
  return {
    id: transaction.id,
    ...(transaction.externalTxId === undefined ? {} : { externalTxId: transaction.externalTxId }),
    status,
    subStatus: transaction.subStatus,
    operation: work.operation,
    assetId: transaction.assetId,
    source: { type: 'VAULT_ACCOUNT', id: account.id, name: account.name, subType: '' },
    sourceAddress: onChain ? addressOf(account) : '',
    destination: {
      type: work.operation === 'CONTRACT_CALL' ? 'ONE_TIME_ADDRESS' : 'UNKNOWN',
      id: null,
      name: 'N/A',
      subType: '',
    },
    destinationAddress: onChain ? work.to : '',
    amountInfo: { amount: '0', requestedAmount: '0', netAmount: '0', amountUSD: '0' },
    txHash: transaction.txHash ?? '',
    note: transaction.note,
    createdAt: transaction.createdAt,
    lastUpdated: transaction.lastUpdated,
    createdBy: transaction.createdBy,
    signedBy: transaction.signedBy,
    rejectedBy: transaction.rejectedBy,
    ...(transaction.errorDescription === undefined
      ? {}
      : { errorDescription: transaction.errorDescription }),
    extraParameters: transaction.extraParameters,
    ...(status === 'COMPLETED' && transaction.signedMessages !== undefined
      ? { signedMessages: transaction.signedMessages }
      : {}),
  };
}
