import { parseEvmAddress, parseHex32 } from '@pool/core';
import { computeAddress, keccak256, SigningKey, toUtf8Bytes } from 'ethers';
import { describe, expect, it } from 'vitest';
import { acceptSignature } from './accept-signature.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const key = new SigningKey(`0x${'11'.repeat(32)}`);
const expectedSigner = parseEvmAddress(computeAddress(key.publicKey));
const digest = parseHex32(keccak256(toUtf8Bytes('a batch')));
const { r, s, v, serialized } = key.sign(digest);

describe('acceptSignature', () => {
  it('returns 65 bytes with v 27 or 28', () => {
    expect(acceptSignature({ signature: { r, s, v }, digest, expectedSigner })).toBe(serialized);
    expect(serialized).toMatch(/^0x[0-9a-f]{128}1[bc]$/);
  });

  it.each([v - 27, v, `0x${v.toString(16)}`, v.toString(16), v.toString(16).toUpperCase(), `${v}`])(
    'reads v written as %s',
    (written) => {
      const signature = { r, s, v: written };
      expect(acceptSignature({ signature, digest, expectedSigner })).toBe(serialized);
    },
  );

  it.each([
    ['r zero', { r: '0x0', s, v }],
    ['s zero', { r, s: '', v }],
    ['r equal to the order', { r: `0x${order.toString(16)}`, s, v }],
    ['s of 33 bytes', { r, s: `0x01${s.slice(2)}`, v }],
    ['r not hex', { r: `0xg${r.slice(3)}`, s, v }],
    ['v 2 (r + n)', { r, s, v: 2 }],
    ['v 35 (EIP-155)', { r, s, v: 35 }],
    ['v empty', { r, s, v: '' }],
    ['v fractional', { r, s, v: 27.5 }],
    ['63 bytes', serialized.slice(0, 128)],
    ['66 bytes', `${serialized}00`],
    ['empty', ''],
  ])('refuses %s', (_, signature) => {
    expect(() => acceptSignature({ signature, digest, expectedSigner })).toThrow(
      expect.objectContaining({ code: 'signature_rejected', retryable: false }),
    );
  });

  it('refuses an r that is not the x-coordinate of a point on the curve', () => {
    // x = 5 has no y on secp256k1.
    const signature = { r: '0x5', s: '0x1', v: 27 };
    expect(() => acceptSignature({ signature, digest, expectedSigner })).toThrow(
      /not made by the expected address/,
    );
  });
});
