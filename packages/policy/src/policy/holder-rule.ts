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
  field,
  initiatorsSchema,
  list,
  nonEmptyList,
  optionalField,
  range,
  uriSchema,
  walletsSchema,
} from './policy-fields.ts';

const holderAssetSchema = v.strictObject({
  chainId: chainIdSchema,
  pool: field(addressSchema, 'EVM address of the ShieldedPool contract.'),
  token: field(addressSchema, 'EVM address of the token contract.'),
  maxPerCall: field(
    amountSchema,
    'Largest sum that one spend sends to others, base units. Change does not count.',
  ),
  maxPerDay: field(
    amountSchema,
    'Largest sum that all spends of one UTC day send to others, base units.',
  ),
});

export const holderRuleSchema = v.strictObject({
  walletPub: field(
    v.pipe(
      walletPubSchema,
      v.check((value) => isWalletPub(value)),
      v.transform((value) => parseWalletPub(value)),
    ),
    'W of the holder: a compressed secp256k1 point, 33 bytes of hex.',
  ),
  wallets: walletsSchema,
  initiators: initiatorsSchema,
  encryptionPublicKeys: field(
    list(encryptionPublicKeySchema, 16),
    'Every P of this holder. Change goes to one of them, and a sign-in text lists none or one of them.',
  ),
  signIn: optionalField(
    v.strictObject({
      domain: domainSchema,
      uri: uriSchema,
      chainId: chainIdSchema,
      maxValidityMinutes: field(
        range(1, 1_440),
        'Longest time from Issued At to Expiration Time, minutes.',
      ),
    }),
    'Sign-in texts that may be signed. Absent: none.',
  ),
  spend: optionalField(
    v.strictObject({
      assets: field(nonEmptyList(holderAssetSchema, 100), 'What may be spent, with its limits.'),
      sendTo: field(
        list(addressSchema),
        'Addresses that a withdrawal may go to. Empty: no withdrawal.',
      ),
      transferTo: field(
        list(walletPubSchema),
        'W of wallets that a transfer may pay. Empty: no transfer.',
      ),
    }),
    'Spends that may be signed. Absent: none.',
  ),
  viewingKey: optionalField(
    v.strictObject({ domain: domainSchema }),
    'The viewing key may be derived for this platform. Only a deterministic signer does so. Absent: no.',
  ),
  disclosures: optionalField(
    v.boolean(),
    'True: disclosures of this wallet may be signed. Default: false.',
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
