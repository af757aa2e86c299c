/**
 * The agent's own release policy: who may prepare a batch, and who releases it before the funder's key signs. What it does not list is
 * refused. The README of this package describes every field.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  chainKeySchema,
  hexSchema,
  isPoolError,
  PoolError,
  parseStrictJson,
  parseTokenUnits,
  parseWire,
  quote,
  tokenSymbolSchema,
} from '@pool/core';
import * as v from 'valibot';
import { field, list, name, nonEmptyList, optionalField, range } from '../policy/policy-fields.ts';

/** The credential of the agent's own command line and console. */
export const loopbackCredential = 'loopback';

const credentialSchema = v.pipe(v.string(), v.regex(/^(?:loopback|api-key:[0-9]{1,15})$/));

const personSchema = v.strictObject({
  name: field(name(64), 'Name of the person, for messages and the log.'),
  publicKey: optionalField(
    hexSchema(32),
    'Ed25519 public key of the person, 32 bytes of hex. Absent: the person releases nothing.',
  ),
  prepares: optionalField(
    list(credentialSchema, 20),
    'Credentials with which the person prepares: `loopback`, or `api-key:` with the id of an API key. Absent: none.',
  ),
});
export type ReleasePerson = v.InferOutput<typeof personSchema>;

const ruleSchema = v.strictObject({
  chain: field(chainKeySchema, 'Key of the chain.'),
  token: field(tokenSymbolSchema, 'Symbol of the token on that chain.'),
  from: field(
    v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]{0,38})(?:\.[0-9]{1,36})?$/)),
    'The rule counts from this amount on, in token units: what was prepared in 24 hours, with the batch.',
  ),
  required: field(range(0, 10), 'How many different people must release. 0: nobody.'),
  people: field(list(name(64), 50), 'Names of the people who may release.'),
});
export type ReleaseRule = v.InferOutput<typeof ruleSchema>;

const releasePolicySchema = v.strictObject({
  version: field(v.literal(1), 'Version of this document’s layout.'),
  name: field(name(64), 'Name of the policy, for messages.'),
  waitHours: field(
    range(1, 720),
    'How long a prepared batch may wait for its release. It fails afterwards, unpaid.',
  ),
  people: field(nonEmptyList(personSchema, 50), 'The people who prepare or release.'),
  rules: field(
    nonEmptyList(ruleSchema, 200),
    'For each chain and token. Without a rule for its amount a batch is refused.',
  ),
});

export type ReleasePolicy = v.InferOutput<typeof releasePolicySchema> & {
  /** SHA-256 of the file's bytes, hex. A release counts under one policy only. */
  readonly sha256: string;
};

/**
 * @param text - of the file
 * @throws PoolError `invalid_policy` that names the place
 */
export function parseReleasePolicy(text: string): ReleasePolicy {
  const sha256 = createHash('sha256').update(text).digest('hex');
  try {
    const value = parseStrictJson(text, 'the release policy');
    const policy = parseWire(releasePolicySchema, value, 'the release policy');
    const problem = findProblem(policy);
    if (problem !== undefined) {
      throw new PoolError('invalid_policy', `the release policy: ${problem}`);
    }
    return { ...policy, sha256 };
  } catch (error) {
    throw isPoolError(error) && error.code !== 'invalid_policy'
      ? new PoolError('invalid_policy', error.message, { cause: error })
      : error;
  }
}

type Read = v.InferOutput<typeof releasePolicySchema>;

function findProblem({ people, rules }: Read): string | undefined {
  return findTwice(people, rules) ?? findInRules(people, rules);
}

function findTwice(people: Read['people'], rules: Read['rules']): string | undefined {
  const seen = new Set<string>();
  for (const [index, { name: personName, publicKey }] of people.entries()) {
    for (const [what, value] of Object.entries({ name: personName, publicKey })) {
      const id = `${what} ${value}`;
      if (value !== undefined && seen.has(id)) {
        return `people[${index}].${what} is that of another person; give each person one entry`;
      }
      seen.add(id);
    }
  }
  for (const [index, { chain, token, from }] of rules.entries()) {
    const id = `rule ${chain} ${token} ${parseTokenUnitsFully(from)}`;
    if (seen.has(id)) {
      return `rules[${index}] has chain, token and from of another rule; keep one of them`;
    }
    seen.add(id);
  }
  return undefined;
}

function findInRules(people: Read['people'], rules: Read['rules']): string | undefined {
  for (const [index, { people: names, required }] of rules.entries()) {
    for (const [place, one] of names.entries()) {
      const person = people.find((other) => other.name === one);
      if (person?.publicKey === undefined) {
        return `rules[${index}].people[${place}]: ${quote(one)} ${person === undefined ? 'is not in people' : 'has no publicKey'}`;
      }
    }
    const unable = new Set(people.flatMap(({ prepares = [] }) => prepares));
    for (const credential of unable) {
      const able = new Set(names.filter((one) => !isPreparer(people, one, credential)));
      if (able.size < required) {
        return `rules[${index}].people: ${able.size} of them may release what ${credential} prepares, and ${required} are required; who prepares a batch does not release it`;
      }
    }
  }
  return undefined;
}

/** Thresholds of a token with fewer decimals are refused where its decimals are known ({@link findRule}). */
function parseTokenUnitsFully(from: string): string {
  return from.replace(/(\.[0-9]*?)0+$/, '$1').replace(/\.$/, '');
}

function isPreparer(people: Read['people'], personName: string, credential: string): boolean {
  const person = people.find((one) => one.name === personName);
  return person?.prepares?.includes(credential) === true;
}

/** The people who prepare with a credential. All of them count as preparers of its batches. */
export function listPreparers(
  { people }: ReleasePolicy,
  credential: string,
): readonly ReleasePerson[] {
  return people.filter(({ prepares }) => prepares?.includes(credential));
}

/** What a batch is in a release policy. */
export type PreparedBatch = {
  readonly chain: string;
  /** Symbol. */
  readonly token: string;
  readonly decimals: number;
  /** The credential of the request: `loopback`, or `api-key:7`. */
  readonly preparedBy: string;
  /** Base units: the total of the batch, with what was prepared in the 24 hours before it. */
  readonly amount: bigint;
};

export type ReleaseNeed =
  | {
      readonly kind: 'people';
      /** The amount from which the rule counts, in token units. */
      readonly from: string;
      readonly required: number;
      /** Who may release this batch: its preparers may not. */
      readonly people: readonly ReleasePerson[];
      readonly preparers: readonly ReleasePerson[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/** Which people a batch needs. Refused: nobody may prepare or release it. */
export function findReleaseNeed(policy: ReleasePolicy, batch: PreparedBatch): ReleaseNeed {
  const preparers = listPreparers(policy, batch.preparedBy);
  if (preparers.length === 0) {
    return {
      kind: 'refused',
      message: `the release policy lets nobody prepare payments with the credential ${quote(batch.preparedBy)}; add it to prepares of a person`,
    };
  }
  const rule = findRule(policy, batch);
  if (rule === undefined) {
    return {
      kind: 'refused',
      message: `the release policy has no rule for this amount of ${batch.token} on ${batch.chain}; add a rule with from "0"`,
    };
  }
  const people = policy.people.filter(
    (one) => rule.people.includes(one.name) && !preparers.includes(one),
  );
  const { from, required } = rule;
  return { kind: 'people', from, required, people, preparers };
}

/** @throws PoolError `invalid_policy` for a threshold with more decimals than the token */
function findRule(
  { rules }: ReleasePolicy,
  { chain, token, decimals, amount }: PreparedBatch,
): ReleaseRule | undefined {
  return rules
    .map((rule, index) => ({ rule, index }))
    .filter(({ rule }) => rule.chain === chain && rule.token === token)
    .map(({ rule, index }) => ({ rule, least: readThreshold(rule, index, decimals) }))
    .filter(({ least }) => least <= amount)
    .toSorted((left, right) => (left.least < right.least ? 1 : -1))[0]?.rule;
}

function readThreshold({ from, token }: ReleaseRule, index: number, decimals: number): bigint {
  try {
    return /^0(?:\.0+)?$/.test(from) ? 0n : parseTokenUnits(from, decimals);
  } catch (cause) {
    throw new PoolError(
      'invalid_policy',
      `the release policy: rules[${index}].from is not an amount of ${token}, which has ${decimals} decimals`,
      { cause },
    );
  }
}

/** @throws PoolError `invalid_policy` that names the rule whose chain or token the settings lack, or whose threshold is not an amount of it */
export function assertFitsChains(
  { rules }: ReleasePolicy,
  chains: Readonly<
    Record<string, { readonly tokens: Readonly<Record<string, { readonly decimals: number }>> }>
  >,
): void {
  for (const [index, rule] of rules.entries()) {
    const token = chains[rule.chain]?.tokens[rule.token];
    if (token === undefined) {
      throw new PoolError(
        'invalid_policy',
        `the release policy: rules[${index}]: the chain settings have no token ${rule.token} on ${rule.chain}`,
      );
    }
    readThreshold(rule, index, token.decimals);
  }
}
