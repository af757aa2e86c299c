/**
 * What custodian B answers, as far as the adapter reads it. Vectors: vectors/custodian-b.json.
 *
 * @module
 */
import * as v from 'valibot';

/** An id in a path. */
const idSchema = v.pipe(v.string(), v.regex(/^[!-~]{1,200}$/));

const textSchema = v.pipe(v.string(), v.maxLength(1000));

const amountSchema = v.union([v.pipe(v.string(), v.maxLength(100)), v.number()]);

export const createdSchema = v.object({ id: idSchema });

export const transactionSchema = v.object({
  id: idSchema,
  externalTxId: v.nullish(textSchema),
  /** `SUBMITTED`, `PENDING_AUTHORIZATION`, `COMPLETED`, …; other statuses may be added. */
  status: v.pipe(v.string(), v.maxLength(100)),
  subStatus: v.nullish(textSchema),
  operation: textSchema,
  assetId: v.nullish(textSchema),
  source: v.object({ type: textSchema, id: v.nullish(v.union([textSchema, v.number()])) }),
  /** Empty until the transaction is on the chain. */
  destinationAddress: v.nullish(textSchema),
  amountInfo: v.nullish(v.object({ amount: v.nullish(amountSchema) })),
  txHash: v.nullish(textSchema),
  extraParameters: v.nullish(v.unknown()),
  signedMessages: v.nullish(
    v.pipe(
      v.array(
        v.object({
          /** The digest that was signed, hex without 0x. */
          content: textSchema,
          signature: v.object({
            fullSig: v.nullish(textSchema),
            r: v.nullish(textSchema),
            s: v.nullish(textSchema),
            v: v.nullish(v.union([v.number(), textSchema])),
          }),
        }),
      ),
      v.maxLength(100),
    ),
  ),
});
export type TransactionRecord = v.InferOutput<typeof transactionSchema>;

/** What the custodian kept of a typed message. It may add the fields that have only one value here. */
export const typedMessageSchema = v.object({
  rawMessageData: v.strictObject({
    messages: v.strictTuple([
      v.strictObject({
        type: v.picklist(['EIP712', 'EIP191']),
        content: v.unknown(),
        index: v.nullish(v.literal(0)),
      }),
    ]),
    algorithm: v.nullish(v.literal('MPC_ECDSA_SECP256K1')),
  }),
});

export const contractCallSchema = v.object({
  contractCallData: v.pipe(v.string(), v.regex(/^(?:0x)?[0-9a-fA-F]{0,2048}$/)),
});

export const addressPageSchema = v.object({
  addresses: v.pipe(
    v.array(
      v.object({
        address: v.nullish(textSchema),
        /** The address that signs has index 0. */
        bip44AddressIndex: v.nullish(v.number()),
      }),
    ),
    v.maxLength(1000),
  ),
});

export const publicKeySchema = v.object({
  algorithm: v.literal('MPC_ECDSA_SECP256K1'),
  /** Compressed, hex without 0x. */
  publicKey: v.pipe(v.string(), v.regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/)),
});
