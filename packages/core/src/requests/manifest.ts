/**
 * The batch manifest (protocol §3): everything about a batch except its randomness, as one canonical JSON
 * document. Manifest and seed together rebuild every commitment and sealed note. The deadline of the
 * authorisation is not in it: it is chosen when the batch is released.
 *
 * @module
 */
import * as v from 'valibot';
import { canonicalDigest } from '../text/canonical-json.ts';
import { maxMemoBytes } from '../text/memo.ts';
import { batchSizes, largestBatch } from '../values/circuit-sizes.ts';
import type { Hex32 } from '../values/hex.ts';
import {
  amountSchema,
  chainKeySchema,
  described,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  optional,
  unixSecondsSchema,
  walletPubSchema,
} from './schema.ts';
import type { SpendManifest } from './spend-manifest.ts';

/** Confidential: holds recipients and amounts. */
export const fundManifestSchema = v.strictObject({
  version: described(v.literal(1), 'Version of this document’s layout.'),
  kind: described(v.literal('fund'), 'What the batch does: `fund` turns tokens into notes.'),
  employerId: described(
    v.pipe(v.string(), v.uuid()),
    'UUID of the employer account on the platform. It enters the batch nonce.',
  ),
  jobKey: described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
    'Idempotency-Key of the job. It enters the batch nonce.',
  ),
  attempt: described(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)),
    'Number of the attempt within the job, from 1. The next exists only when this one is dead.',
  ),
  chain: chainKeySchema,
  chainId: described(
    v.pipe(v.number(), v.integer(), v.minValue(1)),
    'EIP-155 chain id, from the agent’s own settings.',
  ),
  pool: described(evmAddressSchema, 'EVM address of the ShieldedPool contract.'),
  token: described(evmAddressSchema, 'EVM address of the token contract.'),
  funder: described(evmAddressSchema, 'EVM address of the wallet whose tokens pay the batch.'),
  size: described(
    v.picklist(batchSizes),
    'Slots of the circuit that proves the batch. Dummy notes fill the unused ones.',
  ),
  recipients: described(
    v.pipe(
      v.array(
        v.strictObject({
          address: described(evmAddressSchema, 'EVM address of the recipient’s wallet.'),
          walletPub: walletPubSchema,
          encryptionPublicKey: encryptionPublicKeySchema,
          evidence: evidenceSchema,
          amount: amountSchema,
          memo: optional(
            v.pipe(v.string(), v.maxBytes(maxMemoBytes)),
            'Text sealed into the note, at most 111 bytes of UTF-8. Only the recipient reads it.',
          ),
        }),
      ),
      v.minLength(1),
      v.maxLength(largestBatch),
    ),
    'Recipients in the order of the request. The seed assigns them to slots. Confidential.',
  ),
});
export type FundManifest = v.InferOutput<typeof fundManifestSchema>;

/** One recipient of a batch. `amount` is in base units, a canonical decimal. */
export type FundRecipient = FundManifest['recipients'][number];

/** SHA-256 of the canonical manifest: the salt of everything derived from the seed. */
export function computeManifestDigest(manifest: FundManifest | SpendManifest): Hex32 {
  return canonicalDigest(manifest);
}

/** The deadline of the authorisation (protocol §3). Written once per attempt, before the funder signs. */
export const releaseRecordSchema = v.strictObject({
  manifestDigest: described(
    hex32Schema,
    'SHA-256 of the batch’s canonical manifest, 32 bytes of hex. Names the batch that is released.',
  ),
  deadline: described(
    unixSecondsSchema,
    'Unix seconds after which the authorisation can no longer land.',
  ),
});
export type ReleaseRecord = v.InferOutput<typeof releaseRecordSchema>;
