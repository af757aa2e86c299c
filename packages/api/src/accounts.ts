/**
 * Wire schemas of the platform's session, employer, enrolment and key routes
 * (docs/decisions/0008, §3).
 *
 * @module
 */

import { isoTimeSchema, parseHex } from '@pool/core';
import * as v from 'valibot';

/** A free label: 1 to 120 characters of one line, without control characters (databases refuse U+0000). */
export const labelSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(120),
  v.regex(/^[^\p{Cc}\p{Cs}]*$/u),
);

export const readinessValues = [
  'ready',
  'eligibility_pending',
  'eligibility_failed',
  'eligibility_disabled',
  'not_enrolled',
] as const;
export const readinessSchema = v.picklist(readinessValues);
export type Readiness = v.InferOutput<typeof readinessSchema>;

export const capabilities = ['disburse', 'holder.read', 'holder.transfer', 'holder.send'] as const;
export const capabilitySchema = v.picklist(capabilities);
export type Capability = v.InferOutput<typeof capabilitySchema>;

/** `GET /api/auth/nonce` */
export const nonceResponseSchema = v.strictObject({
  nonce: v.pipe(v.string(), v.regex(/^[A-Za-z0-9]{16,64}$/)),
  expiresAt: isoTimeSchema,
});

/** `POST /api/auth/verify` */
export const verifySessionRequestSchema = v.strictObject({
  message: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  /** 65 bytes of a wallet with a key; whatever a contract wallet takes for one, the empty one included. */
  signature: v.pipe(
    v.string(),
    v.maxLength(2 + 2 * 4096),
    v.regex(/^0x(?:[0-9a-f]{2})*$/),
    v.transform((value) => parseHex(value)),
  ),
});
export const verifySessionResponseSchema = v.strictObject({
  success: v.literal(true),
  address: v.string(),
  /** W. Absent for a contract wallet: it has none. */
  walletPub: v.optional(v.string()),
  expiresAt: isoTimeSchema,
});

/** `POST /api/auth/logout` and `DELETE /api/employers/keys/:id` */
export const successResponseSchema = v.strictObject({ success: v.literal(true) });

/** `POST /api/employers/register`: idempotent per wallet. */
export const registerRequestSchema = v.strictObject({
  name: v.optional(labelSchema),
});
export const registerResponseSchema = v.strictObject({
  success: v.literal(true),
  created: v.boolean(),
  employerId: v.pipe(v.string(), v.uuid()),
  address: v.string(),
});

/** `POST /api/employers/holder/onboard` */
export const onboardRequestSchema = v.strictObject({
  walletPub: v.pipe(v.string(), v.maxLength(132)),
  encryptionPublicKey: v.pipe(v.string(), v.maxLength(132)),
});
export const onboardResponseSchema = v.strictObject({
  success: v.literal(true),
  created: v.boolean(),
  walletPub: v.string(),
  encryptionPublicKey: v.string(),
  readiness: readinessSchema,
  /** Present once the gate has confirmed the wallet. */
  eligibilityWhitelistedAt: v.optional(isoTimeSchema),
});

/** `GET /api/employers/holder/enrollment` */
export const enrollmentResponseSchema = v.strictObject({
  success: v.literal(true),
  walletPub: v.optional(v.string()),
  encryptionPublicKey: v.optional(v.string()),
  readiness: readinessSchema,
  eligibilityWhitelistedAt: v.optional(isoTimeSchema),
});

/** `POST /api/employers/holder/rotate-encryption-key` */
export const rotateRequestSchema = v.strictObject({
  walletPub: v.pipe(v.string(), v.maxLength(132)),
  /** P as registered until now. */
  currentEncryptionPublicKey: v.pipe(v.string(), v.maxLength(132)),
  /** P from now on; the session's sign-in text lists it. */
  encryptionPublicKey: v.pipe(v.string(), v.maxLength(132)),
});
export const rotateResponseSchema = v.strictObject({
  success: v.literal(true),
  /** False: the new key was registered already, and nothing changed. */
  rotated: v.boolean(),
  walletPub: v.string(),
  encryptionPublicKey: v.string(),
  readiness: readinessSchema,
  eligibilityWhitelistedAt: v.optional(isoTimeSchema),
});

/** `POST /api/employers/keys` */
export const mintKeyRequestSchema = v.strictObject({
  capability: capabilitySchema,
  name: labelSchema,
});
export const mintKeyResponseSchema = v.strictObject({
  success: v.literal(true),
  id: v.pipe(v.number(), v.integer()),
  apiKey: v.string(),
  keyPrefix: v.string(),
  capability: capabilitySchema,
  name: v.string(),
  createdAt: isoTimeSchema,
});

/** One entry of `GET /api/employers/keys`: metadata only, revoked keys included. */
export const keyMetadataSchema = v.strictObject({
  id: v.pipe(v.number(), v.integer()),
  keyPrefix: v.string(),
  capability: capabilitySchema,
  name: v.string(),
  createdAt: isoTimeSchema,
  revokedAt: v.optional(isoTimeSchema),
});
export const listKeysResponseSchema = v.strictObject({
  success: v.literal(true),
  keys: v.array(keyMetadataSchema),
});

/** `POST /api/employers/verify-key`, bearer = the agent's edge token. */
export const verifyKeyRequestSchema = v.strictObject({
  apiKey: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
});
export const verifyKeyResponseSchema = v.variant('valid', [
  v.strictObject({ valid: v.literal(false) }),
  v.strictObject({
    valid: v.literal(true),
    capability: capabilitySchema,
    employerId: v.pipe(v.string(), v.uuid()),
    address: v.string(),
    keyId: v.pipe(v.number(), v.integer()),
  }),
]);
export type VerifiedKey = v.InferOutput<typeof verifyKeyResponseSchema>;
