// The expected keys come from Node's own HKDF and elliptic curve, and from the agent's code that opens a holder.
import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto';
import { bytesToHex, computeWalletAddress, parseWalletPub, Secret } from '@pool/core';
import { openHolder } from '@pool/signers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeed, deriveWalletKey, openAccount } from './account.ts';

const domain = 'pool.example';
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function seedOf(bytes: Uint8Array = Uint8Array.from({ length: 32 }, (_, index) => index)) {
  return new Secret(Uint8Array.from(bytes));
}

function deriveByNode(seed: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', seed, '', `pool/v1/account/${purpose}`, length));
}

describe('the keys of an account', () => {
  it('derives wallet key and gas key as 1 + (48 bytes mod (n-1)), and W from it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), async (bytes) => {
        fc.pre(bytes.some((byte) => byte !== 0));
        const derive = (purpose: string): string => {
          const wide = BigInt(`0x${deriveByNode(bytes, purpose, 48).toString('hex')}`);
          return (1n + (wide % (order - 1n))).toString(16).padStart(64, '0');
        };
        const scalar = derive('wallet-key');
        const curve = createECDH('secp256k1');
        curve.setPrivateKey(scalar, 'hex');
        const walletPub = parseWalletPub(`0x${curve.getPublicKey('hex', 'compressed')}`);

        const account = await openAccount(seedOf(bytes), domain);
        expect(bytesToHex(deriveWalletKey(seedOf(bytes)).reveal())).toBe(`0x${scalar}`);
        expect(account.gasKey.reveal()).toBe(`0x${derive('gas-key')}`);
        expect(account.walletPub).toBe(walletPub);
        expect(account.address).toBe(computeWalletAddress(walletPub));
      }),
      { numRuns: 10 },
    );
  });

  it('has the P, W and viewing key of an agent with the exported wallet key', async () => {
    const seed = createSeed();
    const privateKey = new Secret<string>(bytesToHex(deriveWalletKey(seed).reveal()));
    const absent = { ed25519Key: undefined, walletPub: undefined, viewingKey: undefined };
    const holder = await openHolder(
      {
        ...{ chain: undefined, chainsFile: '' },
        holder: {
          ...{ signer: 'local-key', privateKey, encryptionPublicKey: undefined, ...absent },
          ...{ remote: undefined, isProduction: false, earlierViewingKeys: [] },
        },
      },
      domain,
    );
    const account = await openAccount(seed, domain);
    const { walletPub, address, encryptionPublicKey } = holder;
    expect(account).toMatchObject({ walletPub, address, encryptionPublicKey });
    expect(account.viewingKey.reveal()).toBe(holder.viewingKey.reveal());
  });

  it('has one W and a P of its own on each platform', async () => {
    const [here, there] = await Promise.all([
      openAccount(seedOf(), domain),
      openAccount(seedOf(), 'other.example'),
    ]);
    expect(there.walletPub).toBe(here.walletPub);
    expect(there.encryptionPublicKey).not.toBe(here.encryptionPublicKey);
  });

  it('seals with a storage key that no code can export', async () => {
    const { storageKey } = await openAccount(seedOf(), domain);
    const iv = new Uint8Array(12);
    const plaintext = new TextEncoder().encode('a note');
    const sealed = Buffer.from(
      await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, storageKey, plaintext),
    );
    const key = deriveByNode(seedOf().reveal(), 'storage-key', 32);
    const decipher = createDecipheriv('aes-256-gcm', key, iv);
    decipher.setAuthTag(sealed.subarray(-16));
    expect(decipher.update(sealed.subarray(0, -16), undefined, 'utf8')).toBe('a note');
    decipher.final();
    await expect(crypto.subtle.exportKey('raw', storageKey)).rejects.toThrow(/extractable/);
  });

  it('signs nothing after it was closed', async () => {
    const { signer, close } = await openAccount(seedOf(), domain);
    await expect(signer.signViewingKeyText(domain)).resolves.toBeDefined();
    close();
    await expect(signer.signViewingKeyText(domain)).rejects.toThrow(/private key|secret/i);
  });

  it('refuses a wiped seed, whose keys everybody knows', async () => {
    const seed = createSeed();
    seed.reveal().fill(0);
    await expect(openAccount(seed, domain)).rejects.toMatchObject({ code: 'invalid_value' });
    expect(() => deriveWalletKey(seed)).toThrow(/wiped/);
  });

  it('makes another seed each time', () => {
    expect(createSeed().reveal()).not.toEqual(createSeed().reveal());
  });
});
