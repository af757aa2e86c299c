/**
 * Wire schemas of the platform's session, employer, enrolment and key routes
 * (docs/decisions/0010).
 *
 * @module
 */

import { described, isoTimeSchema, labelPattern, optional, parseHex } from '@pool/core';
import * as v from 'valibot';
import { accountAddress, flag, isoTime, text } from '../openapi/shared-schemas.ts';

/** A free label: 1 to 120 characters on one line, each of which people see. */
export const labelSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(120),
  v.regex(labelPattern),
);

function labelOf(what: string) {
  return described(
    labelSchema,
    `${what} for people: 1 to 120 characters on one line, without control characters and characters that people cannot see.`,
  );
}

export const readinessValues = [
  'ready',
  'eligibility_pending',
  'eligibility_failed',
  'eligibility_disabled',
  'not_enrolled',
] as const;
export const readinessSchema = described(
  v.picklist(readinessValues),
  '`ready`: can be paid. `eligibility_pending`: the pool-gate has not confirmed the wallet yet. `eligibility_failed`: ' +
    'writing to the pool-gate failed; enrol again. `eligibility_disabled`: the deployment has no pool-gate. ' +
    '`not_enrolled`: the wallet has no enrolment.',
);
export type Readiness = v.InferOutput<typeof readinessSchema>;

export const capabilities = ['disburse', 'holder.read', 'holder.transfer', 'holder.send'] as const;
export const capabilitySchema = described(
  v.picklist(capabilities),
  'The one operation that the key gives access to. A key reaches no route of another capability.',
);
export type Capability = v.InferOutput<typeof capabilitySchema>;

const successSchema = described(
  v.literal(true),
  'Always true. A refused request has another status and the body {code, message}.',
);
const employerIdSchema = described(
  v.pipe(v.string(), v.uuid()),
  'UUID of the employer account. The platform draws it; it is not on chain.',
);
const walletAddressSchema = accountAddress('Address of the session’s wallet');
const registeredWalletPubSchema = text(
  'W, the registered wallet public key in lower-case 0x hex: compressed secp256k1 point, 33 bytes; on Solana and Stellar 32 bytes.',
);
const registeredKeySchema = text(
  'P, the registered encryption public key, which notes are sealed to: 32 bytes of lower-case 0x hex.',
);
const whitelistedAtSchema = isoTime(
  'When the pool-gate confirmed the wallet',
  'Absent until it has.',
);
const enrolled = {
  walletPub: registeredWalletPubSchema,
  encryptionPublicKey: registeredKeySchema,
  readiness: readinessSchema,
  eligibilityWhitelistedAt: v.optional(whitelistedAtSchema),
};
const ownWalletPubSchema = described(
  v.pipe(v.string(), v.maxLength(132)),
  'W, the public key of the session’s wallet in 0x hex: compressed secp256k1 point, 33 bytes; on Solana and Stellar 32 bytes. ' +
    'Its address must be the session’s.',
);

/** `GET /api/auth/nonce` */
export const nonceResponseSchema = v.strictObject({
  nonce: described(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9]{16,64}$/)),
    'Random value for the `Nonce:` line of one sign-in text. The platform accepts it once.',
  ),
  expiresAt: isoTime('When the nonce stops being accepted'),
  chainIds: described(
    v.pipe(v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(1))), v.minLength(1)),
    'EIP-155 ids of the chains that the `Chain ID:` line may name.',
  ),
});

/** `POST /api/auth/verify` */
export const verifySessionRequestSchema = v.strictObject({
  message: described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
    'The sign-in text, byte for byte as the wallet signed it: EIP-4361, or its form for Solana and Stellar wallets.',
  ),
  // A contract wallet accepts whatever its code accepts, an empty signature included.
  signature: described(
    v.pipe(
      v.string(),
      v.maxLength(2 + 2 * 4096),
      v.regex(/^0x(?:[0-9a-f]{2})*$/),
      v.transform((value) => parseHex(value)),
    ),
    'Signature over `message`, lower-case 0x hex. EIP-191, r ‖ s ‖ v, 65 bytes, from an EVM wallet with a key; ed25519, 64 bytes, ' +
      'from a Solana wallet over the text and from a Stellar wallet over its SEP-53 hash; for a ' +
      'contract wallet the bytes that its `isValidSignature` (ERC-1271) accepts, at most 4096.',
  ),
});
export const verifySessionResponseSchema = v.strictObject({
  success: successSchema,
  address: accountAddress('Address of the wallet that signed in'),
  walletPub: optional(
    v.string(),
    'W, recovered from the signature: compressed secp256k1 point, 33 bytes of lower-case 0x hex. Absent for a ' +
      'contract wallet, which has no public key.',
  ),
  expiresAt: isoTime('When the session ends'),
});

/** `POST /api/auth/logout` and `DELETE /api/employers/keys/:id` */
export const successResponseSchema = v.strictObject({ success: successSchema });

/** `POST /api/employers/register`: idempotent per wallet. */
export const registerRequestSchema = v.strictObject({
  name: v.optional(labelOf('Label of the account')),
});
export const registerResponseSchema = v.strictObject({
  success: successSchema,
  created: flag('True: this call opened the account. False: the wallet had it before.'),
  employerId: employerIdSchema,
  address: walletAddressSchema,
});

/** `POST /api/employers/holder/onboard` */
export const onboardRequestSchema = v.strictObject({
  walletPub: ownWalletPubSchema,
  encryptionPublicKey: described(
    v.pipe(v.string(), v.maxLength(132)),
    'P, the encryption public key that notes are to be sealed to: packed Baby Jubjub point, 32 bytes of 0x hex. The ' +
      'session’s sign-in text lists it.',
  ),
});
export const onboardResponseSchema = v.strictObject({
  success: successSchema,
  created: flag(
    'True: this call enrolled the wallet. False: it was enrolled with the same keys before.',
  ),
  ...enrolled,
});

/** `GET /api/employers/holder/enrollment` */
export const enrollmentResponseSchema = v.strictObject({
  success: successSchema,
  ...enrolled,
  walletPub: v.optional(registeredWalletPubSchema),
  encryptionPublicKey: v.optional(registeredKeySchema),
});

/** `POST /api/employers/holder/rotate-encryption-key` */
export const rotateRequestSchema = v.strictObject({
  walletPub: ownWalletPubSchema,
  currentEncryptionPublicKey: described(
    v.pipe(v.string(), v.maxLength(132)),
    'P as registered until now: 32 bytes of 0x hex. Another value is refused, so that no rotation is lost.',
  ),
  encryptionPublicKey: described(
    v.pipe(v.string(), v.maxLength(132)),
    'P from now on: packed Baby Jubjub point, 32 bytes of 0x hex. The session’s sign-in text lists it.',
  ),
});
export const rotateResponseSchema = v.strictObject({
  success: successSchema,
  rotated: flag('True: this call changed the key. False: the new key was registered already.'),
  ...enrolled,
});

const keyRecord = {
  id: described(
    v.pipe(v.number(), v.integer()),
    'Number of the key, drawn by the platform. `DELETE /api/employers/keys/{id}` takes it.',
  ),
  keyPrefix: text(
    'First part of the key, to tell keys apart, for example `pool_live_EXAMPLE0`. Not secret.',
  ),
  capability: capabilitySchema,
  name: text('Label of the key as it was minted, for people.'),
  createdAt: isoTime('When the key was minted'),
};

/** `POST /api/employers/keys` */
export const mintKeyRequestSchema = v.strictObject({
  capability: capabilitySchema,
  name: labelOf('Label of the key'),
});
/** `onboard` writes it into a file of settings: a line break or a quote would write settings of the platform's choice. */
export const credentialSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.~-]{1,512}$/));

export const mintKeyResponseSchema = v.strictObject({
  success: successSchema,
  ...keyRecord,
  apiKey: described(
    credentialSchema,
    'The API key in plain text. Secret. Only this answer contains it: the platform stores its hash.',
  ),
});

/** One entry of `GET /api/employers/keys`: metadata only, revoked keys included. */
export const keyMetadataSchema = described(
  v.strictObject({
    ...keyRecord,
    revokedAt: optional(
      isoTimeSchema,
      'When the key was revoked, ISO 8601 in UTC. Absent while the key is live.',
    ),
  }),
  'An API key without its secret.',
);
export const listKeysResponseSchema = v.strictObject({
  success: successSchema,
  keys: described(
    v.array(keyMetadataSchema),
    'Every key ever minted by the wallet, oldest first, revoked ones included.',
  ),
});

/** `POST /api/employers/verify-key`, bearer = the agent's edge token. */
export const verifyKeyRequestSchema = v.strictObject({
  apiKey: described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
    'The API key that a caller presented to the agent, in plain text. Secret.',
  ),
});
export const verifyKeyResponseSchema = v.variant('valid', [
  v.strictObject({
    valid: described(
      v.literal(false),
      'False: the key is unknown or revoked, or belongs to another employer.',
    ),
  }),
  v.strictObject({
    valid: described(
      v.literal(true),
      'True: the key is live and belongs to the employer of the edge token.',
    ),
    capability: capabilitySchema,
    employerId: described(
      v.pipe(v.string(), v.uuid()),
      'UUID of the employer account that minted the key.',
    ),
    address: accountAddress('Address of the wallet that minted the key'),
    keyId: described(
      v.pipe(v.number(), v.integer()),
      'Number of the key at the platform, for logs and limits. Not secret.',
    ),
  }),
]);
export type VerifiedKey = v.InferOutput<typeof verifyKeyResponseSchema>;

const edgeTokenRecord = {
  id: described(
    v.pipe(v.number(), v.integer()),
    'Number of the token, which `DELETE /api/employers/edge-tokens/:id` takes. Not secret.',
  ),
  tokenPrefix: text(
    'Start of the token, which tells tokens apart, for example `pool_edge_EXAMPLE0`. Not secret.',
  ),
  name: text('Label of the token as it was made, for people.'),
  issuedBy: described(
    v.picklist(['operator', 'session']),
    '`operator`: made by the platform’s operator. `session`: made by the employer itself.',
  ),
  createdAt: isoTime('When the token was made'),
};

/** `POST /api/employers/edge-tokens` */
export const mintEdgeTokenRequestSchema = v.strictObject({
  name: labelOf('Label of the token'),
});
export const mintEdgeTokenResponseSchema = v.strictObject({
  success: successSchema,
  ...edgeTokenRecord,
  employerId: employerIdSchema,
  token: described(
    credentialSchema,
    'The edge token in plain text, for `DISBURSE_PLATFORM_TOKEN`. Secret. Only this answer contains it: the platform ' +
      'stores its hash.',
  ),
});

/** One entry of `GET /api/employers/edge-tokens`: metadata only, revoked tokens included. */
export const edgeTokenMetadataSchema = described(
  v.strictObject({
    ...edgeTokenRecord,
    revokedAt: optional(
      isoTimeSchema,
      'When the token was revoked, ISO 8601 in UTC. Absent while it is live.',
    ),
  }),
  'A credential of the employer’s agents at `/agent-edge`, without its secret.',
);
export const listEdgeTokensResponseSchema = v.strictObject({
  success: successSchema,
  edgeTokens: described(
    v.array(edgeTokenMetadataSchema),
    'Every edge token of the employer, oldest first, revoked ones included.',
  ),
});
