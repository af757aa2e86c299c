/**
 * Wire schemas of `/agent-edge` apart from settlements: bootstrap, look-up of recipients, notes (ARCHITECTURE.md).
 *
 * @module
 */

import {
  accountAddressSchema,
  addressTextSchema,
  chainKeySchema,
  encryptionPublicKeySchema,
  evidenceSchema,
  hex32Schema,
  hexSchema,
  tokenSymbolSchema,
  urlSchema,
  vendedChainSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { readinessSchema } from '../platform/accounts.ts';

/** Whether the platform's relayer can send a batch now, as its worker saw it last. */
const relayerHealthSchema = v.object({
  ok: v.pipe(
    v.boolean(),
    v.description('True: the relayer can send transactions on this chain now.'),
  ),
  code: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(64),
      v.regex(/^[a-z][a-z0-9_]*$/),
      v.description(
        'Why it cannot, for programs, for example `insufficient_gas`; with `ok: true`, what is about to stop it, for example `daily_total_near`. Later releases may add codes.',
      ),
    ),
  ),
});
export type RelayerHealth = v.InferOutput<typeof relayerHealthSchema>;

/** `POST /agent-edge/bootstrap {}` */
export const bootstrapRequestSchema = v.strictObject({});
/** Unknown fields are ignored at every level: an agent keeps working with a newer platform. */
export const bootstrapResponseSchema = v.pipe(
  v.object({
    employerId: v.pipe(
      v.string(),
      v.uuid(),
      v.description(
        'UUID of the employer account that the edge token belongs to. The agent pins it; it enters every batch nonce.',
      ),
    ),
    employerAddress: v.pipe(
      accountAddressSchema,
      v.description(
        'Address of the wallet that registered the employer account: EVM, Solana in base58, or Stellar `G…`.',
      ),
    ),
    chain: v.pipe(
      chainKeySchema,
      v.description(
        'Key of the deployment’s default chain. The agent uses it when it has none configured.',
      ),
    ),
    chains: v.pipe(
      v.record(chainKeySchema, vendedChainSchema),
      v.description(
        'The platform’s settings of each chain, by key. The agent compares them with its own and refuses a chain that ' +
          'differs.',
      ),
    ),
    maxRecipients: v.pipe(
      v.record(chainKeySchema, v.pipe(v.number(), v.integer(), v.minValue(1))),
      v.description('Most recipients of one call, by chain key.'),
    ),
    gate: v.optional(
      v.pipe(
        v.object({
          url: v.pipe(urlSchema, v.description('Base URL of the pool-gate, http or https.')),
          oauth: v.optional(
            v.pipe(
              v.object({
                tokenUrl: v.pipe(
                  urlSchema,
                  v.description('URL that grants access tokens (RFC 6749, client credentials).'),
                ),
                clientId: v.pipe(
                  v.string(),
                  v.description('OAuth client id of the employer’s reader. Not secret.'),
                ),
                clientSecret: v.pipe(
                  v.string(),
                  v.description(
                    'OAuth client secret of the employer’s reader, made by the platform. Secret.',
                  ),
                ),
                scope: v.pipe(
                  v.string(),
                  v.description('OAuth scopes to ask for, separated by spaces.'),
                ),
              }),
              v.description(
                'Credentials that read the pool-gate. Absent: the agent needs credentials of its own.',
              ),
            ),
          ),
        }),
        v.description('The pool-gate of the deployment. Absent: the deployment has none.'),
      ),
    ),
    relayer: v.optional(
      v.pipe(
        v.record(chainKeySchema, relayerHealthSchema),
        v.description(
          'Whether the relayer can send transactions, by chain key. A missing chain, or no field at all, means that it is ' +
            'not known.',
        ),
      ),
    ),
  }),
  v.description(
    'What the platform vends to an agent at its start. Agents ignore fields that they do not know.',
  ),
);
export type Bootstrap = v.InferOutput<typeof bootstrapResponseSchema>;

/** `POST /agent-edge/recipients/lookup` */
export const recipientLookupRequestSchema = v.strictObject({
  chain: v.pipe(
    chainKeySchema,
    v.description('Key of the chain whose address format the addresses have.'),
  ),
  addresses: v.pipe(
    v.array(addressTextSchema),
    v.minLength(1),
    v.maxLength(256),
    v.description('Wallet addresses to look up, 1 to 256.'),
  ),
});
export const recipientRecordSchema = v.pipe(
  v.strictObject({
    address: v.pipe(
      addressTextSchema,
      v.description('Wallet address, spelled as the request spelled it.'),
    ),
    readiness: readinessSchema,
    walletPub: v.optional(walletPubSchema),
    encryptionPublicKey: v.optional(encryptionPublicKeySchema),
    evidence: v.optional(
      v.pipe(
        evidenceSchema,
        v.description(
          'The holder’s sign-in, which binds P to W. The agent verifies it before it pays. Absent: not enrolled.',
        ),
      ),
    ),
  }),
  v.description(
    'What the platform knows of one wallet: keys, readiness and the evidence for them.',
  ),
);
export type RecipientRecord = v.InferOutput<typeof recipientRecordSchema>;
export const recipientLookupResponseSchema = v.strictObject({
  recipients: v.pipe(
    v.array(recipientRecordSchema),
    v.maxLength(256),
    v.description('One record per address, in the order of the request.'),
  ),
});

const servedNoteSchema = v.strictObject({
  commitment: v.pipe(
    hex32Schema,
    v.description('Hash of the note, as it is on chain: a field element as 32 bytes of 0x hex.'),
  ),
  sealed: v.pipe(
    hexSchema(209),
    v.description(
      'The encrypted note: 209 bytes of 0x hex (protocol §3). The holder’s viewing key opens it; the holder counts it only ' +
        'if the commitment matches.',
    ),
  ),
  chain: v.pipe(
    chainKeySchema,
    v.description('Key of the chain that the note is on, for example `base`.'),
  ),
  token: v.pipe(
    tokenSymbolSchema,
    v.description('Symbol of the note’s token, for example `USDC`.'),
  ),
  batchIndex: v.pipe(
    v.number(),
    v.description('Position of the note’s batch in the pool, from 0, in the order of settlement.'),
  ),
  slot: v.pipe(v.number(), v.description('Position of the note in its batch, from 0.')),
  txHash: v.pipe(
    hex32Schema,
    v.description('Hash of the transaction that settled the batch: 32 bytes of 0x hex.'),
  ),
});

/** `GET /agent-edge/notes?chain&token&cursor`, bearer = a `holder.read` key. */
export const notesResponseSchema = v.strictObject({
  notes: v.pipe(
    v.array(servedNoteSchema),
    v.description(
      'Sealed notes that are labelled with the holder’s registered P, in the order of the pool. At most one page.',
    ),
  ),
  open: v.optional(
    v.pipe(
      v.array(servedNoteSchema),
      v.description(
        'Notes of spends for whose labels nobody vouches, for every holder: try the viewing key on each. They come in the order in which ' +
          'the platform learned of them, so a page may have notes of an older batch than the page before. Absent: none on this page.',
      ),
    ),
  ),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'Pass it as `cursor` to read the next page. Absent: there are no more notes now.',
      ),
    ),
  ),
  before: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.description(
        'How many of `notes` the listing has up to `cursor` of the request, as of now. A larger number than were read up to there: a note ' +
          'arrived late, for example from its funder; read again from the beginning. Absent: no `cursor` was sent.',
      ),
    ),
  ),
});
export type NotesResponse = v.InferOutput<typeof notesResponseSchema>;
