/**
 * Reads the text of an EIP-191 message and the bytes of a transaction from a custodian's request.
 *
 * @module
 */
import { hexToBytes, parseHex } from '@pool/core';
import { foreign, type Reading } from './preimage.ts';

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
    return { kind: 'preimage', preimage: { kind: 'text', text } };
  } catch {
    return foreign('the message is not UTF-8');
  }
}

/** @param transaction - an unsigned transaction, serialised, hex with 0x */
export function readTransaction(transaction: unknown): Reading {
  const bytes = readBytes(transaction, maxTransactionBytes);
  return bytes === undefined
    ? foreign('the transaction is not hex of at most 1,024 bytes')
    : {
        kind: 'preimage',
        preimage: {
          kind: 'transaction',
          unsignedTransaction: parseHex(String(transaction).toLowerCase()),
        },
      };
}

function readBytes(hex: unknown, maxBytes: number): Uint8Array | undefined {
  const isHex =
    typeof hex === 'string' &&
    hex.length <= 2 + 2 * maxBytes &&
    /^0x(?:[0-9a-fA-F]{2})+$/.test(hex);
  return isHex ? hexToBytes(parseHex(hex.toLowerCase())) : undefined;
}
