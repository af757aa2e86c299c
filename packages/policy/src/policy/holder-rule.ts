/**
 * What the policy file says about a wallet that holds notes.
 *
 * @module
 */
import {
  amountSchema,
  encryptionPublicKeySchema,
  parseWalletPub,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import {
  addressSchema,
  chainIdSchema,
  domainSchema,
  initiatorsSchema,
  maxListLength,
  uriSchema,
  walletsSchema,
} from './policy-fields.ts';

const holderAssetSchema = v.strictObject({
  chainId: chainIdSchema,
  pool: v.pipe(addressSchema, v.description('EVM address of the ShieldedPool contract.')),
  token: v.pipe(addressSchema, v.description('EVM address of the token contract.')),
  maxPerCall: v.pipe(
    amountSchema,
    v.description('Largest sum that one spend sends to others, base units. Change does not count.'),
  ),
  maxPerDay: v.pipe(
    amountSchema,
    v.description('Largest sum that all spends of one UTC day send to others, base units.'),
  ),
});

export const holderRuleSchema = v.strictObject({
  walletPub: v.pipe(
    walletPubSchema,
    v.check((value) => isWalletPub(value)),
    v.transform((value) => parseWalletPub(value)),
    v.description('W of the holder: a compressed secp256k1 point, 33 bytes of hex.'),
  ),
  wallets: walletsSchema,
  initiators: initiatorsSchema,
  encryptionPublicKeys: v.pipe(
    v.array(encryptionPublicKeySchema),
    v.maxLength(16),
    v.description(
      'Every P of this holder. Change goes to one of them, and a sign-in text lists none or one of them.',
    ),
  ),
  signIn: v.optional(
    v.pipe(
      v.strictObject({
        domain: domainSchema,
        uri: uriSchema,
        chainId: chainIdSchema,
        maxValidityMinutes: v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(1_440),
          v.description('Longest time from Issued At to Expiration Time, minutes.'),
        ),
      }),
      v.description('Sign-in texts that may be signed. Absent: none.'),
    ),
  ),
  spend: v.optional(
    v.pipe(
      v.strictObject({
        assets: v.pipe(
          v.array(holderAssetSchema),
          v.minLength(1),
          v.maxLength(100),
          v.description('What may be spent, with its limits.'),
        ),
        sendTo: v.pipe(
          v.array(addressSchema),
          v.maxLength(maxListLength),
          v.description('Addresses that a withdrawal may go to. Empty: no withdrawal.'),
        ),
        transferTo: v.pipe(
          v.array(walletPubSchema),
          v.maxLength(maxListLength),
          v.description('W of wallets that a transfer may pay. Empty: no transfer.'),
        ),
      }),
      v.description('Spends that may be signed. Absent: none.'),
    ),
  ),
  viewingKey: v.optional(
    v.pipe(
      v.strictObject({ domain: domainSchema }),
      v.description(
        'The viewing key may be derived for this platform. Only a deterministic signer does so. Absent: no.',
      ),
    ),
  ),
  disclosures: v.optional(
    v.pipe(
      v.boolean(),
      v.description('True: disclosures of this wallet may be signed. Default: false.'),
    ),
  ),
});
export type HolderRule = v.InferOutput<typeof holderRuleSchema>;

function isWalletPub(value: string): boolean {
  try {
    parseWalletPub(value);
    return true;
  } catch {
    return false;
  }
}
