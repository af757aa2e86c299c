/**
 * Wire schemas of an employer's invitations: which wallets may take a place of the eligibility tree
 * (docs/decisions/0006).
 *
 * @module
 */

import { described, isoTimeSchema, optional } from '@pool/core';
import * as v from 'valibot';
import { accountAddress, isoTime } from '../openapi/shared-schemas.ts';
import { successResponseSchema } from './accounts.ts';

const addressTextSchema = v.pipe(v.string(), v.maxLength(64));

export const quota = {
  walletLimit: described(
    v.pipe(v.number(), v.integer()),
    'Most wallets that the employer may have invited and enrolled at once. The operator sets it; 0: the employer may not ' +
      'invite.',
  ),
  walletsTaken: described(
    v.pipe(v.number(), v.integer()),
    'Open invitations and open links of the employer, plus wallets that enrolled by one of its invitations.',
  ),
};
export const successSchema = successResponseSchema.entries.success;

/** `POST /api/employers/invitations` */
export const inviteRequestSchema = v.strictObject({
  addresses: described(
    v.pipe(v.array(addressTextSchema), v.minLength(1), v.maxLength(500)),
    'Addresses of the wallets to invite, 1 to 500: EVM, Solana or Stellar.',
  ),
});
export const inviteResponseSchema = v.strictObject({ success: successSchema, ...quota });

/** One of `GET /api/employers/invitations` */
export const invitationSchema = described(
  v.strictObject({
    address: accountAddress('Address of the invited wallet'),
    createdAt: isoTime('When the wallet was first invited'),
    expiresAt: optional(
      isoTimeSchema,
      'When the unused invitation ends, ISO 8601 in UTC. Absent once it is used.',
    ),
    enrolledAt: optional(
      isoTimeSchema,
      'When the wallet enrolled by this invitation, ISO 8601 in UTC. Absent until then.',
    ),
  }),
  'Permission of one wallet to enrol, given by an employer.',
);
export type Invitation = v.InferOutput<typeof invitationSchema>;
export const listInvitationsResponseSchema = v.strictObject({
  success: successSchema,
  ...quota,
  invitations: described(
    v.array(invitationSchema),
    'One entry per invited wallet, ordered by address.',
  ),
});
