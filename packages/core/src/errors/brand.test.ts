// `tsc` is what checks this file (`pnpm check types`): each `expectTypeOf` is a type error when it does not hold. Running it
// shows that the constructors refuse at run time what the types refuse at compile time.
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { EvmChainSettings } from '../requests/chain-settings.ts';
import { type EncryptionPublicKey, parseEncryptionPublicKey } from '../sign-in/sign-in.ts';
import type { AssetId } from '../signing/digests.ts';
import { type Amount, assertAmount, maxAmount, parseAmount } from '../values/amount.ts';
import { type EvmAddress, isEvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { assertField, type Field, isField, parseField, reduceToField } from '../values/field.ts';
import {
  bigintToHex32,
  bytesToHex,
  bytesToHex32,
  type Hex,
  type Hex32,
  parseHex,
  parseHex32,
} from '../values/hex.ts';
import { encodeWalletPub, parseWalletPub, type WalletPub } from '../values/wallet-pub.ts';

function refused(code: string) {
  return expect.objectContaining({ code });
}

describe('a plain value is not assignable to a brand', () => {
  it('Hex32', () => {
    expectTypeOf<'0x'>().not.toExtend<Hex32>();
    expectTypeOf<Hex>().not.toExtend<Hex32>();
    expectTypeOf<string>().not.toExtend<Hex32>();
    expectTypeOf(parseHex).returns.not.toExtend<Hex32>();
    expectTypeOf(bytesToHex).returns.not.toExtend<Hex32>();
  });

  it('EvmAddress', () => {
    expectTypeOf<'anything'>().not.toExtend<EvmAddress>();
    expectTypeOf<'0x5FbDB2315678afecb367f032d93F642f64180aa3'>().not.toExtend<EvmAddress>();
    expectTypeOf<string>().not.toExtend<EvmAddress>();
  });

  it('Amount', () => {
    expectTypeOf<-5n>().not.toExtend<Amount>();
    expectTypeOf<5n>().not.toExtend<Amount>();
    expectTypeOf<bigint>().not.toExtend<Amount>();
  });

  it('Field', () => {
    expectTypeOf<-1n>().not.toExtend<Field>();
    expectTypeOf<bigint>().not.toExtend<Field>();
    expectTypeOf<bigint>().not.toExtend<AssetId>();
  });

  it('WalletPub', () => {
    expectTypeOf<'0x02'>().not.toExtend<WalletPub>();
    expectTypeOf<Hex>().not.toExtend<WalletPub>();
  });

  it('EncryptionPublicKey', () => {
    expectTypeOf<'0x'>().not.toExtend<EncryptionPublicKey>();
    expectTypeOf<Hex>().not.toExtend<EncryptionPublicKey>();
  });
});

describe('a brand is not assignable to another', () => {
  it('of hex', () => {
    expectTypeOf<Hex32>().not.toExtend<EncryptionPublicKey>();
    expectTypeOf<EncryptionPublicKey>().not.toExtend<Hex32>();
    expectTypeOf<WalletPub>().not.toExtend<EncryptionPublicKey>();
    expectTypeOf<Hex32>().not.toExtend<EvmAddress>();
  });

  it('of integers', () => {
    expectTypeOf<Amount>().not.toExtend<Field>();
    expectTypeOf<Field>().not.toExtend<Amount>();
  });
});

describe('a branded value', () => {
  it('is assignable to its base', () => {
    expectTypeOf<Hex32>().toExtend<Hex>();
    expectTypeOf<WalletPub>().toExtend<Hex>();
    expectTypeOf<EncryptionPublicKey>().toExtend<Hex>();
    expectTypeOf<EvmAddress>().toExtend<string>();
    expectTypeOf<Amount>().toExtend<bigint>();
    expectTypeOf<Field>().toExtend<bigint>();
  });

  it('loses its brand in arithmetic and in text operations', () => {
    const sum = parseAmount('1') + parseAmount('2');
    const product = assertField(2n) * assertField(3n);
    const lowered = parseEvmAddress('0x5FbDB2315678afecb367f032d93F642f64180aa3').toLowerCase();
    const cut = bigintToHex32(1n).slice(0, 4);
    expectTypeOf(sum).not.toExtend<Amount>();
    expectTypeOf(product).not.toExtend<Field>();
    expectTypeOf(lowered).not.toExtend<EvmAddress>();
    expectTypeOf(cut).not.toExtend<Hex32>();
    expect([sum, product, cut]).toEqual([3n, 6n, '0x00']);
  });

  it('comes from its constructors', () => {
    expectTypeOf(parseHex32).returns.toEqualTypeOf<Hex32>();
    expectTypeOf(bytesToHex32).returns.toEqualTypeOf<Hex32>();
    expectTypeOf(bigintToHex32).returns.toEqualTypeOf<Hex32>();
    expectTypeOf(parseEvmAddress).returns.toEqualTypeOf<EvmAddress>();
    expectTypeOf(parseAmount).returns.toEqualTypeOf<Amount>();
    expectTypeOf(assertAmount).returns.toEqualTypeOf<Amount>();
    expectTypeOf(parseField).returns.toEqualTypeOf<Field>();
    expectTypeOf(assertField).returns.toEqualTypeOf<Field>();
    expectTypeOf(reduceToField).returns.toEqualTypeOf<Field>();
    expectTypeOf(isField).guards.toEqualTypeOf<Field>();
    expectTypeOf(parseWalletPub).returns.toEqualTypeOf<WalletPub>();
    expectTypeOf(encodeWalletPub).returns.toEqualTypeOf<WalletPub>();
    expectTypeOf(parseEncryptionPublicKey).returns.toEqualTypeOf<EncryptionPublicKey>();
  });

  it('comes from the wire schemas', () => {
    expectTypeOf<EvmChainSettings['pool']>().toEqualTypeOf<EvmAddress>();
  });
});

describe('the constructors', () => {
  const word = `0x${'0b'.repeat(32)}`;

  it.each(['', '0x', word.slice(0, -2), `${word}00`, word.toUpperCase(), word.slice(2), 11n, null])(
    'of 32-byte hex refuse %s',
    (value) => {
      expect(() => parseHex32(value)).toThrow(refused('invalid_value'));
      expect(() => parseEncryptionPublicKey(value)).toThrow(refused('invalid_value'));
    },
  );

  it('of 32-byte hex accept 32 bytes and integers that fit', () => {
    expect(parseHex32(word)).toBe(word);
    expect(parseEncryptionPublicKey(word)).toBe(word);
    expect(bytesToHex32(new Uint8Array(32).fill(11))).toBe(word);
    expect(bigintToHex32(BigInt(word))).toBe(word);
    expect(() => bytesToHex32(new Uint8Array(31))).toThrow(refused('invalid_value'));
    expect(() => bigintToHex32(-1n)).toThrow(refused('invalid_value'));
    expect(() => bigintToHex32(1n << 256n)).toThrow(refused('invalid_value'));
  });

  it('of amounts accept 0 to 2^128-1 for a sum', () => {
    expect([assertAmount(0n), assertAmount(maxAmount)]).toEqual([0n, maxAmount]);
    expect(() => assertAmount(-1n)).toThrow(refused('invalid-amount'));
    expect(() => assertAmount(maxAmount + 1n)).toThrow(refused('invalid-amount'));
  });

  it('of W refuse a point that is not on the curve', () => {
    expect(() => encodeWalletPub({ x: 5n, y: 5n })).toThrow(refused('invalid_wallet_pub'));
  });

  it('of addresses refuse a wrong checksum and the zero address', () => {
    const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
    const wrong = address.replace('F', 'f');
    expect(
      [address, address.toLowerCase(), wrong, `0x${'00'.repeat(20)}`].map(isEvmAddress),
    ).toEqual([true, true, false, false]);
  });
});
