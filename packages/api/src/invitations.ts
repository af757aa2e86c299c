/**
 * Wire schemas of an employer's invitations: which wallets may take a place of the eligibility tree
 * (docs/decisions/0031).
 *
 * @module
 */

import { isoTimeSchema } from '@pool/core';
import * as v from 'valibot';

const addressTextSchema = v.pipe(v.string(), v.maxLength(64));

const quota = {
  /** Wallets that the employer may have invited and enrolled at once. */
  walletLimit: v.pipe(v.number(), v.integer()),
  /** Those it has: open invitations, and wallets enrolled by one. */
  walletsTaken: v.pipe(v.number(), v.integer()),
};

/** `POST /api/employers/invitations` */
export const inviteRequestSchema = v.strictObject({
  addresses: v.pipe(v.array(addressTextSchema), v.minLength(1), v.maxLength(500)),
});
export const inviteResponseSchema = v.strictObject({ success: v.literal(true), ...quota });

/** One of `GET /api/employers/invitations` */
export const invitationSchema = v.strictObject({
  address: v.string(),
  createdAt: isoTimeSchema,
  /** When it ends unless it is used; absent once it is. */
  expiresAt: v.optional(isoTimeSchema),
  /** When the wallet enrolled by it; absent until then. */
  enrolledAt: v.optional(isoTimeSchema),
});
export type Invitation = v.InferOutput<typeof invitationSchema>;
export const listInvitationsResponseSchema = v.strictObject({
  success: v.literal(true),
  ...quota,
  invitations: v.array(invitationSchema),
});
