/**
 * The manifest of a spend (protocol §3): everything about a transfer or a withdrawal but its randomness, as one canonical JSON
 * document. Manifest and seed together rebuild every output commitment, the change's too, so a signer can check a spend before it
 * signs. Unlike a batch's, a spend's deadline is in its manifest, because the proof and the signature bind it.
 *
 * @module
 */
import * as v from 'valibot';
import { maxMemoBytes } from '../text/memo.ts';
import { maxSpendInputs, maxSpendPayees, spendCircuits } from '../values/circuit-sizes.ts';
import {
  amountOrZeroSchema,
  amountSchema,
  chainKeySchema,
  described,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  optional,
  unixSecondsSchema,
  walletPubSchema,
} from './schema.ts';

/** Confidential: it contains payees and amounts, and links nullifiers to a wallet. */
export const spendManifestSchema = v.strictObject({
  version: described(v.literal(1), 'Version of this document’s layout.'),
  kind: described(
    v.literal('spend'),
    'What the operation does: `spend` consumes notes of one wallet.',
  ),
  chain: chainKeySchema,
  chainId: described(
    v.pipe(v.number(), v.integer(), v.minValue(1)),
    'EIP-155 chain id, from the agent’s own settings.',
  ),
  pool: described(evmAddressSchema, 'EVM address of the ShieldedPool contract.'),
  token: described(evmAddressSchema, 'EVM address of the token contract.'),
  circuit: described(
    v.picklist(spendCircuits),
    'Circuit that proves the spend. Dummies fill its unused inputs and outputs.',
  ),
  walletPub: walletPubSchema,
  encryptionPublicKey: described(
    encryptionPublicKeySchema,
    'P of all notes that are spent. One spend consumes notes of one P.',
  ),
  inputNullifiers: described(
    v.pipe(v.array(hex32Schema), v.minLength(1), v.maxLength(maxSpendInputs)),
    'Nullifiers of the notes that are spent, in the order of the inputs.',
  ),
  changeEncryptionPublicKey: described(
    encryptionPublicKeySchema,
    'P of the change. The holder of `walletPub` must have its viewing key.',
  ),
  changeAmount: described(amountOrZeroSchema, 'Change in base units, in decimal, 0 to 2^128-1.'),
  outputs: described(
    v.pipe(
      v.array(
        v.strictObject({
          walletPub: walletPubSchema,
          encryptionPublicKey: encryptionPublicKeySchema,
          evidence: evidenceSchema,
          amount: amountSchema,
          memo: optional(
            v.pipe(v.string(), v.maxBytes(maxMemoBytes)),
            'Text sealed into the note, at most 111 bytes of UTF-8. Only the payee reads it.',
          ),
        }),
      ),
      v.maxLength(maxSpendPayees),
    ),
    'Payees in the order of the request, without the change. The seed assigns them to slots. Confidential.',
  ),
  withdrawAmount: described(
    amountOrZeroSchema,
    'Base units that leave the pool, in decimal; 0 for a transfer.',
  ),
  recipient: optional(
    evmAddressSchema,
    'EVM address that receives the withdrawal. Absent for a transfer.',
  ),
  deadline: described(unixSecondsSchema, 'Unix seconds after which the spend can no longer land.'),
});
export type SpendManifest = v.InferOutput<typeof spendManifestSchema>;

/** One payee of a spend. `amount` is in base units, a canonical decimal. */
export type SpendOutput = SpendManifest['outputs'][number];
