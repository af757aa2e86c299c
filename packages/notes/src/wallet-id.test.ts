import { hexToBigint, parseHex } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/wallet-id.json' with { type: 'json' };
import { computeWalletId } from './wallet-id.ts';

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
