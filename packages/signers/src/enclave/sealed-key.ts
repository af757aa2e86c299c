/**
 * The signing key at rest: XChaCha20-Poly1305 under a key that scrypt makes from a sealing secret. The secret comes from a file, or inside a
 * real enclave from a key management service that releases it to the measured code only (docs/operations/enclave.md).
 *
 * The file says whose key it holds. Address and public key are authenticated with the ciphertext, so a host cannot put one sealed key in
 * the place of another without notice.
 *
 * @module
 */

import { randomBytes, scryptSync } from 'node:crypto';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  canonicalJson,
  hexSchema,
  hexToBytes,
  Secret,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { invalidConfiguration } from '../config.ts';
import { computeKeyWalletPub } from '../signing-key.ts';

const sealedKeySchema = v.strictObject({
  version: v.literal(1),
  kind: v.literal('pool-enclave-key'),
  /** W of the key, 33 bytes of SEC1. Public. */
  walletPub: walletPubSchema,
  scrypt: v.strictObject({
    salt: hexSchema(32),
    /** log2 of N. */
    logN: v.pipe(v.number(), v.integer(), v.minValue(12), v.maxValue(20)),
  }),
  nonce: hexSchema(24),
  /** 32 bytes of key and 16 of tag. */
  ciphertext: hexSchema(48),
});
export type SealedKey = v.InferOutput<typeof sealedKeySchema>;

/** Bytes of the shortest sealing secret: 128 bits in hex. */
const minSecretBytes = 32;
const defaultLogN = 17;

/** A fresh secp256k1 key, 32 bytes, from the system's random numbers. */
export function createSigningKey(): Secret<Uint8Array> {
  return new Secret(secp256k1.utils.randomSecretKey());
}

/**
 * Seals a key. The result is not secret without the sealing secret.
 * @param secret - the sealing secret: at least 32 bytes, random
 * @param logN - cost of scrypt, 12–20. Default: 17, 128 MiB for a moment
 * @throws PoolError `invalid_configuration` if the sealing secret is too short
 */
export function sealKey(
  key: Secret<Uint8Array>,
  secret: Secret<Uint8Array>,
  logN = defaultLogN,
): SealedKey {
  const salt = randomBytes(32);
  const nonce = randomBytes(24);
  const header = {
    version: 1,
    kind: 'pool-enclave-key',
    walletPub: computeKeyWalletPub(key),
    scrypt: { salt: bytesToHex(salt), logN },
  } as const;
  const sealing = deriveSealingKey(secret, salt, logN);
  const ciphertext = xchacha20poly1305(sealing, nonce, encodeHeader(header)).encrypt(key.reveal());
  sealing.fill(0);
  return { ...header, nonce: bytesToHex(nonce), ciphertext: bytesToHex(ciphertext) };
}

/**
 * @param value - the content of a key file
 * @throws PoolError `invalid_configuration`: another sealing secret, a changed file, or not a key file
 */
export function unsealKey(value: unknown, secret: Secret<Uint8Array>): Secret<Uint8Array> {
  const sealed = v.safeParse(sealedKeySchema, value);
  if (!sealed.success) {
    throw invalidConfiguration('the key file is not one that "pool-enclave keygen" wrote');
  }
  const { nonce, ciphertext, ...header } = sealed.output;
  const sealing = deriveSealingKey(secret, hexToBytes(header.scrypt.salt, 32), header.scrypt.logN);
  try {
    const cipher = xchacha20poly1305(sealing, hexToBytes(nonce, 24), encodeHeader(header));
    const key = new Secret(cipher.decrypt(hexToBytes(ciphertext, 48)));
    // The header is authenticated, so this fails only if the file was made wrong.
    if (computeKeyWalletPub(key) !== header.walletPub) {
      throw new Error('another key');
    }
    return key;
  } catch {
    throw invalidConfiguration(
      'the key file does not open: the sealing secret is another one, or the file was changed',
    );
  } finally {
    sealing.fill(0);
  }
}

function deriveSealingKey(secret: Secret<Uint8Array>, salt: Uint8Array, cost: number): Uint8Array {
  const bytes = secret.reveal();
  if (bytes.length < minSecretBytes) {
    throw invalidConfiguration(
      `the sealing secret has ${bytes.length} bytes; use at least ${minSecretBytes} random ones, for example from "openssl rand -hex 32"`,
    );
  }
  const N = 2 ** cost;
  return Uint8Array.from(scryptSync(bytes, salt, 32, { N, r: 8, p: 1, maxmem: 256 * N * 8 }));
}

function encodeHeader(header: Omit<SealedKey, 'nonce' | 'ciphertext'>): Uint8Array {
  return Buffer.from(canonicalJson(header), 'utf8');
}
