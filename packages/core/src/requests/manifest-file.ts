/**
 * The manifest file: a manifest with its seed, which the agent hands to the approve process or to an enclave before it asks for a
 * signature (protocol §3). From it the receiver rebuilds every commitment, every sealed note and the digest to sign.
 *
 * Secret: it holds recipients and amounts, and the seed decides every random value of the batch or spend.
 *
 * @module
 */
import * as v from 'valibot';
import { maxSpendInputs } from '../values/circuit-sizes.ts';
import { fundManifestSchema } from './manifest.ts';
import { described, hex32Schema, unixSecondsSchema } from './schema.ts';
import { spendManifestSchema } from './spend-manifest.ts';

const versionSchema = described(v.literal(1), 'Version of this document’s layout.');
const seedSchema = described(hex32Schema, 'The 32 random bytes of the manifest, as hex. Secret.');

/** A batch to be funded. */
export const fundFileSchema = v.strictObject({
  version: versionSchema,
  manifest: described(
    fundManifestSchema,
    'The batch without its randomness. Its digest names the file.',
  ),
  seed: seedSchema,
  deadline: described(
    unixSecondsSchema,
    'Deadline of the authorisation, Unix seconds. One per attempt.',
  ),
});
export type FundFile = v.InferOutput<typeof fundFileSchema>;

/** A transfer or a withdrawal. Its deadline is in its manifest. */
export const spendFileSchema = v.strictObject({
  version: versionSchema,
  manifest: described(
    spendManifestSchema,
    'The spend without its randomness. Its digest names the file.',
  ),
  seed: seedSchema,
  dummyNullifiers: described(
    v.pipe(v.array(hex32Schema), v.maxLength(maxSpendInputs - 1)),
    'Nullifiers of the inputs that the manifest leaves free, in their order.',
  ),
});
export type SpendFile = v.InferOutput<typeof spendFileSchema>;

export const manifestFileSchema = v.union([fundFileSchema, spendFileSchema]);
export type ManifestFile = FundFile | SpendFile;

export function isFundFile(file: ManifestFile): file is FundFile {
  return file.manifest.kind === 'fund';
}
