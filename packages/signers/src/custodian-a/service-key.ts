/**
 * The key of a service account at custodian A. It signs the client data of user actions: Ed25519 over the bytes, P-256 over their
 * SHA-256 as DER. Vectors: vectors/custodian-a.json.
 *
 * @module
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { PoolError, type Secret } from '@pool/core';

export type ServiceKey = {
  /** The signature as the provider reads it: 64 bytes for Ed25519, DER for P-256. */
  sign(message: Uint8Array): Uint8Array;
};

/**
 * @param pem - PKCS#8 PEM of an Ed25519 or P-256 key
 * @throws PoolError `invalid_configuration`, without the value
 */
export function parseServiceKey(pem: Secret): ServiceKey {
  const key = parseKey(pem);
  const algorithm = key === undefined ? undefined : findAlgorithm(key);
  if (key === undefined || algorithm === undefined) {
    throw new PoolError(
      'invalid_configuration',
      'the key of the service account must be an Ed25519 or P-256 private key as PKCS#8 PEM',
    );
  }
  return { sign: (message) => sign(algorithm.hash, message, key) };
}

function parseKey(pem: Secret): KeyObject | undefined {
  try {
    return createPrivateKey(pem.reveal());
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    return undefined;
  }
}

function findAlgorithm(key: KeyObject): { readonly hash: 'sha256' | null } | undefined {
  if (key.asymmetricKeyType === 'ed25519') {
    return { hash: null };
  }
  const isP256 =
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return isP256 ? { hash: 'sha256' } : undefined;
}
