/**
 * `local-key`: a private key in this process. For development and the sandbox; signatures are
 * deterministic (RFC 6979).
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  computeWalletAddress,
  type EvmAddress,
  encodeWalletPub,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
  type Secret,
  type WalletPub,
} from '@pool/core';
import {
  computeRequestDigest,
  findRefusal,
  type SignerAllow,
  type SignRequest,
} from '@pool/policy';
import { acceptSignature } from './accept-signature.ts';
import { signTwice } from './deterministic.ts';
import { refuse } from './refusal.ts';
import type { Outcome, Signer } from './signer.ts';

export type LocalKeySignerOptions = {
  /** secp256k1 private key: 32 bytes of lower-case 0x-hex. */
  readonly privateKey: Secret;
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
  const publicKey = parsePublicKey(privateKey);
  const address = computeWalletAddress(publicKey);

  function submitNow(request: SignRequest): Promise<Outcome> | Outcome {
    const refusal = findRefusal(request, address, allow, nowMs());
    return refusal === undefined ? sign(request) : refuse(refusal, 'the local key');
  }

  async function sign(request: SignRequest): Promise<Outcome> {
    const digest = computeRequestDigest(request);
    const signOnce = async (): Promise<string> => signDigest(privateKey, digest);
    const raw = request.kind === 'viewing-key' ? await signTwice(signOnce) : await signOnce();
    if (raw === undefined) {
      return refuse('not-deterministic', 'the local key');
    }
    const signature = acceptSignature({ signature: raw, digest, expectedSigner: address });
    return { state: 'signed', providerId: `local:${request.externalId}`, signature };
  }

  return {
    name: 'local-key',
    capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
    address: async (): Promise<EvmAddress> => address,
    publicKey: async (): Promise<WalletPub> => publicKey,
    async submit(request, { signal } = {}) {
      signal?.throwIfAborted();
      return submitNow(request);
    },
    // Nothing is stored: submitting the same request again gives the same signature.
    read: async () => undefined,
    find: async () => undefined,
  };
}

function parsePublicKey(privateKey: Secret): WalletPub {
  try {
    const bytes = hexToBytes(privateKey.reveal(), 32);
    return encodeWalletPub(secp256k1.Point.fromBytes(secp256k1.getPublicKey(bytes)).toAffine());
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    throw new PoolError(
      'invalid_configuration',
      'the private key must be 32 bytes of lower-case hex with 0x, between 1 and the group order',
    );
  }
}

/** r ‖ s ‖ recovery id, by RFC 6979. */
function signDigest(privateKey: Secret, digest: Hex32): Hex {
  const key = hexToBytes(privateKey.reveal(), 32);
  const recovered = secp256k1.sign(hexToBytes(digest, 32), key, {
    prehash: false,
    lowS: true,
    format: 'recovered',
  });
  key.fill(0);
  return bytesToHex(Uint8Array.from([...recovered.subarray(1), recovered[0] ?? 0]));
}
