/**
 * Wire schemas of invitation links: for people who have no wallet yet (docs/decisions/0006). The code of a link is a secret that one wallet
 * may use once. Who the person is, the platform does not learn: it knows the employer's own reference.
 *
 * @module
 */

import { chainKeySchema, described, isoTimeSchema, optional, vendedChainSchema } from '@pool/core';
import * as v from 'valibot';
import { accountAddress, isoTime } from '../openapi/shared-schemas.ts';
import { credentialSchema, labelSchema } from './accounts.ts';
import { quota, successSchema } from './invitations.ts';

const referenceTextSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{8,64}$/));
export const linkReferenceSchema = described(
  referenceTextSchema,
  'The employer’s own name of the link: 8 to 64 letters, digits, `-` and `_`. Draw it at random: a name or an e-mail ' +
    'address of a person must not reach the platform.',
);

/** `POST /api/employers/invitation-links` */
export const createLinksRequestSchema = v.strictObject({
  references: described(
    v.pipe(v.array(referenceTextSchema), v.minLength(1), v.maxLength(500)),
    'One reference per link, 1 to 500. A reference whose link no wallet has accepted gets a new link, and its earlier code ' +
      'stops working.',
  ),
  days: optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3650)),
    'Days until the links expire, at most as many as an invitation lasts here, which is the default.',
  ),
});
export const createLinksResponseSchema = v.strictObject({
  success: successSchema,
  ...quota,
  links: described(
    v.array(
      v.strictObject({
        reference: linkReferenceSchema,
        code: described(
          credentialSchema,
          'The code for the link. Secret: the first wallet that presents it is the invited one. Only this answer contains it: ' +
            'the platform stores its hash.',
        ),
        expiresAt: isoTime('When the link stops working'),
      }),
    ),
    'The new links, in the order of their references in the request.',
  ),
});

/** One of `GET /api/employers/invitation-links` */
export const invitationLinkSchema = described(
  v.strictObject({
    reference: linkReferenceSchema,
    state: described(
      v.picklist(['created', 'opened', 'accepted', 'enrolled', 'eligible', 'expired', 'revoked']),
      '`created`: nobody has opened it. `opened`: somebody looked at it. `accepted`: a wallet is bound to it. `enrolled`: that ' +
        'wallet is enrolled and cannot be paid yet, or any more. `eligible`: it can be paid. `expired`, `revoked`: the link has ended.',
    ),
    createdAt: isoTime('When the link was made'),
    expiresAt: isoTime('When the link ends, if its wallet has not enrolled by then'),
    openedAt: optional(
      isoTimeSchema,
      'When somebody first looked at the link, ISO 8601 in UTC. Absent until then.',
    ),
    address: v.optional(
      accountAddress('Address of the wallet that accepted the link, absent until one has'),
    ),
    acceptedAt: optional(
      isoTimeSchema,
      'When the wallet accepted the link, ISO 8601 in UTC. Absent until then.',
    ),
  }),
  'A link by which one person may enrol, without its code.',
);
export type InvitationLink = v.InferOutput<typeof invitationLinkSchema>;
export const listLinksResponseSchema = v.strictObject({
  success: successSchema,
  ...quota,
  links: described(
    v.array(invitationLinkSchema),
    'Every link of the employer, oldest first. Of those that have expired or were revoked, the newest 1,000.',
  ),
});

/** `POST /api/invitations/open` and `/accept` */
export const invitationCodeRequestSchema = v.strictObject({
  code: described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
    'The code of the link, in plain text. Secret: it is in the fragment of the link, which browsers send to no server.',
  ),
});
export const openedInvitationSchema = v.strictObject({
  success: successSchema,
  state: described(
    v.picklist(['open', 'accepted', 'expired', 'revoked']),
    '`open`: a wallet may accept it. `accepted`: a wallet has. `expired`, `revoked`: the link has ended.',
  ),
  expiresAt: isoTime('When the link ends, if its wallet has not enrolled by then'),
  employerAddress: accountAddress('Address of the wallet of the employer that invites'),
  employerName: optional(
    labelSchema,
    'Label that the employer gave its account, for people. The platform has not checked it. Absent: it gave none.',
  ),
  chain: described(chainKeySchema, 'Key of the deployment’s default chain, for example `base`.'),
  chains: described(
    v.record(chainKeySchema, vendedChainSchema),
    'The deployment’s pools and tokens, by chain key. A wallet compares them with settings that it trusts.',
  ),
});
export type OpenedInvitation = v.InferOutput<typeof openedInvitationSchema>;
