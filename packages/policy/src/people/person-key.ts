/**
 * Ed25519 signatures of people over texts.
 *
 * @module
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { bytesToHex, type Hex, hexToBytes } from '@pool/core';

/** @param privateKey - Ed25519 key of the person */
export function signText(
  text: string,
  privateKey: KeyObject,
): { readonly publicKey: Hex; readonly signature: Hex } {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    publicKey: bytesToHex(Buffer.from(x ?? '', 'base64url')),
    signature: bytesToHex(sign(null, Buffer.from(text), privateKey)),
  };
}

/** @param publicKey - 32 bytes of hex. @param signature - 64 bytes of hex */
export function isSignedText(text: string, publicKey: string, signature: string): boolean {
  try {
    const x = Buffer.from(hexToBytes(publicKey, 32)).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, hexToBytes(signature, 64));
  } catch {
    return false;
  }
}
