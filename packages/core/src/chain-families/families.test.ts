import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/wallet-id.json' with { type: 'json' };
import { type ChainFamilyName, chainFamilies, findChainFamily } from './families.ts';

describe('chain families', () => {
  it('are found by their own names', () => {
    for (const [name, family] of Object.entries(chainFamilies)) {
      expect(findChainFamily(name)).toBe(family);
    }
    expect(Object.values(chainFamilies).map(({ name, curve }) => `${name}: ${curve}`)).toEqual([
      'evm: secp256k1',
      'solana: ed25519',
      'stellar: ed25519',
    ]);
  });

  it.each(['aptos', 'EVM', '', 'constructor'])('contain no family %j', (name) => {
    expect(findChainFamily(name)).toBeUndefined();
  });

  it.each(vectors.wallets)('write the EVM address $address', ({ walletPub, address }) => {
    expect(chainFamilies.evm.formatAddress(walletPub)).toBe(address);
    expect(chainFamilies.evm.parseAddress(address.toLowerCase())).toBe(address);
  });

  it('do not read the addresses of another family', () => {
    const addresses = {
      evm: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      solana: 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z',
      stellar: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    } satisfies Readonly<Record<ChainFamilyName, string>>;
    for (const [name, address] of Object.entries(addresses)) {
      for (const family of Object.values(chainFamilies)) {
        if (family.name === name) {
          expect(family.parseAddress(address)).toBe(address);
        } else {
          expect(() => family.parseAddress(address)).toThrow(
            expect.objectContaining({ code: 'invalid-address' }),
          );
        }
      }
    }
  });
});
