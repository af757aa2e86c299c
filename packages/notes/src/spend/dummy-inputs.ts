/**
 * Inputs that consume nothing (protocol §6): they fill the slots of a spend that has fewer notes than its circuit has inputs. Their
 * nullifiers look like all others. Another tag keeps them from being the nullifier of any note.
 *
 * @module
 */
import { computeManifestDigest, type Field, type SpendManifest, spendShapes } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import { dummyTag } from '../hash/tags.ts';
import { createSeedSource } from '../keys/seed.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';
import { computeWalletId } from '../keys/wallet-id.ts';
import { computeManifestAssetId } from '../note/note-slot.ts';

/** An input without a note, nf = H_5(TAG_DUMMY, assetId, nonce, v, w). The nonce is secret, the nullifier public once spent. */
export type DummyInput = { readonly nonce: Field; readonly nullifier: Field };

/**
 * The dummies behind the notes of a manifest, in the order of the circuit's inputs. A signer without v gets their nullifiers from
 * the agent. It need not check them: the outputs and the withdrawal fix the sum of the inputs.
 *
 * @param seed - of the manifest, secret
 * @param viewingKey - v of the inputs, secret
 * @throws PoolError `invalid_value`, `invalid_viewing_key`, `invalid_wallet_pub`, `invalid-address`
 */
export function deriveDummyInputs(
  manifest: SpendManifest,
  seed: Uint8Array,
  viewingKey: bigint,
): DummyInput[] {
  const source = createSeedSource(seed, computeManifestDigest(manifest));
  const assetId = computeManifestAssetId(manifest);
  const walletId = computeWalletId(manifest.walletPub);
  const used = manifest.inputNullifiers.length;
  const count = Math.max(0, spendShapes[manifest.circuit].inputs - used);
  return Array.from({ length: count }, (_, i) => {
    const nonce = source.deriveField('pool/v1/spend/dummy-nonce', used + i);
    const v = assertViewingKey(viewingKey);
    return { nonce, nullifier: poseidon([dummyTag, assetId, nonce, v, walletId]) };
  });
}
