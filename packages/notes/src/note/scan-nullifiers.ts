/**
 * Nullifiers of many notes of one holder, on the kernels. The same values as {@link computeNullifier}.
 *
 * @module
 */
import type { AssetId, Field } from '@pool/core';
import type { ScanKernels } from '@pool/kernels';
import { hashPoseidonMany } from '../hash/scan-poseidon.ts';
import { nullifierTag } from '../hash/tags.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';

/**
 * nf = H_5(TAG_NULLIFIER, assetId, nonce, v, w) of each note, in the order given.
 *
 * @param input.viewingKey - v, secret
 * @returns secret until the notes are spent
 * @throws PoolError `invalid_viewing_key`, `invalid_field_element`; errors of the kernels
 */
export async function computeNullifiers(
  kernels: Pick<ScanKernels, 'hashPoseidonMany'>,
  input: {
    readonly notes: readonly { readonly assetId: AssetId; readonly nonce: Field }[];
    readonly viewingKey: bigint;
    readonly walletId: Field;
  },
): Promise<readonly Field[]> {
  const viewingKey = assertViewingKey(input.viewingKey);
  return await hashPoseidonMany(
    kernels,
    input.notes.map(({ assetId, nonce }) => [
      nullifierTag,
      assetId,
      nonce,
      viewingKey,
      input.walletId,
    ]),
  );
}
