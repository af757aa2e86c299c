import { Signature, SigningKey, Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import { parseEvmAddress } from '../values/evm-address.ts';
import { type Hex, parseHex } from '../values/hex.ts';
import {
  createSignInMessage,
  maxEvidenceSkewMs,
  parseEncryptionPublicKey,
  parseSignInMessage,
  recoverWalletPub,
  type SignInEvidence,
  type SignInFields,
  verifyEvidence,
} from './sign-in.ts';

const wallet = new Wallet(`0x${'42'.repeat(32)}`);
const other = new Wallet(`0x${'43'.repeat(32)}`);
const issuedAtMs = Date.parse('2026-11-01T09:00:00.000Z');
const shortKey: Hex = `0x${'ab'.repeat(31)}`;
const encryptionPublicKey = parseEncryptionPublicKey(`0x${'ab'.repeat(32)}`);
const fields: SignInFields = {
  domain: 'pool.example',
  address: parseEvmAddress(wallet.address),
  statement: 'Enrol this wallet.',
  uri: 'https://pool.example',
  chainId: 31337,
  nonce: 'abcdefgh12345678',
  issuedAtMs,
  expirationTimeMs: issuedAtMs + 600_000,
  encryptionPublicKey,
};
const text = `pool.example wants you to sign in with your Ethereum account:
${wallet.address}

Enrol this wallet.

URI: https://pool.example
Version: 1
Chain ID: 31337
Nonce: abcdefgh12345678
Issued At: 2026-11-01T09:00:00.000Z
Expiration Time: 2026-11-01T09:10:00.000Z
Resources:
- urn:pool:encryption-key:${encryptionPublicKey}`;

function sign(message: string, signer = wallet): Hex {
  return parseHex(signer.signMessageSync(message));
}
const expected = { domain: 'pool.example', uri: 'https://pool.example' };
const nowMs = issuedAtMs + 86_400_000;
const invalidSignIn = expect.objectContaining({ code: 'invalid_sign_in' });

describe('createSignInMessage', () => {
  it('writes the text of EIP-4361', () => {
    expect(createSignInMessage(fields)).toBe(text);
  });

  it.each<[string, Partial<Record<keyof SignInFields, unknown>>]>([
    ['a statement with lines', { statement: 'Hello.\n\nURI: https://evil.example' }],
    ['a nonce with lines', { nonce: 'abcdefgh12345678\nIssued At: 2026-11-01T09:00:00.000Z' }],
    ['a short nonce', { nonce: 'abc' }],
    ['a key with lines', { encryptionPublicKey: `${encryptionPublicKey}\n- https://x` }],
    ['a key of 31 bytes', { encryptionPublicKey: shortKey }],
    ['a domain with a scheme', { domain: 'https://pool.example' }],
    ['a domain with lines', { domain: 'pool.example\nevil' }],
    ['no time', { issuedAtMs: Number.NaN }],
    ['a time beyond all calendars', { expirationTimeMs: 1e17 }],
    ['half a chain', { chainId: 0.5 }],
    ['a false checksum', { address: wallet.address.replace(/[a-f]/, (c) => c.toUpperCase()) }],
  ])('refuses %s', (_, change) => {
    const wrong = { ...fields, ...change };
    expect(() => Reflect.apply(createSignInMessage, undefined, [wrong])).toThrow(invalidSignIn);
  });
});

describe('parseSignInMessage', () => {
  it('reads the fields back', () => {
    const { statement: _, ...rest } = fields;
    expect(parseSignInMessage(text)).toEqual(rest);
  });

  it('reads other resources as no key', () => {
    const message = text.replace('urn:pool:encryption-key:', 'urn:pool:else:');
    expect(parseSignInMessage(message).encryptionPublicKey).toBeUndefined();
  });

  it('reads an all-lower-case address', () => {
    const message = text.replace(wallet.address, wallet.address.toLowerCase());
    expect(parseSignInMessage(message).address).toBe(wallet.address);
  });

  it.each([
    ['nothing', ''],
    ['prose', 'Please sign.'],
    ['version 2', text.replace('Version: 1', 'Version: 2')],
    ['a scheme', `https://${text}`],
    ['Not Before', text.replace('Resources:', 'Not Before: 2026-11-01T09:00:00.000Z\nResources:')],
    ['two keys', `${text}\n- urn:pool:encryption-key:0x${'cd'.repeat(32)}`],
    ['the same key twice', `${text}\n- urn:pool:encryption-key:${encryptionPublicKey}`],
    ['a short key', text.slice(0, -2)],
    ['an upper-case key', text.replaceAll('abab', 'ABAB')],
    ['an empty key', text.replace(encryptionPublicKey, '')],
    [
      'a false checksum',
      text.replace(/0x([0-9A-F]*)([a-f])/, (_, a, b) => `0x${a}${b.toUpperCase()}`),
    ],
    ['a line more', `${text}\n`],
    ['Windows line ends', text.replaceAll('\n', '\r\n')],
  ])('refuses %s', (_, message) => {
    expect(() => parseSignInMessage(message)).toThrow(invalidSignIn);
  });
});

describe('recoverWalletPub', () => {
  it('finds the key that ethers signed with', () => {
    for (let i = 0; i < 10; i += 1) {
      const random = Wallet.createRandom();
      expect(recoverWalletPub(text, random.signMessageSync(text))).toBe(
        SigningKey.computePublicKey(random.privateKey, true),
      );
    }
  });

  const signature = sign(text);
  const { r, s, v } = Signature.from(signature);
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const highS = `${r}${word(n - BigInt(s))}${v === 27 ? '1c' : '1b'}`;
  it.each([
    ['a high s: the same signature a second time', highS],
    ['v of 0 or 1', `${signature.slice(0, -2)}${v === 27 ? '00' : '01'}`],
    ['v of 29', `${signature.slice(0, -2)}1d`],
    ['v of 37', `${signature.slice(0, -2)}25`],
    ['64 bytes', signature.slice(0, -2)],
    ['66 bytes', `${signature}00`],
    ['r = 0', `0x${word(0n)}${signature.slice(66)}`],
    ['r = n', `0x${word(n)}${signature.slice(66)}`],
    ['s = 0', `${signature.slice(0, 66)}${word(0n)}1b`],
    ['upper case', `0x${signature.slice(2).toUpperCase()}`],
    ['an r that is not an x-coordinate of the curve', `0x${word(5n)}${word(1n)}1b`],
    ['nothing', '0x'],
  ])('refuses %s', (_, changed) => {
    expect(() => recoverWalletPub(text, changed)).toThrow(
      expect.objectContaining({ code: 'invalid_signature', status: 401 }),
    );
  });
});

describe('verifyEvidence', () => {
  const evidence = { message: text, signature: sign(text) };

  it('accepts a key bound by its wallet, long after the text expired', () => {
    expect(verifyEvidence(evidence, expected, nowMs + 10 * 365 * 86_400_000)).toEqual({
      walletPub: SigningKey.computePublicKey(wallet.privateKey, true),
      address: wallet.address,
      encryptionPublicKey,
      issuedAtMs,
    });
  });

  it('accepts five minutes of clock skew and not a millisecond more', () => {
    const skewed = issuedAtMs - maxEvidenceSkewMs;
    expect(verifyEvidence(evidence, expected, skewed).issuedAtMs).toBe(issuedAtMs);
    expect(() => verifyEvidence(evidence, expected, skewed - 1)).toThrow(
      expect.objectContaining({ code: 'invalid_evidence' }),
    );
  });

  const signed = (message: string, signer = wallet) => ({
    message,
    signature: sign(message, signer),
  });
  it.each<[string, SignInEvidence]>([
    ['another domain', signed(text.replace('pool.example wants', 'evil.example wants'))],
    ['a subdomain', signed(text.replace('pool.example wants', 'x.pool.example wants'))],
    ['another port', signed(text.replace('pool.example wants', 'pool.example:81 wants'))],
    ['another URI', signed(text.replace('URI: https://pool', 'URI: https://evil'))],
    [
      'a longer URI',
      signed(text.replace('URI: https://pool.example', 'URI: https://pool.example/')),
    ],
    ['another wallet’s signature', signed(text, other)],
    ['another text’s signature', { message: text, signature: sign(`${text}0`) }],
    ['no key', signed(text.slice(0, text.indexOf('\nResources')))],
    ['two keys', signed(`${text}\n- urn:pool:encryption-key:0x${'cd'.repeat(32)}`)],
    ['a swapped key', { message: text.replaceAll('abab', 'cdcd'), signature: sign(text) }],
    ['a text that is not a sign-in', signed('hello')],
    ['no signature', { message: text, signature: '0x' }],
  ])('refuses %s', (_, refused) => {
    expect(() => verifyEvidence(refused, expected, nowMs)).toThrow(
      expect.objectContaining({ code: 'invalid_evidence' }),
    );
  });
});
