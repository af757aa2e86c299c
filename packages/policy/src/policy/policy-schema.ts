/**
 * The policy file: what a signer or the approve process may authorise. Everything that it does not list is refused. An example is in
 * `examples/payroll-policy.json`; the README of this package describes every field.
 *
 * @module
 */
import { amountSchema, chainKeySchema, hexSchema, parseWire } from '@pool/core';
import * as v from 'valibot';
import { holderRuleSchema } from './holder-rule.ts';
import {
  addressSchema,
  chainIdSchema,
  domainSchema,
  durationSchema,
  initiatorsSchema,
  maxListLength,
  uriSchema,
  walletsSchema,
} from './policy-fields.ts';

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
  maxPerRecipientPerDay: v.optional(
    v.pipe(
      amountSchema,
      v.description(
        'Largest sum for one recipient in all batches that are first approved on one UTC day, and in 24 hours, base units. Absent: no such limit.',
      ),
    ),
  ),
  holdAbove: v.optional(
    v.pipe(
      amountSchema,
      v.description(
        'A batch waits for people if its total, together with what was approved in the 24 hours before, is larger. Base units. Requires `humanRelease`.',
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
  maxApprovalsPerDay: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(10_000),
      v.description(
        'Most token approvals of one UTC day and of 24 hours, resets to zero included. A further one waits. Default: 0 for a token with permits, else 20.',
      ),
    ),
  ),
  maxFeePerDay: v.optional(
    v.pipe(
      amountSchema,
      v.description(
        'Most that the token approvals of one UTC day and of 24 hours may cost, wei of the chain’s coin. A further one waits. Default: 0.5 of a coin with 18 decimals.',
      ),
    ),
  ),
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
  policyChange: v.optional(
    v.pipe(
      v.strictObject({
        people: v.pipe(
          v.picklist([1, 2]),
          v.description(
            'How many different keys of `humanRelease.people` must sign the next policy.',
          ),
        ),
      }),
      v.description(
        'Another policy takes effect only when people of this one signed it. Absent: whoever writes the file changes it.',
      ),
    ),
  ),
  holders: v.pipe(
    v.array(holderRuleSchema),
    v.maxLength(100),
    v.description('Wallets that hold notes: sign-in, spends, viewing key, disclosures.'),
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
