/**
 * `local-key`: a private key in this process. For development and the sandbox; signatures are
 * deterministic (RFC 6979).
 *
 * @module
 */

import {
  computeWalletAddress,
  type EvmAddress,
  hexToBytes,
  Secret,
  type WalletPub,
} from '@pool/core';
import { computeRequestDigest, findRefusal, type SignerAllow } from '@pool/policy/requests';
import { acceptSignature } from './accept-signature.ts';
import { invalidConfiguration } from './config.ts';
import { refuse } from './refusal.ts';
import type { Signer } from './signer.ts';
import { createMemoryKey, type SigningKey } from './signing-key.ts';

export type LocalKeySignerOptions = {
  /** secp256k1 private key: 32 bytes of lower-case 0x-hex, or the bytes. Once the caller wipes the bytes, the signer signs nothing. */
  readonly privateKey: Secret<string | Uint8Array>;
  readonly allow?: SignerAllow;
  /** Clock that the dates of sign-in texts are compared with, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
};

/**
 * A signer with a private key in this process. It builds what it signs from the typed request and checks it against `allow`.
 *
 * @example
 * const signer = createLocalKeySigner({ privateKey: new Secret(text) });
 * const outcome = await signer.submit(createSignRequest({ kind: 'sign-in', payload: { message }, expectedSigner }));
 *
 * @throws PoolError `invalid_configuration`, without the value
 */
export function createLocalKeySigner(options: LocalKeySignerOptions): Signer {
  const { privateKey, allow = {}, nowMs = Date.now } = options;
  const key = openLocalKey(privateKey);
  const address = computeWalletAddress(key.walletPub);

  return {
    name: 'local-key',
    capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
    address: async (): Promise<EvmAddress> => address,
    publicKey: async (): Promise<WalletPub> => key.walletPub,
    async submit(request, { signal } = {}) {
      signal?.throwIfAborted();
      const refusal = findRefusal(request, address, allow, nowMs());
      if (refusal !== undefined) {
        return refuse(refusal, 'the local key');
      }
      const digest = computeRequestDigest(request);
      const signature = acceptSignature({
        signature: key.sign(digest),
        digest,
        expectedSigner: address,
      });
      return { state: 'signed', providerId: `local:${request.externalId}`, signature };
    },
    // Nothing is stored: submitting the same request again gives the same signature.
    read: async () => undefined,
    find: async () => undefined,
  };
}

/** @throws PoolError `invalid_configuration`, without the value */
export function openLocalKey(privateKey: Secret<string | Uint8Array>): SigningKey {
  try {
    const key = privateKey.reveal();
    return createMemoryKey(new Secret(typeof key === 'string' ? hexToBytes(key, 32) : key));
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    throw invalidConfiguration(
      'the private key must be 32 bytes of lower-case hex with 0x, between 1 and the group order',
    );
  }
}
