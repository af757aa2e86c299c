import { inspect } from 'node:util';
import { bytesToHex, Secret } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { computeKeyWalletPub } from '../signing-key.ts';
import { createSigningKey, sealKey, unsealKey } from './sealed-key.ts';

const secret = new Secret(new Uint8Array(32).fill(0x5e));
const key = createSigningKey();
const sealed = sealKey(key, secret, 12);

describe('a sealed key', () => {
  it('opens with its sealing secret, and does not contain the key', () => {
    expect(unsealKey(sealed, secret).reveal()).toEqual(key.reveal());
    expect(sealed.walletPub).toBe(computeKeyWalletPub(key));
    const digits = bytesToHex(key.reveal()).slice(2);
    expect(JSON.stringify(sealed)).not.toContain(digits);
    expect(inspect([key, secret], { showHidden: true, depth: 9 })).not.toContain(digits);
  });

  it('is different each time', () => {
    expect(sealKey(key, secret, 12).ciphertext).not.toBe(sealed.ciphertext);
  });

  it('does not open with another secret', () => {
    const other = new Secret(new Uint8Array(32).fill(0x5f));
    expect(() => unsealKey(sealed, other)).toThrow(/does not open/);
  });

  it('does not open with the name of another key, or any other change', () => {
    const another = computeKeyWalletPub(createSigningKey());
    for (const change of [
      { walletPub: another },
      { scrypt: { ...sealed.scrypt, logN: 13 } },
      { nonce: `0x${'00'.repeat(24)}` },
      { ciphertext: `0x${'00'.repeat(48)}` },
    ]) {
      expect(() => unsealKey({ ...sealed, ...change }, secret)).toThrow(/does not open/);
    }
  });

  it('is refused in another form, without repeating what was read', () => {
    for (const value of [
      undefined,
      'hunter2',
      { ...sealed, version: 2 },
      { ...sealed, extra: 1 },
    ]) {
      expect(() => unsealKey(value, secret)).toThrow(/^the key file is not one that/);
    }
  });

  it('is not made with a short secret', () => {
    expect(() => sealKey(key, new Secret(new Uint8Array(31)), 12)).toThrow(/has 31 bytes/);
  });
});
