// Expected values come from RFC 8032, from published addresses and from @solana/addresses.
import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  isAddress,
  isOffCurveAddress,
} from '@solana/addresses';
import { Keypair } from '@stellar/stellar-base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesToHex } from '../values/hex.ts';
import { solanaFamily } from './solana.ts';

const { parseAddress, formatAddress } = solanaFamily;

/** The public keys of RFC 8032, section 7.1, tests 1 to 3. */
const published = [
  'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
  'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
];

/** Keys made by an implementation that is not ours. */
const walletKeys = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((seed) => new Uint8Array(Keypair.fromRawEd25519Seed(Buffer.from(seed)).rawPublicKey()));

function addressOf(key: Uint8Array): Address {
  return getAddressDecoder().decode(key);
}

/** 32 bytes that are the number `y`, little-endian. */
function encodeY(y: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((y >> BigInt(8 * index)) & 0xffn));
}

const p = 2n ** 255n - 19n;

describe('a Solana address', () => {
  it.each(published)('of the key %s', (key) => {
    const address = addressOf(Uint8Array.from(Buffer.from(key, 'hex')));
    expect(formatAddress(`0x${key}`)).toBe(address);
    expect(parseAddress(address)).toBe(address);
  });

  it('equals that of @solana/addresses for any wallet, in both directions', () => {
    fc.assert(
      fc.property(walletKeys, (key) => {
        const address = formatAddress(bytesToHex(key));
        expect(address).toBe(addressOf(key));
        expect(parseAddress(address)).toBe(address);
        expect(Uint8Array.from(getAddressEncoder().encode(address as Address))).toEqual(key);
      }),
      { numRuns: 100 },
    );
  });

  it('is refused if @solana/addresses refuses it or finds it off the curve [error.invalid-address]', () => {
    const digit = fc.constantFrom(
      ...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl',
    );
    let refused = 0;
    fc.assert(
      fc.property(walletKeys, fc.nat(43), digit, (key, position, replacement) => {
        const address = addressOf(key);
        const mistyped = address.slice(0, position) + replacement + address.slice(position + 1);
        fc.pre(mistyped !== address);
        if (!isAddress(mistyped) || isOffCurveAddress(mistyped)) {
          refused += 1;
          expect(() => parseAddress(mistyped)).toThrow(
            expect.objectContaining({ code: 'invalid-address' }),
          );
        }
      }),
      { numRuns: 200 },
    );
    expect(refused).toBeGreaterThan(50);
  });

  it('of a program, derived from seeds, is refused because it has no private key', async () => {
    const [derived] = await getProgramDerivedAddress({
      programAddress: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address,
      seeds: ['payroll'],
    });
    expect(() => parseAddress(derived)).toThrow(/nobody can sign with this key/);
  });

  it.each([
    // The system program's address: y = 0, a point of order 4.
    ['32 zero bytes', encodeY(0n)],
    ['the identity', encodeY(1n)],
    ['the point of order 2', encodeY(p - 1n)],
    ['a spelling of y = 3 above the field', encodeY(p + 3n)],
    // RFC 8032 test 1 plus the point of order 2: -x, -y. Its y is p minus the key's.
    ['a key with a part of order 2', negate(published[0] ?? '')],
  ])('that encodes %s is refused', (_, key) => {
    expect(() => parseAddress(addressOf(key))).toThrow(/nobody can sign with this key/);
    expect(() => formatAddress(bytesToHex(key))).toThrow(
      expect.objectContaining({ code: 'invalid_wallet_pub' }),
    );
  });

  it.each([
    ['31 bytes', '1'.repeat(31)],
    ['33 bytes', '1'.repeat(33)],
    ['45 digits', '2'.repeat(45)],
    ['a number above 2^256', 'z'.repeat(44)],
    ['white space', ` ${addressOf(encodeY(5n))}`],
    ['a line break', `${addressOf(encodeY(5n))}\n`],
    ['an EVM address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['a Stellar address', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'],
    ['nothing', ''],
    ['a number', 5],
    ['undefined', undefined],
  ])('is not %s', (_, text) => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({
        code: 'invalid-address',
        message: expect.stringMatching(/base58/),
      }),
    );
  });
});

/** P + T of an ed25519 key, T the point of order 2: (x, y) becomes (-x, -y). */
function negate(hex: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  const encoded = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const sign = encoded >> 255n;
  const y = encoded & (2n ** 255n - 1n);
  return encodeY((p - y) | ((1n - sign) << 255n));
}
