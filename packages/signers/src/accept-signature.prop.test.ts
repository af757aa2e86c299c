// Expected values come from ethers, which is independent of this package.
import { bigintToHex32, type EvmAddress, parseEvmAddress, parseHex32, Secret } from '@pool/core';
import { computeAddress, keccak256, SigningKey, toUtf8Bytes } from 'ethers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptSignature, type RawSignature } from './accept-signature.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const keys = fc
  .bigInt({ min: 1n, max: order - 1n })
  .map((scalar) => new Secret(bigintToHex32(scalar)));
const digests = fc
  .string({ maxLength: 20 })
  .map((text) => parseHex32(keccak256(toUtf8Bytes(text))));

type Signed = { r: bigint; s: bigint; parity: 0 | 1 };

/** Every form in which a signer may write one signature. */
const dialects: readonly [string, (signed: Signed) => RawSignature][] = [
  [
    'v 27/28 number',
    ({ r, s, parity }) => ({ r: bigintToHex32(r), s: bigintToHex32(s), v: 27 + parity }),
  ],
  ['v 0/1 number', ({ r, s, parity }) => ({ r: bigintToHex32(r), s: bigintToHex32(s), v: parity })],
  [
    'v bigint',
    ({ r, s, parity }) => ({ r: bigintToHex32(r), s: bigintToHex32(s), v: BigInt(27 + parity) }),
  ],
  [
    'v decimal text',
    ({ r, s, parity }) => ({ r: bigintToHex32(r), s: bigintToHex32(s), v: `${27 + parity}` }),
  ],
  [
    'v hex text',
    ({ r, s, parity }) => ({
      r: bigintToHex32(r),
      s: bigintToHex32(s),
      v: parity === 0 ? '0x1b' : '0x1C',
    }),
  ],
  ['v missing', ({ r, s }) => ({ r: bigintToHex32(r), s: bigintToHex32(s) })],
  [
    'without 0x',
    ({ r, s, parity }) => ({
      r: bigintToHex32(r).slice(2),
      s: bigintToHex32(s).slice(2),
      v: parity,
    }),
  ],
  [
    'upper case',
    ({ r, s, parity }) => ({
      r: bigintToHex32(r).slice(2).toUpperCase(),
      s: bigintToHex32(s),
      v: parity,
    }),
  ],
  ['short', ({ r, s, parity }) => ({ r: r.toString(16), s: `0x${s.toString(16)}`, v: parity })],
  [
    'long',
    ({ r, s, parity }) => ({
      r: `0x00${bigintToHex32(r).slice(2)}`,
      s: bigintToHex32(s),
      v: parity,
    }),
  ],
  [
    '65 bytes',
    ({ r, s, parity }) =>
      `${bigintToHex32(r)}${bigintToHex32(s).slice(2)}${parity === 0 ? '1b' : '1c'}`,
  ],
  [
    '65 bytes, v 0/1',
    ({ r, s, parity }) => `${bigintToHex32(r)}${bigintToHex32(s).slice(2)}0${parity}`,
  ],
  ['64 bytes', ({ r, s }) => `${bigintToHex32(r).slice(2)}${bigintToHex32(s).slice(2)}`],
];

function signWithEthers(
  key: Secret,
  digest: string,
): { signed: Signed; address: EvmAddress; serialized: string } {
  const signingKey = new SigningKey(key.reveal());
  const signature = signingKey.sign(digest);
  return {
    signed: { r: BigInt(signature.r), s: BigInt(signature.s), parity: signature.yParity },
    address: parseEvmAddress(computeAddress(signingKey.publicKey)),
    serialized: signature.serialized,
  };
}

/** The same signature with s in the upper half, as many custodians return it. */
function mirror({ r, s, parity }: Signed): Signed {
  return { r, s: order - s, parity: parity === 0 ? 1 : 0 };
}

describe('acceptSignature', () => {
  it("returns ethers' serialisation for every form, with low and with high s", () => {
    fc.assert(
      fc.property(
        keys,
        digests,
        fc.constantFrom(...dialects),
        fc.boolean(),
        (key, digest, [, spell], isHigh) => {
          const { signed, address, serialized } = signWithEthers(key, digest);
          const signature = spell(isHigh ? mirror(signed) : signed);
          expect(acceptSignature({ signature, digest, expectedSigner: address })).toBe(serialized);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('refuses another digest, another signer, another r, s or v', () => {
    fc.assert(
      fc.property(
        keys,
        digests,
        fc.constantFrom('digest', 'signer', 'r', 's', 'v'),
        fc.bigInt({ min: 1n, max: order - 1n }),
        (key, digest, part, other) => {
          const { signed, address } = signWithEthers(key, digest);
          const { r, s, parity } = signed;
          fc.pre(other !== r && other !== s && other !== order - s);
          const wrong = {
            digest: part === 'digest' ? bigintToHex32(other) : digest,
            expectedSigner:
              part === 'signer' ? parseEvmAddress(computeAddress(bigintToHex32(other))) : address,
            signature: {
              r: bigintToHex32(part === 'r' ? other : r),
              s: bigintToHex32(part === 's' ? other : s),
              v: part === 'v' ? 1 - parity : parity,
            },
          };
          fc.pre(wrong.digest !== digest || part !== 'digest');
          fc.pre(wrong.expectedSigner !== address || part !== 'signer');
          expect(() => acceptSignature(wrong)).toThrow(
            expect.objectContaining({ code: 'signature_rejected' }),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  it('answers arbitrary input with signature_rejected only, and never repeats the input', () => {
    const parts = fc.oneof(
      fc.string({ minLength: 6 }),
      fc.constant('0x'),
      fc.constant(bigintToHex32(order)),
    );
    const anything = fc.oneof(
      parts,
      fc.record({ r: parts, s: parts, v: fc.oneof(parts, fc.integer(), fc.constant(undefined)) }),
    );
    fc.assert(
      fc.property(anything, (signature) => {
        const claim = {
          signature,
          digest: bigintToHex32(5n),
          expectedSigner: parseEvmAddress('0x0000000000000000000000000000000000000001'),
        };
        expect(() => acceptSignature(claim)).toThrow(/^the signature was rejected: /);
        expect(() => acceptSignature(claim)).toThrow(
          expect.objectContaining({ code: 'signature_rejected' }),
        );
      }),
    );
  });
});
