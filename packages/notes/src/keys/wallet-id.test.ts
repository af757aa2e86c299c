import { computeTag, hexToBigint, parseHex } from '@pool/core';
import { poseidon3 } from 'poseidon-lite';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/wallet-id.json' with { type: 'json' };
import { computeEd25519WalletId, computeWalletId } from './wallet-id.ts';

describe('computeWalletId', () => {
  it.each(vectors.wallets)('matches for $address', ({ walletPub, walletId }) => {
    expect(computeWalletId(parseHex(walletPub))).toBe(hexToBigint(walletId));
  });

  it.each(vectors.invalid)('refuses a key that is $why', ({ walletPub }) => {
    expect(() => Reflect.apply(computeWalletId, undefined, [walletPub])).toThrow(
      expect.objectContaining({ code: 'invalid_wallet_pub' }),
    );
  });
});

describe('computeEd25519WalletId', () => {
  // Test 1 of RFC 8032, section 7.1.
  const key = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

  it('hashes the halves of the key, read big-endian, under a tag of its own', () => {
    const [high, low] = [BigInt(`0x${key.slice(0, 32)}`), BigInt(`0x${key.slice(32)}`)];
    expect(computeEd25519WalletId(parseHex(`0x${key}`))).toBe(
      poseidon3([computeTag('WALLET_ED'), low, high]),
    );
  });

  it.each([
    ['of small order', `01${'00'.repeat(31)}`],
    ['that is no point', `02${'00'.repeat(31)}`],
    ['of 33 bytes', `03${key}`],
  ])('refuses a key %s', (_case, hex) => {
    expect(() => computeEd25519WalletId(parseHex(`0x${hex}`))).toThrow(
      expect.objectContaining({ code: 'invalid_wallet_pub' }),
    );
  });
});
