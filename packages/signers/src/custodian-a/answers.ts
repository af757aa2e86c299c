/**
 * What custodian A answers, as far as the adapter reads it. Vectors: vectors/custodian-a.json.
 *
 * @module
 */
import * as v from 'valibot';

/** An id in a path. */
const idSchema = v.pipe(v.string(), v.regex(/^[!-~]{1,200}$/));

export const walletSchema = v.object({
  id: idSchema,
  /** Missing for a key that signs for any chain. */
  address: v.nullish(v.pipe(v.string(), v.maxLength(100))),
  signingKey: v.object({
    curve: v.string(),
    /** Compressed, hex without 0x. */
    publicKey: v.pipe(v.string(), v.regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/)),
  }),
});

export const signatureSchema = v.object({
  id: idSchema,
  walletId: v.string(),
  /** `Pending`, `Executing`, `Signed`, `Confirmed`, `Failed`, `Rejected`; other states may be added. */
  status: v.pipe(v.string(), v.maxLength(100)),
  requestBody: v.unknown(),
  approvalId: v.nullish(idSchema),
  reason: v.nullish(v.string()),
  signature: v.nullish(
    v.object({
      r: v.string(),
      s: v.string(),
      recid: v.nullish(v.union([v.number(), v.string()])),
    }),
  ),
});
export type SignatureRecord = v.InferOutput<typeof signatureSchema>;

const listedSchema = v.object({
  id: idSchema,
  externalId: v.nullish(v.string()),
  /** ISO 8601. */
  dateRequested: v.nullish(v.string()),
});

/** An item that cannot be read is somebody else's. */
export const signaturePageSchema = v.object({
  items: v.pipe(
    v.array(v.unknown()),
    v.maxLength(1000),
    v.transform((items) =>
      items.flatMap((item) => {
        const listed = v.safeParse(listedSchema, item);
        return listed.success ? [listed.output] : [];
      }),
    ),
  ),
  nextPageToken: v.nullish(v.string()),
});

export const approvalSchema = v.object({
  id: idSchema,
  /** `Pending`, `Approved`, `Denied`, `Expired`, `AutoRejected`; other states may be added. */
  status: v.pipe(v.string(), v.maxLength(100)),
  decisions: v.nullish(
    v.array(v.object({ value: v.nullish(v.string()), reason: v.nullish(v.string()) })),
  ),
});

/** A 409: another request has this externalId. */
export const conflictSchema = v.object({
  error: v.object({ details: v.object({ duplicate: v.object({ id: idSchema }) }) }),
});
