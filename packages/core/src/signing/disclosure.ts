/**
 * A disclosure (docs/disclosure.md): a signed document by which the payer or the payee proves payments to an auditor, without the
 * viewing key. This file has its layout and what is signed. Checked in `@pool/notes`. Vectors: vectors/disclosure.json.
 *
 * @module
 */
import * as v from 'valibot';
import {
  amountOrZeroSchema,
  amountSchema,
  described,
  encryptionPublicKeySchema,
  evidenceSchema,
  hex32Schema,
  hexSchema,
  optional,
  unixSecondsSchema,
  walletPubSchema,
} from '../requests/schema.ts';
import { canonicalDigest } from '../text/canonical-json.ts';
import { findMemoProblem, maxMemoBytes } from '../text/memo.ts';
import { parseEvmAddress, tryParseEvmAddress } from '../values/evm-address.ts';
import { fieldModulus } from '../values/field.ts';
import { type Hex32, hexToBigint } from '../values/hex.ts';
import { computeTypedDataDigest, type TypedData, type TypedField } from './eip712.ts';

// One address has one spelling here: another spelling of a signed document would be another document.
const checksumAddressSchema = v.pipe(
  v.string(),
  v.length(42),
  v.check((value) => tryParseEvmAddress(value) === value),
  v.transform((value) => parseEvmAddress(value)),
);

// It stays text, because the text is signed.
const fieldSchema = v.pipe(
  hex32Schema,
  v.check((value) => hexToBigint(value) < fieldModulus),
);

/** The memo of a note, and the secret that decrypts exactly this sealed note. */
const memoSchema = v.strictObject({
  text: described(
    v.nullable(v.pipe(v.string(), v.maxBytes(maxMemoBytes))),
    'The memo; null if the sealed note has none that can be read.',
  ),
  proof: described(
    v.picklist(['ephemeral-scalar', 'message-key']),
    'What `secret` is. A payer shows the ephemeral scalar, a payee the message key.',
  ),
  secret: described(
    hexSchema(32),
    '32 bytes, big-endian. It decrypts this sealed note and no other.',
  ),
});

const paymentSchema = v.strictObject({
  slot: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)),
    'Position of the note among the commitments of the event.',
  ),
  commitment: described(
    fieldSchema,
    'Hash of the note, as the event has it at that position: 32 bytes of 0x hex.',
  ),
  amount: amountSchema,
  nonce: described(
    fieldSchema,
    'Number that makes the note unique: a field element, with which the commitment is recomputed.',
  ),
  walletPub: described(
    walletPubSchema,
    'W, the wallet public key of the payee: 33 bytes of 0x hex.',
  ),
  encryptionPublicKey: described(encryptionPublicKeySchema, 'P that the note is sealed to.'),
  evidence: v.optional(evidenceSchema),
  memo: optional(
    memoSchema,
    'The memo with its proof. Absent: the document says nothing about the memo.',
  ),
});

const fundingSchema = v.strictObject({
  funder: described(checksumAddressSchema, 'EVM address that paid the batch.'),
  batchNonce: described(fieldSchema, 'Nonce of the batch, as the funder signed it.'),
});

const changeSchema = v.strictObject({
  amount: described(amountOrZeroSchema, 'Amount of the change, 0 to 2^128-1.'),
  nonce: described(
    fieldSchema,
    'Number that makes the change unique: a field element, with which its commitment is recomputed.',
  ),
  walletPub: described(
    walletPubSchema,
    'W, the wallet public key of the spender: 33 bytes of 0x hex.',
  ),
  encryptionPublicKey: described(encryptionPublicKeySchema, 'P that the change is sealed to.'),
});

const insertionEntries = {
  txHash: described(
    hex32Schema,
    'Hash of the transaction that emitted the event: 32 bytes of 0x hex.',
  ),
  index: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 48)),
    'Index of the event’s root in the note tree.',
  ),
  sealedNotes: optional(
    v.pipe(v.array(hexSchema(209)), v.maxLength(256)),
    'All sealed notes of the event, in slot order. Required for a memo.',
  ),
  payments: described(
    v.pipe(v.array(paymentSchema), v.minLength(1), v.maxLength(256)),
    'The notes of this event that the document opens, each with its contents.',
  ),
};

const insertionSchema = v.variant('kind', [
  v.strictObject({
    kind: described(v.literal('batch'), 'The event is `BatchFunded`: a funder paid a batch.'),
    ...insertionEntries,
    funding: optional(
      fundingSchema,
      'Who funded the batch. Without it the document does not prove the payer.',
    ),
  }),
  v.strictObject({
    kind: described(v.literal('spend'), 'The event is `Spent`: a holder paid from its own notes.'),
    ...insertionEntries,
    change: optional(
      changeSchema,
      'The note in slot 0, whose wallet is the spender’s. Without it the document does not prove the payer.',
    ),
  }),
]);

const contentEntries = {
  version: described(v.literal(1), 'Version of this document’s layout.'),
  kind: described(
    v.literal('disclosure'),
    'The literal word `disclosure`, which no other file of Pool has here.',
  ),
  chainId: described(
    v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    'EIP-155 id of the chain that the pool is on.',
  ),
  pool: described(checksumAddressSchema, 'Address of the ShieldedPool contract.'),
  token: described(
    checksumAddressSchema,
    'Contract of the paid ERC-20, as a checksummed EVM address.',
  ),
  role: described(
    v.picklist(['payer', 'payee']),
    'Part that the discloser has in every payment of the document.',
  ),
  discloser: described(checksumAddressSchema, 'Address that signs: of the funder, or of W.'),
  purpose: described(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.check((value) => findMemoProblem(value) === undefined),
    ),
    'What the document may be used for: one line, at most 111 bytes of UTF-8.',
  ),
  challenge: optional(
    v.pipe(v.string(), v.regex(/^[!-~]{16,128}$/)),
    'Text of the verifier for whom the document is made.',
  ),
  issuedAt: described(
    unixSecondsSchema,
    'When the discloser signed the document, in Unix seconds.',
  ),
  expiresAt: described(unixSecondsSchema, 'Unix seconds after which the document proves nothing.'),
  insertions: described(
    v.pipe(v.array(insertionSchema), v.minLength(1), v.maxLength(1000)),
    'Batches and spends that contain the payments.',
  ),
};

/** Everything that is signed. Confidential: it contains amounts, payees and the secrets of the disclosed memos. */
export const disclosureContentSchema = v.strictObject(contentEntries);
export type DisclosureContent = v.InferOutput<typeof disclosureContentSchema>;

/** The signed document. Confidential. */
export const disclosureSchema = v.strictObject({
  ...contentEntries,
  signature: described(
    hexSchema(65),
    'The discloser’s EIP-712 signature: r ‖ s ‖ v, low s, v 27 or 28.',
  ),
});
export type Disclosure = v.InferOutput<typeof disclosureSchema>;

/** One batch or one spend of a disclosure. */
export type DisclosedInsertion = DisclosureContent['insertions'][number];
/** One payment of a disclosure. */
export type DisclosedPayment = DisclosedInsertion['payments'][number];

const { chainId, pool, token, role, discloser, purpose, challenge, issuedAt, expiresAt } =
  contentEntries;

/** What the typed data of a disclosure says: the content itself is in it by its digest only. */
export const disclosureStatementSchema = v.strictObject({
  chainId,
  pool,
  token,
  role,
  discloser,
  purpose,
  challenge,
  issuedAt,
  expiresAt,
  document: described(hex32Schema, 'SHA-256 of the canonical content.'),
});
export type DisclosureStatement = v.InferOutput<typeof disclosureStatementSchema>;

/** SHA-256 of the canonical JSON (RFC 8785) of a disclosure without its signature. */
export function computeDisclosureDigest(content: DisclosureContent): Hex32 {
  return canonicalDigest(content);
}

export const disclosureTypes: Record<string, TypedField[]> = {
  Disclosure: [
    { name: 'role', type: 'string' },
    { name: 'discloser', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'purpose', type: 'string' },
    { name: 'challenge', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'expiresAt', type: 'uint256' },
    { name: 'document', type: 'bytes32' },
  ],
};

/** The statement of a disclosure's content. */
export function createDisclosureStatement(content: DisclosureContent): DisclosureStatement {
  const { version: _, kind: _kind, insertions: _insertions, ...statement } = content;
  return { ...statement, document: computeDisclosureDigest(content) };
}

/**
 * The typed data that the discloser signs. Its domain is not the one of the contract, so no contract accepts the signature. An
 * absent challenge is the empty string.
 */
export function computeDisclosureStatementData(statement: DisclosureStatement): TypedData {
  const { chainId, pool, role, discloser, token, purpose, issuedAt, expiresAt, document } =
    statement;
  const { challenge = '' } = statement;
  return {
    domain: { name: 'PoolDisclosure', version: '1', chainId, verifyingContract: pool },
    types: disclosureTypes,
    primaryType: 'Disclosure',
    message: {
      role,
      discloser,
      token,
      purpose,
      challenge,
      issuedAt: BigInt(issuedAt),
      expiresAt: BigInt(expiresAt),
      document,
    },
  };
}

/** {@link computeDisclosureStatementData} of a content. */
export function computeDisclosureData(content: DisclosureContent): TypedData {
  return computeDisclosureStatementData(createDisclosureStatement(content));
}

/** The 32 bytes that the discloser signs. */
export function computeDisclosureSigningDigest(content: DisclosureContent): Hex32 {
  return computeTypedDataDigest(computeDisclosureData(content));
}
