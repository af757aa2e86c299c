/**
 * Wire schemas of `/agent-edge` and of the pool-gate (ARCHITECTURE.md).
 *
 * @module
 */

import {
  addressTextSchema,
  amountSchema,
  chainKeySchema,
  eligibilityPathSchema,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  isoTimeSchema,
  tokenSymbolSchema,
  unixSecondsSchema,
  urlSchema,
  vendedChainSchema,
} from '@pool/core';
import * as v from 'valibot';
import { readinessSchema } from './accounts.ts';

/** Whether the platform's relayer can send a batch now, as its worker saw it last. */
const relayerHealthSchema = v.object({
  ok: v.boolean(),
  /** Why not: a word for machines. Later releases may have more of them. */
  code: v.optional(v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z][a-z0-9_]*$/))),
});
export type RelayerHealth = v.InferOutput<typeof relayerHealthSchema>;

/** `POST /agent-edge/bootstrap {}` */
export const bootstrapRequestSchema = v.strictObject({});
/** Unknown fields are ignored at every level: an agent keeps working with a newer platform. */
export const bootstrapResponseSchema = v.object({
  employerId: v.pipe(v.string(), v.uuid()),
  employerAddress: evmAddressSchema,
  /** Default chain key of the deployment. */
  chain: chainKeySchema,
  /** Repeats the platform's view per chain; the agent compares it with its own. */
  chains: v.record(chainKeySchema, vendedChainSchema),
  /** Per-call maximum per chain. */
  maxRecipients: v.record(chainKeySchema, v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Absent: the deployment has no gate. */
  gate: v.optional(
    v.object({
      url: urlSchema,
      oauth: v.optional(
        v.object({
          tokenUrl: urlSchema,
          clientId: v.string(),
          clientSecret: v.string(),
          scope: v.string(),
        }),
      ),
    }),
  ),
  /** Per chain. Absent, or a chain that is not there: not known. */
  relayer: v.optional(v.record(chainKeySchema, relayerHealthSchema)),
});
export type Bootstrap = v.InferOutput<typeof bootstrapResponseSchema>;

/** `POST /agent-edge/recipients/lookup` */
export const recipientLookupRequestSchema = v.strictObject({
  chain: chainKeySchema,
  addresses: v.pipe(v.array(addressTextSchema), v.minLength(1), v.maxLength(256)),
});
export const recipientRecordSchema = v.strictObject({
  address: addressTextSchema,
  readiness: readinessSchema,
  walletPub: v.optional(hexSchema(33)),
  encryptionPublicKey: v.optional(encryptionPublicKeySchema),
  evidence: v.optional(evidenceSchema),
});
export type RecipientRecord = v.InferOutput<typeof recipientRecordSchema>;
export const recipientLookupResponseSchema = v.strictObject({
  recipients: v.pipe(v.array(recipientRecordSchema), v.maxLength(256)),
});

/** A field element or digest as a decimal-free 32-byte hex word. */
const wordSchema = hex32Schema;

export const groth16ProofSchema = v.strictObject({
  a: v.tuple([wordSchema, wordSchema]),
  b: v.tuple([v.tuple([wordSchema, wordSchema]), v.tuple([wordSchema, wordSchema])]),
  c: v.tuple([wordSchema, wordSchema]),
});
/** A Groth16 proof in the order the Solidity verifier takes it (G2 coordinates imaginary part first). */
export type SolidityProof = v.InferOutput<typeof groth16ProofSchema>;

export const fundBatchSchema = v.strictObject({
  funder: evmAddressSchema,
  token: evmAddressSchema,
  total: amountSchema,
  batchNonce: wordSchema,
  eligibilityRoot: wordSchema,
  batchRoot: wordSchema,
  commitments: v.pipe(v.array(wordSchema), v.minLength(1), v.maxLength(256)),
  sealedNotesHash: wordSchema,
  /** D of protocol §5. */
  digest: wordSchema,
  deadline: unixSecondsSchema,
});
export type FundBatchWire = v.InferOutput<typeof fundBatchSchema>;

export const permitSchema = v.strictObject({
  value: amountSchema,
  deadline: unixSecondsSchema,
  v: v.picklist([27, 28]),
  r: wordSchema,
  s: wordSchema,
});
export type PermitWire = v.InferOutput<typeof permitSchema>;

/** One per slot, in slot order: the sealed note and the key it is addressed to. */
const sealedNotesSchema = v.pipe(
  v.array(
    v.strictObject({ encryptionPublicKey: encryptionPublicKeySchema, sealed: hexSchema(209) }),
  ),
  v.minLength(1),
  v.maxLength(256),
);

/**
 * Says whether two requests under one Idempotency-Key are the same, to whoever has the key it was made with.
 * `keyId` names that key.
 */
const bodyFingerprintSchema = v.strictObject({ keyId: hexSchema(8), value: hex32Schema });
export type BodyFingerprint = v.InferOutput<typeof bodyFingerprintSchema>;

/** `POST /agent-edge/settlements`, header Idempotency-Key = the job's key. */
export const settlementRequestSchema = v.strictObject({
  chain: chainKeySchema,
  batch: fundBatchSchema,
  proof: groth16ProofSchema,
  funderSignature: v.pipe(v.string(), v.regex(/^0x(?:[0-9a-f]{2}){65,1024}$/)),
  permit: v.optional(permitSchema),
  /** Of the request that this batch pays. */
  bodyFingerprint: v.optional(bodyFingerprintSchema),
  sealedNotes: sealedNotesSchema,
});
export type SettlementRequest = v.InferOutput<typeof settlementRequestSchema>;

/**
 * `POST /agent-edge/settlements/:key/notes`: the sealed notes of a settled batch once more, for a platform that lost them.
 * The same document is what a funder keeps and what a holder imports. It names P for each slot and no amount but the total.
 */
export const deliverySchema = v.strictObject({
  chain: chainKeySchema,
  batch: fundBatchSchema,
  sealedNotes: sealedNotesSchema,
});
export type Delivery = v.InferOutput<typeof deliverySchema>;

/**
 * `accepted`: notes and intent stored, nothing sent. `submitted`: a transaction is out. `settled`: final
 * and successful. `reverted`: the last transaction is final and reverted, or the relayer's simulation
 * refused it (then without txHash); the same authorisation may be sent again with a fresh proof.
 */
const settlementStates = ['accepted', 'submitted', 'settled', 'reverted'] as const;

export const settlementRecordSchema = v.strictObject({
  key: v.string(),
  state: v.picklist(settlementStates),
  chain: chainKeySchema,
  batch: fundBatchSchema,
  /** As the first post of this batch brought it. Absent: it brought none. */
  bodyFingerprint: v.optional(bodyFingerprintSchema),
  /** Empty: the batch never landed and never can, and the platform has erased them. */
  sealedNotes: v.array(
    v.strictObject({ encryptionPublicKey: encryptionPublicKeySchema, sealed: hexSchema(209) }),
  ),
  /** The settling transaction, or the one that reverted this attempt; absent while none is mined. */
  txHash: v.optional(hex32Schema),
  blockNumber: v.optional(v.number()),
  /** Gas used by that transaction, decimal. */
  gasUsed: v.optional(v.string()),
  error: v.optional(
    v.strictObject({
      code: v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z0-9_-]+$/)),
      message: v.pipe(v.string(), v.maxLength(500)),
    }),
  ),
});
export type SettlementRecord = v.InferOutput<typeof settlementRecordSchema>;

/**
 * `POST /agent-edge/settlements/:key/void`: withdraw the batch of a settlement. `signature` is the funder's
 * EIP-712 `VoidBatch` (protocol §8). Answered with the settlement record; 404 `not_found` when the employer has no
 * settlement under that key. The answer does not mean that the batch is void: only a final block says so.
 */
export const voidRequestSchema = v.strictObject({
  chain: chainKeySchema,
  funder: evmAddressSchema,
  batchNonce: wordSchema,
  signature: settlementRequestSchema.entries.funderSignature,
});
export type VoidRequest = v.InferOutput<typeof voidRequestSchema>;

/** `GET /agent-edge/notes?chain&token&cursor`, bearer = a `holder.read` key. */
export const notesResponseSchema = v.strictObject({
  notes: v.array(
    v.strictObject({
      commitment: wordSchema,
      sealed: hexSchema(209),
      chain: chainKeySchema,
      token: tokenSymbolSchema,
      /** Position of the batch in the note tree, and of the note in the batch. */
      batchIndex: v.number(),
      slot: v.number(),
      txHash: hex32Schema,
    }),
  ),
  /** Pass as `cursor` to read on; absent: nothing more now. */
  cursor: v.optional(v.string()),
});
export type NotesResponse = v.InferOutput<typeof notesResponseSchema>;

/** Pool-gate `POST /v1/paths` */
export const gatePathsRequestSchema = v.strictObject({
  walletIds: v.pipe(v.array(wordSchema), v.minLength(1), v.maxLength(256)),
});
export const gatePathsResponseSchema = v.strictObject({
  root: wordSchema,
  paths: v.array(eligibilityPathSchema),
  /** Wallet ids that are not on the list. */
  missing: v.array(wordSchema),
});

/** Pool-gate `PUT /v1/wallets/:w` and `DELETE`: answered once the new root is final on chain. */
export const gateWalletRequestSchema = v.strictObject({ walletPub: hexSchema(33) });
export const gateWalletResponseSchema = v.strictObject({
  walletId: wordSchema,
  status: v.picklist(['whitelisted', 'removed', 'denied']),
  root: wordSchema,
  whitelistedAt: v.optional(isoTimeSchema),
});
export type GateWallet = v.InferOutput<typeof gateWalletResponseSchema>;

/** Ids of employers' readers at the pool-gate. A form of its own: none is that of a configured client. */
export const gateReaderIdSchema = v.pipe(v.string(), v.regex(/^reader-[A-Za-z0-9]{16}$/));
/** Pool-gate `PUT /v1/readers/:clientId`: makes an employer's reader, gives it another secret, or revokes it. */
export const gateReaderRequestSchema = v.strictObject({
  /** A lower one than the gate has is refused; a revoked one stays revoked. */
  generation: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** SHA-256 of the secret; null: revoked. */
  secretHash: v.nullable(hexSchema(32)),
});
export const gateReaderResponseSchema = v.strictObject({ clientId: gateReaderIdSchema });
export type GateReaderState = v.InferOutput<typeof gateReaderRequestSchema>;

/** Pool-gate `GET /v1/root` */
export const gateRootResponseSchema = v.strictObject({
  root: wordSchema,
  wallets: v.number(),
  /** Absent while no root has been published. */
  txHash: v.optional(hex32Schema),
});

/** Pool-gate `GET /v1/capacity` */
export const gateCapacityResponseSchema = v.strictObject({
  /** Leaves of the eligibility tree. */
  capacity: v.number(),
  /** Leaves that a wallet has: listed, about to be listed, or about to be removed. */
  used: v.number(),
  /** Whether 80 % of them are used. */
  nearlyFull: v.boolean(),
});
