/**
 * What a custodian is about to sign, read strictly from its own preimage. Nothing of the agent's description is used: the digest is
 * computed from the values that are parsed here, and a field, a type or a number in any unexpected form is a refusal.
 *
 * @module
 */
import {
  type DisclosureStatement,
  type EvmAddress,
  type Hex,
  type Hex32,
  hexToBytes,
  parseHex,
} from '@pool/core';
import type { FundAuthorizationPayload, PermitPayload, VoidPayload } from '@pool/policy';

/** A document of one of the forms that a funder or holder ever signs. */
export type Preimage =
  | ({ readonly kind: 'fund-authorization' } & FundAuthorizationPayload)
  | ({ readonly kind: 'void' } & VoidPayload)
  | ({ readonly kind: 'permit' } & Omit<PermitPayload, 'expected'>)
  /** The payments that are disclosed are in it by their digest only. */
  | { readonly kind: 'disclosure'; readonly statement: DisclosureStatement }
  /** EIP-191 text. */
  | { readonly kind: 'text'; readonly text: string }
  /** An unsigned EVM transaction, serialised. `built-call`: a contract call that the custodian built itself. */
  | { readonly kind: 'transaction' | 'built-call'; readonly unsignedTransaction: Hex }
  /** A contract call before it is built: the custodian chooses nonce and fees later. */
  | {
      readonly kind: 'call';
      readonly chainId: number;
      readonly to: EvmAddress;
      readonly data: Hex;
    }
  /**
   * `hash`: 32 bytes of unknown meaning. They count only if they are the digest of a stored spend. `stored`: the digest of a typed message
   * without its content. It counts only if a stored batch has it.
   */
  | { readonly kind: 'hash' | 'stored'; readonly digest: Hex32 };

/** Nothing that is ever approved. The message repeats nothing of the request. */
export type Foreign = { readonly kind: 'foreign'; readonly message: string };

export type Reading = Preimage | Foreign;

export function foreign(message: string): Foreign {
  return { kind: 'foreign', message };
}

/** No sign-in text is longer. */
const maxTextBytes = 4_096;
/** No approval is longer. */
const maxTransactionBytes = 1_024;

/** @param message - hex of UTF-8 bytes with 0x, as custodian A writes a message */
export function readHexText(message: unknown): Reading {
  const bytes = readBytes(message, maxTextBytes);
  if (bytes === undefined) {
    return foreign('the message is not hex of at most 4,096 bytes');
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'text', text };
  } catch {
    return foreign('the message is not UTF-8');
  }
}

/** @param transaction - an unsigned transaction, serialised, hex with 0x */
export function readTransaction(transaction: unknown): Reading {
  const bytes = readBytes(transaction, maxTransactionBytes);
  return bytes === undefined
    ? foreign('the transaction is not hex of at most 1,024 bytes')
    : { kind: 'transaction', unsignedTransaction: parseHex(String(transaction).toLowerCase()) };
}

function readBytes(hex: unknown, maxBytes: number): Uint8Array | undefined {
  const isHex =
    typeof hex === 'string' &&
    hex.length <= 2 + 2 * maxBytes &&
    /^0x(?:[0-9a-fA-F]{2})+$/.test(hex);
  return isHex ? hexToBytes(parseHex(hex.toLowerCase())) : undefined;
}
