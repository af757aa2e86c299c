import { Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/wallet-id.json' with { type: 'json' };
import { hexToBigint } from './hex.ts';
import {
  computeWalletAddress,
  decodeWalletPub,
  encodeWalletPub,
  parseWalletPub,
} from './wallet-pub.ts';

describe('walletPub', () => {
  it.each(vectors.wallets)('reads the key of $address', (vector) => {
    const point = { x: hexToBigint(vector.x), y: hexToBigint(vector.y) };
    const walletPub = parseWalletPub(vector.walletPub);
    expect(walletPub).toBe(vector.walletPub);
    expect(decodeWalletPub(walletPub)).toEqual(point);
    expect(encodeWalletPub(point)).toBe(walletPub);
    expect(computeWalletAddress(walletPub)).toBe(vector.address);
  });

  it('agrees with ethers on random wallets', () => {
    for (let i = 0; i < 20; i += 1) {
      const wallet = Wallet.createRandom();
      expect(computeWalletAddress(parseWalletPub(wallet.publicKey))).toBe(wallet.address);
    }
  });

  it.each([...vectors.invalid, { why: 'a number', walletPub: 5 }, { why: 'no value' }])(
    'refuses a key that is $why',
    ({ walletPub }) => {
      expect(() => parseWalletPub(walletPub)).toThrow(
        expect.objectContaining({ code: 'invalid_wallet_pub' }),
      );
    },
  );
});
