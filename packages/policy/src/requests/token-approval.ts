/**
 * The only transaction that a funder signer signs: `approve(pool, v)` on a listed token, where v is zero or the total of a stored
 * manifest. It is decoded from its bytes, never from the caller's description.
 *
 * @module
 */
import {
  type EvmAddress,
  type Hex,
  type Hex32,
  hexToBigint,
  PoolError,
  parseEvmAddress,
  parseHex,
  parseHex32,
} from '@pool/core';
import { Signature, Transaction } from 'ethers';
import type { RefusalReason } from './reasons.ts';
import type { ApprovalExpectation } from './requests.ts';

/** `approve(address,uint256)`. */
const approveSelector = '0x095ea7b3';

/** An approval costs about 50,000 gas, and twice as much for an unusual token. */
export const maxApprovalGas = 300_000n;

/** The maximum fee of an approval in the chain's coin: 0.1 of a coin with 18 decimals. */
export const maxApprovalFeeWei = 10n ** 17n;

/** The hash to sign. @throws PoolError `invalid_value` unless it is exactly one unsigned transaction */
export function computeTransactionDigest(unsignedTransaction: Hex): Hex32 {
  return parseHex32(parseUnsigned(unsignedTransaction).unsignedHash);
}

/** The raw transaction to send. `signature` has the 65 bytes that {@link acceptSignature} returns. */
export function encodeSignedTransaction(unsignedTransaction: Hex, signature: Hex): Hex {
  const transaction = parseUnsigned(unsignedTransaction);
  transaction.signature = Signature.from(signature);
  return parseHex(transaction.serialized);
}

/** Returns undefined if the bytes are exactly the expected approval, and otherwise the reason for a refusal. */
export function findApprovalDefect(
  unsignedTransaction: Hex,
  expected: ApprovalExpectation,
): RefusalReason | undefined {
  const transaction = parseUnsigned(unsignedTransaction);
  if (
    transaction.type !== 2 ||
    transaction.value !== 0n ||
    (transaction.accessList ?? []).length > 0
  ) {
    return 'not-an-approval';
  }
  if (transaction.chainId !== BigInt(expected.chainId)) {
    return 'foreign-chain';
  }
  if (transaction.to !== expected.token) {
    return 'token-not-listed';
  }
  const call = parseApproveCall(transaction.data);
  if (call === undefined) {
    return 'not-an-approval';
  }
  if (call.spender !== expected.pool) {
    return 'foreign-spender';
  }
  if (call.value !== 0n && call.value !== expected.total) {
    return 'amount-mismatch';
  }
  const feeWei = transaction.gasLimit * (transaction.maxFeePerGas ?? 0n);
  return transaction.gasLimit > maxApprovalGas || feeWei > maxApprovalFeeWei
    ? 'gas-too-high'
    : undefined;
}

/** An approval as its transaction says it. */
export type ReadApproval = {
  readonly chainId: number;
  readonly token: EvmAddress;
  readonly spender: EvmAddress;
  /** Base units. */
  readonly value: bigint;
  /** Nonce of the funder's account. */
  readonly accountNonce: number;
  /** The most that it may cost. A replacement changes nothing else. Zero: the custodian chooses the fees. */
  readonly maxFeeWei: bigint;
};

/** @returns undefined unless the transaction calls exactly `approve(spender, value)` */
export function readApproval(unsignedTransaction: Hex): ReadApproval | undefined {
  const transaction = parseUnsigned(unsignedTransaction);
  const call = parseApproveCall(transaction.data);
  return call === undefined || transaction.to === null
    ? undefined
    : {
        chainId: Number(transaction.chainId),
        token: parseEvmAddress(transaction.to),
        spender: call.spender,
        value: call.value,
        accountNonce: transaction.nonce,
        maxFeeWei: transaction.gasLimit * (transaction.maxFeePerGas ?? 0n),
      };
}

function parseUnsigned(unsignedTransaction: Hex): Transaction {
  let transaction: Transaction | undefined;
  try {
    transaction = Transaction.from(parseHex(unsignedTransaction));
  } catch (cause) {
    throw malformed(cause);
  }
  // Re-encoding must give the same bytes. Otherwise the digest would cover something that the caller did not send.
  if (transaction.isSigned() || transaction.unsignedSerialized !== unsignedTransaction) {
    throw malformed();
  }
  return transaction;
}

function malformed(cause?: unknown): PoolError {
  return new PoolError('invalid_value', 'the payload is not exactly one unsigned transaction', {
    cause,
  });
}

function parseApproveCall(
  data: string,
): { readonly spender: EvmAddress; readonly value: bigint } | undefined {
  // Exactly the selector and two words: a person who reads the decoded call would not see trailing bytes.
  const words = /^0x095ea7b3(0{24}[0-9a-f]{40})([0-9a-f]{64})$/.exec(data);
  const [, spender, value] = words ?? [];
  if (spender === undefined || value === undefined) {
    return undefined;
  }
  return {
    spender: parseEvmAddress(`0x${spender.slice(24)}`),
    value: hexToBigint(`0x${value}`),
  };
}

/** Calldata of the approval. */
export function encodeApproveCall(spender: EvmAddress, value: bigint): Hex {
  const words = [BigInt(spender), value].map((word) => word.toString(16).padStart(64, '0'));
  return parseHex(`${approveSelector}${words.join('')}`, 68);
}
