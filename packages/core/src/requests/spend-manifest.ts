/**
 * The manifest of a spend (protocol §3): everything about a transfer or a withdrawal but its randomness, as one canonical JSON
 * document. Manifest and seed together rebuild every output commitment, the change's too, so a signer can check a spend before it
 * signs. Unlike a batch's, a spend's deadline is in its manifest, because the proof and the signature bind it.
 *
 * @module
 */
import * as v from 'valibot';
import { maxMemoBytes } from '../text/memo.ts';
import { isAmountString } from '../values/amount.ts';
import { maxSpendInputs, maxSpendPayees, spendCircuits } from '../values/circuit-sizes.ts';
import {
  amountSchema,
  chainKeySchema,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  unixSecondsSchema,
  walletPubSchema,
} from './schema.ts';

const amountOrZeroSchema = v.pipe(
  v.string(),
  v.maxLength(39),
  v.check((value) => value === '0' || isAmountString(value)),
);

/** Confidential: it contains payees and amounts, and links nullifiers to a wallet. */
export const spendManifestSchema = v.strictObject({
  version: v.pipe(v.literal(1), v.description('Version of this document’s layout.')),
  kind: v.pipe(
    v.literal('spend'),
    v.description('What the operation does: `spend` consumes notes of one wallet.'),
  ),
  chain: chainKeySchema,
  chainId: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.description('EIP-155 chain id, from the agent’s own settings.'),
  ),
  pool: v.pipe(evmAddressSchema, v.description('EVM address of the ShieldedPool contract.')),
  token: v.pipe(evmAddressSchema, v.description('EVM address of the token contract.')),
  circuit: v.pipe(
    v.picklist(spendCircuits),
    v.description('Circuit that proves the spend. Dummies fill its unused inputs and outputs.'),
  ),
  walletPub: walletPubSchema,
  encryptionPublicKey: v.pipe(
    encryptionPublicKeySchema,
    v.description('P of all notes that are spent. One spend consumes notes of one P.'),
  ),
  inputNullifiers: v.pipe(
    v.array(hex32Schema),
    v.minLength(1),
    v.maxLength(maxSpendInputs),
    v.description('Nullifiers of the notes that are spent, in the order of the inputs.'),
  ),
  changeEncryptionPublicKey: v.pipe(
    encryptionPublicKeySchema,
    v.description('P of the change. The holder of `walletPub` must have its viewing key.'),
  ),
  changeAmount: v.pipe(
    amountOrZeroSchema,
    v.description('Change in base units, in decimal, 0 to 2^128-1.'),
  ),
  outputs: v.pipe(
    v.array(
      v.strictObject({
        walletPub: walletPubSchema,
        encryptionPublicKey: encryptionPublicKeySchema,
        evidence: evidenceSchema,
        amount: amountSchema,
        memo: v.optional(
          v.pipe(
            v.string(),
            v.maxBytes(maxMemoBytes),
            v.description(
              'Text sealed into the note, at most 111 bytes of UTF-8. Only the payee reads it.',
            ),
          ),
        ),
      }),
    ),
    v.maxLength(maxSpendPayees),
    v.description(
      'Payees in the order of the request, without the change. The seed assigns them to slots. Confidential.',
    ),
  ),
  withdrawAmount: v.pipe(
    amountOrZeroSchema,
    v.description('Base units that leave the pool, in decimal; 0 for a transfer.'),
  ),
  recipient: v.optional(
    v.pipe(
      evmAddressSchema,
      v.description('EVM address that receives the withdrawal. Absent for a transfer.'),
    ),
  ),
  deadline: v.pipe(
    unixSecondsSchema,
    v.description('Unix seconds after which the spend can no longer land.'),
  ),
});
export type SpendManifest = v.InferOutput<typeof spendManifestSchema>;

/** One payee of a spend. `amount` is in base units, a canonical decimal. */
export type SpendOutput = SpendManifest['outputs'][number];
