/**
 * Wire schemas of `/agent-edge` apart from settlements: bootstrap, look-up of recipients, notes (ARCHITECTURE.md).
 *
 * @module
 */

import {
  accountAddressSchema,
  addressTextSchema,
  chainKeySchema,
  described,
  encryptionPublicKeySchema,
  evidenceSchema,
  hexSchema,
  maxSpendPayees,
  optional,
  tokenSymbolSchema,
  urlSchema,
  vendedChainSchema,
  walletIdSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { bytes32, chainKey, fieldElement, flag, text } from '../openapi/shared-schemas.ts';
import { readinessSchema } from '../platform/accounts.ts';

/** Whether the platform's relayer can send a batch now, as its worker saw it last. */
const relayerHealthSchema = v.object({
  ok: flag('True: the relayer can send transactions on this chain now.'),
  code: optional(
    v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z][a-z0-9_]*$/)),
    'Why it cannot, for programs, for example `insufficient_gas`; with `ok: true`, what is about to stop it, for example `daily_total_near`. Later releases may add codes.',
  ),
});
export type RelayerHealth = v.InferOutput<typeof relayerHealthSchema>;

/** `POST /agent-edge/bootstrap {}` */
export const bootstrapRequestSchema = v.strictObject({});
/** Unknown fields are ignored at every level: an agent keeps working with a newer platform. */
export const bootstrapResponseSchema = described(
  v.object({
    employerId: described(
      v.pipe(v.string(), v.uuid()),
      'UUID of the employer account that the edge token belongs to. The agent pins it; it enters every batch nonce.',
    ),
    employerAddress: described(
      accountAddressSchema,
      'Address of the wallet that registered the employer account: EVM, Solana in base58, or Stellar `G…`.',
    ),
    chain: described(
      chainKeySchema,
      'Key of the deployment’s default chain. The agent uses it when it has none configured.',
    ),
    chains: described(
      v.record(chainKeySchema, vendedChainSchema),
      'The platform’s settings of each chain, by key. The agent compares them with its own and refuses a chain that ' +
        'differs.',
    ),
    maxRecipients: described(
      v.record(chainKeySchema, v.pipe(v.number(), v.integer(), v.minValue(1))),
      'Most recipients of one call, by chain key.',
    ),
    gate: optional(
      v.object({
        url: described(urlSchema, 'Base URL of the pool-gate, http or https.'),
        oauth: optional(
          v.object({
            tokenUrl: described(
              urlSchema,
              'URL that grants access tokens (RFC 6749, client credentials).',
            ),
            clientId: text('OAuth client id of the employer’s reader. Not secret.'),
            clientSecret: text(
              'OAuth client secret of the employer’s reader, made by the platform. Secret.',
            ),
            scope: text('OAuth scopes to ask for, separated by spaces.'),
          }),
          'Credentials that read the pool-gate. Absent: the agent needs credentials of its own.',
        ),
      }),
      'The pool-gate of the deployment. Absent: the deployment has none.',
    ),
    relayer: optional(
      v.record(chainKeySchema, relayerHealthSchema),
      'Whether the relayer can send transactions, by chain key. A missing chain, or no field at all, means that it is ' +
        'not known.',
    ),
  }),
  'What the platform vends to an agent at its start. Agents ignore fields that they do not know.',
);
export type Bootstrap = v.InferOutput<typeof bootstrapResponseSchema>;

/** `POST /agent-edge/recipients/lookup` */
export const recipientLookupRequestSchema = v.strictObject({
  chain: described(chainKeySchema, 'Key of the chain whose address format the addresses have.'),
  addresses: described(
    v.pipe(v.array(addressTextSchema), v.minLength(1), v.maxLength(256)),
    'Wallet addresses to look up, 1 to 256.',
  ),
});
export const recipientRecordSchema = described(
  v.strictObject({
    address: described(addressTextSchema, 'Wallet address, spelled as the request spelled it.'),
    readiness: readinessSchema,
    walletPub: v.optional(walletPubSchema),
    encryptionPublicKey: v.optional(encryptionPublicKeySchema),
    evidence: optional(
      evidenceSchema,
      'The holder’s sign-in, which binds P to W. The agent verifies it before it pays. Absent: not enrolled.',
    ),
  }),
  'What the platform knows of one wallet: keys, readiness and the evidence for them.',
);
export type RecipientRecord = v.InferOutput<typeof recipientRecordSchema>;
export const recipientLookupResponseSchema = v.strictObject({
  recipients: described(
    v.pipe(v.array(recipientRecordSchema), v.maxLength(256)),
    'One record per address, in the order of the request.',
  ),
});

/** `POST /agent-edge/eligibility-paths`, bearer = a `holder.transfer` key. Answered as the gate answers `POST /v1/paths`. */
export const eligibilityPathsRequestSchema = v.strictObject({
  chain: chainKey('of the transfer'),
  walletIds: described(
    v.pipe(v.array(walletIdSchema), v.minLength(1), v.maxLength(maxSpendPayees)),
    `Wallet ids (w) of the payees of one transfer, 1 to ${maxSpendPayees}: field elements as 32 bytes of 0x hex.`,
  ),
  root: fieldElement(
    'Root that the paths must lead to',
    'Send `registry.current()` of a final block, so that the root tells nobody apart.',
  ),
});
export type EligibilityPathsRequest = v.InferOutput<typeof eligibilityPathsRequestSchema>;

const servedNoteSchema = v.strictObject({
  commitment: fieldElement('Hash of the note, as it is on chain'),
  sealed: described(
    hexSchema(209),
    'The encrypted note: 209 bytes of 0x hex (protocol §3). The holder’s viewing key opens it; the holder counts it only ' +
      'if the commitment matches.',
  ),
  chain: chainKey('that the note is on'),
  token: described(tokenSymbolSchema, 'Symbol of the note’s token, for example `USDC`.'),
  batchIndex: described(
    v.number(),
    'Position of the note’s batch in the pool, from 0, in the order of settlement.',
  ),
  slot: described(v.number(), 'Position of the note in its batch, from 0.'),
  txHash: bytes32('Hash of the transaction that settled the batch'),
});

/** `GET /agent-edge/notes?chain&token&cursor`, bearer = a `holder.read` key. */
export const notesResponseSchema = v.strictObject({
  notes: described(
    v.array(servedNoteSchema),
    'Sealed notes that are labelled with the holder’s registered P, in the order of the pool. At most one page.',
  ),
  open: optional(
    v.array(servedNoteSchema),
    'Notes of spends for whose labels nobody vouches, for every holder: try the viewing key on each. They come in the order in which ' +
      'the platform learned of them, so a page may have notes of an older batch than the page before. Absent: none on this page.',
  ),
  cursor: optional(
    v.string(),
    'Pass it as `cursor` to read the next page. Absent: there are no more notes now.',
  ),
  before: optional(
    v.pipe(v.number(), v.integer(), v.minValue(0)),
    'How many of `notes` the listing has up to `cursor` of the request, as of now. A larger number than were read up to there: a note ' +
      'arrived late, for example from its funder; read again from the beginning. Absent: no `cursor` was sent.',
  ),
});
export type NotesResponse = v.InferOutput<typeof notesResponseSchema>;
