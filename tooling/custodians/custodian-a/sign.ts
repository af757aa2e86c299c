/**
 * Signs like a custodian with many parties: a fresh nonce every time, either of the two values of s, and several
 * spellings of the result.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { getBytes, Signature, Transaction } from 'ethers';
import type { Settings, SignatureForm } from './settings.ts';

const order = secp256k1.Point.Fn.ORDER;

/** Numbers as 64 hex digits without 0x: they are stored in a JSON file. */
export type RawSignature = { readonly r: string; readonly s: string; readonly recid: 0 | 1 };

export type ShownSignature = {
  readonly r: string;
  readonly s: string;
  readonly recid?: number;
  readonly encoded?: string;
};

type How = {
  readonly highS: Settings['highS'];
  readonly signer: Settings['signer'];
  readonly form: SignatureForm;
};

/** Signs until the result suits the form: `short` needs a number with a leading zero digit. */
export function signDigest(digest: Uint8Array, privateKey: string, how: How): RawSignature {
  const key = how.signer === 'other-key' ? randomBytes(32) : getBytes(privateKey);
  const message = how.signer === 'other-digest' ? digest.map((byte) => byte ^ 0xff) : digest;
  let signature = signOnce(message, key, how.highS);
  // One number in eight is short: 400 tries fail once in 10^23 runs.
  for (let tries = 0; how.form === 'short' && !isShort(signature) && tries < 400; tries += 1) {
    signature = signOnce(message, key, how.highS);
  }
  return signature;
}

function isShort({ r, s }: RawSignature): boolean {
  return r.startsWith('0') || s.startsWith('0');
}

function signOnce(message: Uint8Array, key: Uint8Array, highS: Settings['highS']): RawSignature {
  const bytes = secp256k1.sign(message, key, {
    prehash: false,
    lowS: false,
    // Without it the nonce follows from key and message (RFC 6979), which no such custodian does.
    extraEntropy: randomBytes(32),
    format: 'recovered',
  });
  const { r, s, recovery = 0 } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  const isHigh = s > order / 2n;
  const flip = (highS === 'always' && !isHigh) || (highS === 'never' && isHigh);
  return {
    r: toHex(r),
    s: toHex(flip ? order - s : s),
    recid: ((recovery & 1) ^ (flip ? 1 : 0)) === 1 ? 1 : 0,
  };
}

export function showSignature({ r, s, recid }: RawSignature, form: SignatureForm): ShownSignature {
  const encoded = `${r}${s}${(27 + recid).toString(16)}`;
  switch (form) {
    case 'canonical':
      return { r: `0x${r}`, s: `0x${s}`, recid, encoded: `0x${encoded}` };
    case 'no-prefix':
      return { r, s, recid, encoded };
    case 'no-recid':
      return { r: `0x${r}`, s: `0x${s}` };
    case 'short':
      return { r: `0x${withoutZeros(r)}`, s: `0x${withoutZeros(s)}`, recid };
    case 'recid-27':
      return { r: `0x${r}`, s: `0x${s}`, recid: 27 + recid };
  }
}

/** The signed transaction with a low s: no chain accepts another one. */
export function signTransaction(unsigned: string, { r, s, recid }: RawSignature): Transaction {
  const transaction = Transaction.from(unsigned);
  const value = BigInt(`0x${s}`);
  const isHigh = value > order / 2n;
  transaction.signature = Signature.from({
    r: `0x${r}`,
    s: `0x${toHex(isHigh ? order - value : value)}`,
    yParity: isHigh ? ((1 - recid) as 0 | 1) : recid,
  });
  return transaction;
}

function toHex(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

function withoutZeros(hex: string): string {
  return hex.replace(/^0+/, '');
}
