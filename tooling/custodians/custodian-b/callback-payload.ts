/**
 * What the co-signer tells the callback handler about a transaction (the provider's public documentation, "approve transactions" and
 * "validate raw transactions"). `fee` and `displayDstAddress` are in signing callbacks only. Hex has no 0x.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { Transaction as EvmTransaction, keccak256 } from 'ethers';
import type { Stage, VaultAccount } from './config.ts';
import type { CallbackEffect } from './faults.ts';
import type { Transaction } from './transaction.ts';
import { derivationPathOf } from './vault.ts';

export type CallbackPayload = Readonly<Record<string, unknown>>;

/** The holders of the key's shares. Each request names them; the values say nothing. */
const players = [
  '21926ecc-4a8a-4614-bbac-7c591aa7efdd',
  '27900737-46f6-4097-a169-d0ff45649ed5',
  'f89cac50-c656-4e74-879f-041aff8d01b5',
];

/** The id that a `foreign-signer` callback names. */
const foreignSignerId = '5d1b7a4e-0000-4000-8000-0123456789ab';

export type PayloadOptions = {
  readonly transaction: Transaction;
  readonly account: VaultAccount;
  readonly stage: Stage;
  readonly requestId: string;
  readonly signerId: string;
  /** Whether this stage carries `rawTx`. */
  readonly hasRawTx: boolean;
  readonly effect: CallbackEffect | undefined;
};

export function createPayload(options: PayloadOptions): CallbackPayload {
  const { transaction, account, stage, effect } = options;
  const { work } = transaction;
  const hasIds = effect !== 'raw-only' && effect !== 'neither';
  const hasRawTx =
    effect === 'raw-only' ||
    effect === 'disagree' ||
    effect === 'second-raw' ||
    (options.hasRawTx && effect !== 'id-only' && effect !== 'neither');
  const isCall = work.operation === 'CONTRACT_CALL';
  const address = isCall ? work.to : '';
  const addressType = isCall ? 'ONE_TIME' : '';
  const destType = isCall ? 'ONE_TIME_ADDRESS' : 'UNKNOWN';
  return {
    ...(hasIds ? { txId: transaction.id } : {}),
    ...(hasIds && transaction.externalTxId !== undefined
      ? { externalTxId: transaction.externalTxId }
      : {}),
    operation: work.operation,
    sourceType: 'VAULT',
    sourceId: account.id,
    destType,
    destId: '',
    asset: transaction.assetId,
    amount: 0,
    amountStr: '0',
    requestedAmount: 0,
    requestedAmountStr: '0',
    ...(stage === 'signing' ? { fee: '0' } : {}),
    destAddressType: addressType,
    destAddress: address,
    destinations: [
      {
        amountNative: 0,
        amountNativeStr: '0',
        amountUSD: 0,
        dstAddressType: addressType,
        dstId: '',
        dstType: destType,
        ...(isCall ? { dstAddress: address } : {}),
        ...(stage === 'signing' ? { displayDstAddress: address } : {}),
        action: 'ALLOW',
      },
    ],
    ...(hasRawTx ? { rawTx: createRawTx(transaction, account, effect) } : {}),
    players,
    signerId: effect === 'foreign-signer' ? foreignSignerId : options.signerId,
    requestId: options.requestId,
  };
}

function createRawTx(
  { work, unsignedTransaction }: Transaction,
  account: VaultAccount,
  effect: CallbackEffect | undefined,
): readonly object[] {
  const keyDerivationPath = `[ ${derivationPathOf(account).join(', ')} ]`;
  const digest =
    work.operation === 'TYPED_MESSAGE' ? work.digest : digestOfUnsigned(unsignedTransaction);
  const shown = effect === 'disagree' ? keccak256(digest) : digest;
  const first = {
    keyDerivationPath,
    ...(unsignedTransaction === undefined ? {} : { rawTx: unsignedTransaction.slice(2) }),
    payload: shown.slice(2),
  };
  return effect === 'second-raw'
    ? [first, { keyDerivationPath, payload: keccak256(digest).slice(2) }]
    : [first];
}

/** @throws Error for a contract call that was not built yet */
function digestOfUnsigned(unsignedTransaction: string | undefined): string {
  if (unsignedTransaction === undefined) {
    throw new Error('the contract call has no transaction yet');
  }
  return EvmTransaction.from(unsignedTransaction).unsignedHash;
}

/** A new id for a stage: stable for a transaction, so that a restart asks with the same. */
export function stageRequestId(transactionId: string, stage: Stage): string {
  const hex = createHash('sha256').update(`${transactionId} ${stage}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
