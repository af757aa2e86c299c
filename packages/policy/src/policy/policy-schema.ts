/**
 * The policy file: what a signer or the approve process may authorise. Everything that it does not list is refused. An example is in
 * `examples/payroll-policy.json`; the README of this package describes every field.
 *
 * @module
 */
import {
  amountSchema,
  chainKeySchema,
  encryptionPublicKeySchema,
  evmAddressSchema,
  hexSchema,
  isEvmAddress,
  parseEvmAddress,
  parseWalletPub,
  parseWire,
  urlSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';

const maxListLength = 10_000;

/** A checksum address of the operator. A wrong checksum and the zero address are refused. */
const addressSchema = v.pipe(
  evmAddressSchema,
  v.check((value) => isEvmAddress(value)),
  v.transform((value) => parseEvmAddress(value)),
);

const chainIdSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(2 ** 48),
  v.description('EIP-155 chain id.'),
);

/** Whole seconds of a duration, at most a year. */
const durationSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(31_536_000));

const custodianIdSchema = v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/));

const walletsSchema = v.pipe(
  v.array(custodianIdSchema),
  v.maxLength(100),
  v.description(
    'Ids under which the custodian knows this wallet. A request for another wallet id is refused. Empty for an enclave.',
  ),
);
const initiatorsSchema = v.pipe(
  v.array(custodianIdSchema),
  v.maxLength(100),
  v.description(
    'Custodian users who may ask for a signature: the agent’s own. A request of another user is refused. Empty for an enclave.',
  ),
);

const domainSchema = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,255}$/),
  v.description('Domain of the platform, exactly as sign-in texts name it.'),
);
const uriSchema = v.pipe(
  urlSchema,
  v.description('URI of the platform, exactly as sign-in texts name it.'),
);

const tokenRuleSchema = v.strictObject({
  token: v.pipe(addressSchema, v.description('EVM address of the token contract.')),
  symbol: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9.]{1,16}$/),
    v.description('Symbol of the token, for messages only.'),
  ),
  decimals: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.maxValue(36),
    v.description('Decimal places of the token, for messages only. Limits are in base units.'),
  ),
  permit: v.optional(
    v.pipe(
      v.strictObject({
        name: v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(64),
          v.description('EIP-712 domain name of the token.'),
        ),
        version: v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(8),
          v.description('EIP-712 domain version of the token.'),
        ),
      }),
      v.description('Domain of the token’s EIP-2612 permits. Absent: permits are refused.'),
    ),
  ),
  maxPerRecipient: v.pipe(
    amountSchema,
    v.description('Largest amount for one recipient of a batch, base units.'),
  ),
  maxPerBatch: v.pipe(amountSchema, v.description('Largest total of one batch, base units.')),
  maxPerDay: v.pipe(
    amountSchema,
    v.description(
      'Largest sum of the totals of all batches that are first approved on one UTC day, base units.',
    ),
  ),
  holdAbove: v.optional(
    v.pipe(
      amountSchema,
      v.description(
        'A batch with a larger total waits for people. Base units. Requires `humanRelease`.',
      ),
    ),
  ),
});
export type TokenRule = v.InferOutput<typeof tokenRuleSchema>;

const poolRuleSchema = v.strictObject({
  chain: v.pipe(chainKeySchema, v.description('Key of the chain as manifests name it.')),
  chainId: chainIdSchema,
  pool: v.pipe(addressSchema, v.description('EVM address of the ShieldedPool contract.')),
  tokens: v.pipe(
    v.array(tokenRuleSchema),
    v.minLength(1),
    v.maxLength(100),
    v.description('Tokens that may be paid in this pool, each with its limits.'),
  ),
});

const funderRuleSchema = v.strictObject({
  address: v.pipe(addressSchema, v.description('EVM address of the wallet that pays batches.')),
  wallets: walletsSchema,
  initiators: initiatorsSchema,
});

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const clockTimeSchema = v.pipe(v.string(), v.regex(/^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/));

const workingHoursSchema = v.strictObject({
  timeZone: v.pipe(
    v.string(),
    v.maxLength(64),
    v.check((value) => isTimeZone(value)),
    v.description('IANA time zone, for example `Europe/Berlin`.'),
  ),
  days: v.pipe(
    v.array(v.picklist(weekdays)),
    v.minLength(1),
    v.maxLength(7),
    v.description('Days of the week in that zone: `mon` to `sun`.'),
  ),
  from: v.pipe(clockTimeSchema, v.description('First minute of the day, local time `HH:MM`.')),
  to: v.pipe(
    clockTimeSchema,
    v.description('End of the day, local time `HH:MM`, exclusive; `24:00` is midnight.'),
  ),
});
export type WorkingHours = v.InferOutput<typeof workingHoursSchema>;

const personSchema = v.strictObject({
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.description('Name of the person, for the audit log.'),
  ),
  publicKey: v.pipe(
    hexSchema(32),
    v.description('Ed25519 public key of the person, 32 bytes of hex.'),
  ),
});
export type PolicyPerson = v.InferOutput<typeof personSchema>;

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

const holderRuleSchema = v.strictObject({
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

export const policySchema = v.strictObject({
  version: v.pipe(v.literal(1), v.description('Version of this document’s layout.')),
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.description('Name of the policy, for logs.'),
  ),
  evidence: v.pipe(
    v.strictObject({ domain: domainSchema, uri: uriSchema }),
    v.description('The platform whose sign-in texts prove that a P belongs to a W.'),
  ),
  pools: v.pipe(
    v.array(poolRuleSchema),
    v.maxLength(100),
    v.description('Chains and pools that batches may be paid in.'),
  ),
  funders: v.pipe(
    v.array(funderRuleSchema),
    v.maxLength(100),
    v.description('Wallets that pay batches.'),
  ),
  employers: v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.uuid(),
        v.transform((value) => value.toLowerCase()),
      ),
    ),
    v.maxLength(100),
    v.description('Employer ids whose batches may be paid, as the platform names them.'),
  ),
  recipients: v.optional(
    v.pipe(
      v.strictObject({
        allow: v.optional(
          v.pipe(
            v.array(addressSchema),
            v.maxLength(maxListLength),
            v.description('Addresses that a batch may pay. Absent: any that is not denied.'),
          ),
        ),
        deny: v.optional(
          v.pipe(
            v.array(addressSchema),
            v.maxLength(maxListLength),
            v.description('Addresses that a batch never pays. It outranks `allow`.'),
          ),
        ),
      }),
      v.description('Who may be paid. Absent: everybody within the limits.'),
    ),
  ),
  workingHours: v.optional(
    v.pipe(
      workingHoursSchema,
      v.description('Batches are approved within these hours and wait outside. Absent: always.'),
    ),
  ),
  deadline: v.pipe(
    v.strictObject({
      minSeconds: v.pipe(
        durationSchema,
        v.description('A deadline that is nearer than this is refused, seconds.'),
      ),
      maxSeconds: v.pipe(
        durationSchema,
        v.description('A deadline that is further than this is refused, seconds.'),
      ),
    }),
    v.description('How far ahead the deadline of a batch or spend may be.'),
  ),
  maxBatchAgeSeconds: v.pipe(
    durationSchema,
    v.description('A batch is refused this long after its manifest arrived, seconds.'),
  ),
  duplicateRoster: v.optional(
    v.pipe(
      v.strictObject({
        days: v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(366),
          v.description('How many days back an equal roster counts.'),
        ),
        action: v.pipe(
          v.picklist(['deny', 'hold']),
          v.description('`deny` refuses the batch. `hold` waits for people.'),
        ),
      }),
      v.description(
        'The same people and amounts as an approved batch, under the same pay-run label. Absent: allowed.',
      ),
    ),
  ),
  humanRelease: v.optional(
    v.pipe(
      v.strictObject({
        people: v.pipe(
          v.array(personSchema),
          v.minLength(1),
          v.maxLength(50),
          v.description('People who may release or deny a batch.'),
        ),
        required: v.pipe(
          v.picklist([1, 2]),
          v.description('How many different keys must release a batch.'),
        ),
        newPayee: v.pipe(
          v.boolean(),
          v.description('True: a batch that pays an address for the first time waits for people.'),
        ),
      }),
      v.description('People who release a batch that waits. Absent: no batch can wait for people.'),
    ),
  ),
  holders: v.pipe(
    v.array(holderRuleSchema),
    v.maxLength(100),
    v.description('Wallets that hold notes: sign-in, spends, viewing key, disclosures.'),
  ),
});
export type Policy = v.InferOutput<typeof policySchema>;

function isWalletPub(value: string): boolean {
  try {
    parseWalletPub(value);
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }) !== undefined;
  } catch {
    return false;
  }
}

/** @throws PoolError `invalid_request` that names the first fields that are wrong, never their values */
export function parsePolicy(value: unknown): Policy {
  return parseWire(policySchema, value, 'policy');
}
