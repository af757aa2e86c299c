/**
 * The policy file: what a signer or the approve process may authorise. Everything that it does not list is refused. An example is in
 * `examples/payroll-policy.json`; the README of this package describes every field.
 *
 * @module
 */
import {
  amountSchema,
  chainKeySchema,
  type EvmAddress,
  formatTokenUnits,
  hexSchema,
  parseWire,
} from '@pool/core';
import * as v from 'valibot';
import { holderRuleSchema } from './holder-rule.ts';
import {
  addressSchema,
  chainIdSchema,
  domainSchema,
  durationSchema,
  field,
  initiatorsSchema,
  list,
  name,
  nonEmptyList,
  optionalField,
  range,
  uriSchema,
  walletsSchema,
} from './policy-fields.ts';

// Amounts as people read them: in the unit that the policy names, and in base units, which are what is signed.

/** How a token is written. It is the operator's word, not the token's. */
export type TokenUnit = Pick<TokenRule, 'symbol' | 'decimals'>;

/** Undefined: the policy does not list the token, so only base units can be shown. */
export function findTokenUnit(
  policy: Policy | undefined,
  asset: { readonly chainId: number; readonly pool: EvmAddress; readonly token: EvmAddress },
): TokenUnit | undefined {
  return policy?.pools
    .filter(({ chainId, pool }) => chainId === asset.chainId && pool === asset.pool)
    .flatMap(({ tokens }) => tokens)
    .find(({ token }) => token === asset.token);
}

/** `100,000.00 USDC (100000000000)`, or `100000000000 base units` of a token without a unit. Exact. */
export function describeAmount(amount: bigint, unit: TokenUnit | undefined): string {
  if (unit === undefined) {
    return `${amount} base units`;
  }
  const [whole = '', fraction = ''] = formatTokenUnits(amount, unit.decimals).split('.');
  const cents = fraction.padEnd(Math.min(2, unit.decimals), '0');
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',');
  return `${grouped}${cents === '' ? '' : `.${cents}`} ${unit.symbol} (${amount})`;
}

const tokenRuleSchema = v.strictObject({
  token: field(addressSchema, 'EVM address of the token contract.'),
  symbol: field(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9.]{1,16}$/)),
    'Symbol of the token, for messages only.',
  ),
  decimals: field(
    range(0, 36),
    'Decimal places of the token, for messages only. Limits are in base units.',
  ),
  permit: optionalField(
    v.strictObject({
      name: field(name(64), 'EIP-712 domain name of the token.'),
      version: field(name(8), 'EIP-712 domain version of the token.'),
    }),
    'Domain of the token’s EIP-2612 permits. Absent: permits are refused.',
  ),
  maxPerRecipient: field(amountSchema, 'Largest amount for one recipient of a batch, base units.'),
  maxPerBatch: field(amountSchema, 'Largest total of one batch, base units.'),
  maxPerDay: field(
    amountSchema,
    'Largest sum of the totals of all batches that are first approved on one UTC day, base units.',
  ),
  maxPerRecipientPerDay: optionalField(
    amountSchema,
    'Largest sum for one recipient in all batches that are first approved on one UTC day, and in 24 hours, base units. Absent: no such limit.',
  ),
  holdAbove: optionalField(
    amountSchema,
    'A batch waits for people if its total, together with what was approved in the 24 hours before, is larger. Base units. Requires `humanRelease`.',
  ),
});
export type TokenRule = v.InferOutput<typeof tokenRuleSchema>;

const poolRuleSchema = v.strictObject({
  chain: field(chainKeySchema, 'Key of the chain as manifests name it.'),
  chainId: chainIdSchema,
  pool: field(addressSchema, 'EVM address of the ShieldedPool contract.'),
  tokens: field(
    nonEmptyList(tokenRuleSchema, 100),
    'Tokens that may be paid in this pool, each with its limits.',
  ),
});

const funderRuleSchema = v.strictObject({
  address: field(addressSchema, 'EVM address of the wallet that pays batches.'),
  wallets: walletsSchema,
  initiators: initiatorsSchema,
  maxApprovalsPerDay: optionalField(
    range(0, 10_000),
    'Most token approvals of one UTC day and of 24 hours, resets to zero included. A further one waits. Default: 0 for a token with permits, else 20.',
  ),
  maxFeePerDay: optionalField(
    amountSchema,
    'Most that the token approvals of one UTC day and of 24 hours may cost, wei of the chain’s coin. A further one waits. Default: 0.5 of a coin with 18 decimals.',
  ),
});

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const clockTimeSchema = v.pipe(v.string(), v.regex(/^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/));

const workingHoursSchema = v.strictObject({
  timeZone: field(
    v.pipe(
      v.string(),
      v.maxLength(64),
      v.check((value) => isTimeZone(value)),
    ),
    'IANA time zone, for example `Europe/Berlin`.',
  ),
  days: field(
    v.pipe(v.array(v.picklist(weekdays)), v.minLength(1), v.maxLength(7)),
    'Days of the week in that zone: `mon` to `sun`.',
  ),
  from: field(clockTimeSchema, 'First minute of the day, local time `HH:MM`.'),
  to: field(clockTimeSchema, 'End of the day, local time `HH:MM`, exclusive; `24:00` is midnight.'),
});
export type WorkingHours = v.InferOutput<typeof workingHoursSchema>;

const personSchema = v.strictObject({
  name: field(name(64), 'Name of the person, for the audit log.'),
  publicKey: field(hexSchema(32), 'Ed25519 public key of the person, 32 bytes of hex.'),
});
export type PolicyPerson = v.InferOutput<typeof personSchema>;

export const policySchema = v.strictObject({
  version: field(v.literal(1), 'Version of this document’s layout.'),
  name: field(name(64), 'Name of the policy, for logs.'),
  evidence: field(
    v.strictObject({ domain: domainSchema, uri: uriSchema }),
    'The platform whose sign-in texts prove that a P belongs to a W.',
  ),
  pools: field(list(poolRuleSchema, 100), 'Chains and pools that batches may be paid in.'),
  funders: field(list(funderRuleSchema, 100), 'Wallets that pay batches.'),
  employers: field(
    v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.uuid(),
          v.transform((value) => value.toLowerCase()),
        ),
      ),
      v.maxLength(100),
    ),
    'Employer ids whose batches may be paid, as the platform names them.',
  ),
  recipients: optionalField(
    v.strictObject({
      allow: optionalField(
        list(addressSchema),
        'Addresses that a batch may pay. Absent: any that is not denied.',
      ),
      deny: optionalField(
        list(addressSchema),
        'Addresses that a batch never pays. It outranks `allow`.',
      ),
    }),
    'Who may be paid. Absent: everybody within the limits.',
  ),
  workingHours: optionalField(
    workingHoursSchema,
    'Batches are approved within these hours and wait outside. Absent: always.',
  ),
  deadline: field(
    v.strictObject({
      minSeconds: field(durationSchema, 'A deadline that is nearer than this is refused, seconds.'),
      maxSeconds: field(
        durationSchema,
        'A deadline that is further than this is refused, seconds.',
      ),
    }),
    'How far ahead the deadline of a batch or spend may be.',
  ),
  maxBatchAgeSeconds: field(
    durationSchema,
    'A batch is refused this long after its manifest arrived, seconds.',
  ),
  duplicateRoster: optionalField(
    v.strictObject({
      days: field(range(1, 366), 'How many days back an equal roster counts.'),
      action: field(
        v.picklist(['deny', 'hold']),
        '`deny` refuses the batch. `hold` waits for people.',
      ),
    }),
    'The same people and amounts as an approved batch, under the same pay-run label. Absent: allowed.',
  ),
  humanRelease: optionalField(
    v.strictObject({
      people: field(nonEmptyList(personSchema, 50), 'People who may release or deny a batch.'),
      required: field(v.picklist([1, 2]), 'How many different keys must release a batch.'),
      newPayee: field(
        v.boolean(),
        'True: a batch that pays an address for the first time waits for people.',
      ),
    }),
    'People who release a batch that waits. Absent: no batch can wait for people.',
  ),
  policyChange: optionalField(
    v.strictObject({
      people: field(
        v.picklist([1, 2]),
        'How many different keys of `humanRelease.people` must sign the next policy.',
      ),
    }),
    'Another policy takes effect only when people of this one signed it. Absent: whoever writes the file changes it.',
  ),
  holders: field(
    list(holderRuleSchema, 100),
    'Wallets that hold notes: sign-in, spends, viewing key, disclosures.',
  ),
});
export type Policy = v.InferOutput<typeof policySchema>;

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
