/**
 * The keys that follow from a holder's wallet and viewing key (protocol §2): v by the default derivation, and P on the curve of W.
 *
 * @module
 */
import { type Curve, type EncryptionPublicKey, PoolError, Secret } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey, deriveViewingKey } from '@pool/notes';
import type { HolderSigner } from './holder-signer.ts';

/**
 * v by the default derivation: from a signature over the platform's viewing-key text. The signer is asked twice, and must answer
 * with the same bytes. Otherwise every session would derive another key, and notes sealed to the first one would be lost.
 *
 * @param domain - the platform's domain, from the agent's own chains.json
 * @returns v, secret
 * @throws PoolError `viewing_key_required` for a signer that does not repeat its signatures
 */
export async function deriveHolderViewingKey(
  signer: HolderSigner,
  domain: string,
): Promise<Secret<bigint>> {
  if (!signer.deterministic) {
    throw createRequiredError(signer);
  }
  const first = (await signer.signViewingKeyText(domain)).reveal();
  const second = (await signer.signViewingKeyText(domain)).reveal();
  const isRepeated =
    first.length === second.length && first.every((byte, index) => byte === second[index]);
  if (!isRepeated) {
    throw createRequiredError(signer);
  }
  return new Secret(deriveViewingKey(first));
}

function createRequiredError({ name }: HolderSigner): PoolError {
  return new PoolError(
    'viewing_key_required',
    `the holder's signer ${name} does not repeat its signatures, so no viewing key can be derived from one; set DISBURSE_HOLDER_VIEWING_KEY to the key that you made with "disburse-agent viewing-key new"`,
  );
}

/** P of a viewing key, for wallets of a curve: Baby Jubjub for secp256k1, X25519 for ed25519. One scalar serves both. */
export function computeHolderEncryptionKey(
  curve: Curve,
  viewingKey: Secret<bigint>,
): EncryptionPublicKey {
  switch (curve) {
    case 'secp256k1':
      return computeEncryptionPublicKey(viewingKey.reveal());
    case 'ed25519':
      return computeX25519PublicKey(viewingKey.reveal());
  }
}
