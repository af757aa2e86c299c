// Expected values come from SEP-23 and from @stellar/stellar-base.
import { Keypair, StrKey } from '@stellar/stellar-base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesToHex } from '../values/hex.ts';
import { stellarFamily } from './stellar.ts';

const { parseAddress, formatAddress } = stellarFamily;

/** SEP-23, "Valid non-multiplexed account". */
const account = {
  address: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
  walletPub: '0x3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a',
};

const keypairs = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((seed) => Keypair.fromRawEd25519Seed(Buffer.from(seed)));

describe('a Stellar address', () => {
  it('is the published one for the published key', () => {
    expect(formatAddress(account.walletPub)).toBe(account.address);
    expect(parseAddress(account.address)).toBe(account.address);
  });

  it('equals that of stellar-base for any wallet, in both directions', () => {
    fc.assert(
      fc.property(keypairs, (keypair) => {
        const address = formatAddress(bytesToHex(new Uint8Array(keypair.rawPublicKey())));
        expect(address).toBe(keypair.publicKey());
        expect(parseAddress(address)).toBe(address);
      }),
      { numRuns: 100 },
    );
  });

  it('with one character changed is refused, as by stellar-base [error.invalid-address]', () => {
    const digit = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');
    fc.assert(
      fc.property(keypairs, fc.integer({ min: 1, max: 55 }), digit, (keypair, at, replacement) => {
        const address = keypair.publicKey();
        const mistyped = address.slice(0, at) + replacement + address.slice(at + 1);
        fc.pre(mistyped !== address);
        expect(StrKey.isValidEd25519PublicKey(mistyped)).toBe(false);
        expect(() => parseAddress(mistyped)).toThrow(
          expect.objectContaining({ code: 'invalid-address' }),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('agrees with stellar-base on the checksum of any 32 bytes, and refuses those that are not a key', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    let refused = 0;
    fc.assert(
      fc.property(bytes, (key) => {
        const address = StrKey.encodeEd25519PublicKey(Buffer.from(key));
        try {
          expect(parseAddress(address)).toBe(address);
        } catch (error) {
          refused += 1;
          // The spelling holds, the key does not: another message than for a wrong checksum.
          expect(error).toMatchObject({ message: expect.stringMatching(/nobody can sign/) });
        }
      }),
      { numRuns: 100 },
    );
    // 15 of 16 on average.
    expect(refused).toBeGreaterThan(60);
  });

  it.each([
    [
      'a muxed address',
      /muxed address/,
      `MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ`,
    ],
    [
      'a muxed address with a large id',
      /muxed address/,
      'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK',
    ],
    [
      'a contract',
      /contract cannot sign in/,
      'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA',
    ],
  ])('that is %s is refused with advice', (_, message, text) => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({ code: 'invalid-address', message: expect.stringMatching(message) }),
    );
  });

  it('that is a secret seed is refused without repeating it', () => {
    const seed = Keypair.random().secret();
    let message = '';
    try {
      parseAddress(seed);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/treat it as disclosed/);
    expect(message).not.toContain(seed.slice(1, 20));
  });

  it.each([
    // The invalid test cases of SEP-23 that begin with G.
    ['5 bytes', 'GAAAAAAAACGC6'],
    ['57 characters', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA'],
    ['36 bytes', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI'],
    ['an unknown algorithm', 'G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I'],
    ['a liquidity pool', 'LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJN'],
    ['a claimable balance', 'BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TU'],
    ['lower case', account.address.toLowerCase()],
    ['padded', `${account.address}====`],
    ['white space', ` ${account.address}`],
    ['a line break', `${account.address}\n`],
    ['a Solana address', 'So11111111111111111111111111111111111111112'],
    ['nothing', ''],
    ['a number', 5],
    ['undefined', undefined],
  ])('is not %s', (_, text) => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({
        code: 'invalid-address',
        message: expect.stringMatching(/begin with G/),
      }),
    );
  });

  it.each([
    ['an EVM key', `0x02${'0b'.repeat(32)}`],
    ['the zero key', `0x${'00'.repeat(32)}`],
    ['upper case', account.walletPub.toUpperCase()],
    ['an address', account.address],
    ['undefined', undefined],
  ])('is not made of %s', (_, walletPub) => {
    expect(() => formatAddress(walletPub)).toThrow(
      expect.objectContaining({ code: 'invalid_wallet_pub' }),
    );
  });
});
