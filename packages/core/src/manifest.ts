/**
 * The batch manifest (protocol §3): everything about a batch but its randomness, as one canonical JSON
 * document. Whoever holds manifest and seed can rebuild every commitment and sealed note. The deadline of the
 * authorisation is not in it: it is chosen when the batch is released.
 *
 * @module
 */
import * as v from 'valibot';
import { canonicalDigest } from './canonical-json.ts';
import type { Hex32 } from './hex.ts';
import { maxMemoBytes } from './memo.ts';
import {
  amountSchema,
  chainKeySchema,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  unixSecondsSchema,
} from './schema.ts';

/** Batch sizes a circuit is deployed for, from small to large. */
export const batchSizes = [16, 64, 256] as const;
export type BatchSize = (typeof batchSizes)[number];

/** Confidential: holds recipients and amounts. */
export const fundManifestSchema = v.strictObject({
  version: v.literal(1),
  kind: v.literal('fund'),
  employerId: v.pipe(v.string(), v.uuid()),
  jobKey: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)),
  chain: chainKeySchema,
  chainId: v.pipe(v.number(), v.integer(), v.minValue(1)),
  pool: evmAddressSchema,
  token: evmAddressSchema,
  funder: evmAddressSchema,
  size: v.picklist(batchSizes),
  recipients: v.pipe(
    v.array(
      v.strictObject({
        address: evmAddressSchema,
        walletPub: hexSchema(33),
        encryptionPublicKey: encryptionPublicKeySchema,
        evidence: evidenceSchema,
        amount: amountSchema,
        memo: v.optional(v.pipe(v.string(), v.maxBytes(maxMemoBytes))),
      }),
    ),
    v.minLength(1),
    v.maxLength(Math.max(...batchSizes)),
  ),
});
export type FundManifest = v.InferOutput<typeof fundManifestSchema>;

/** SHA-256 of the canonical manifest: the salt of everything derived from the seed. */
export function computeManifestDigest(manifest: FundManifest): Hex32 {
  return canonicalDigest(manifest);
}

/**
 * What is written down, once for each attempt, before the funder signs: until when the authorisation can land
 * (protocol §3).
 */
export const releaseRecordSchema = v.strictObject({
  /** {@link computeManifestDigest} of the batch. */
  manifestDigest: hex32Schema,
  /** Unix seconds. */
  deadline: unixSecondsSchema,
});
export type ReleaseRecord = v.InferOutput<typeof releaseRecordSchema>;

/** The smallest deployed batch size that holds `count` recipients, or undefined when none does. */
export function chooseBatchSize(count: number): BatchSize | undefined {
  return batchSizes.find((size) => count <= size);
}
