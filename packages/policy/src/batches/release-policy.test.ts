// The release policy of an agent: who may prepare, who releases, from which amount on. What it does not list is refused.
import { describe, expect, it } from 'vitest';
import { peopleKeys } from '../fixtures/batches.ts';
import {
  assertFitsChains,
  findReleaseNeed,
  type PreparedBatch,
  parseReleasePolicy,
} from './release-policy.ts';

const [ben, cy] = peopleKeys;
const policyJson = {
  version: 1,
  name: 'payroll',
  waitHours: 72,
  people: [
    { name: 'Ada', prepares: ['loopback'] },
    { name: 'Ben', publicKey: ben, prepares: ['api-key:7'] },
    { name: 'Cy', publicKey: cy },
  ],
  rules: [
    { chain: 'base', token: 'USDC', from: '0', required: 0, people: [] },
    { chain: 'base', token: 'USDC', from: '1000.50', required: 1, people: ['Ben', 'Cy'] },
  ],
};

function parse(changes: object = {}) {
  return parseReleasePolicy(JSON.stringify({ ...policyJson, ...changes }));
}

const batch: PreparedBatch = {
  ...{ chain: 'base', token: 'USDC', decimals: 6 },
  ...{ preparedBy: 'loopback', amount: 1_000_500_000n },
};
const rule = policyJson.rules[1];

describe('a release policy', () => {
  it('gives the people of the highest rule that the amount reaches', () => {
    const need = findReleaseNeed(parse(), batch);
    expect(need).toMatchObject({ kind: 'people', required: 1 });
    expect(need.kind === 'people' && need.people.map(({ name }) => name)).toEqual(['Ben', 'Cy']);
    const below = findReleaseNeed(parse(), { ...batch, amount: batch.amount - 1n });
    expect(below).toMatchObject({ kind: 'people', required: 0 });
  });

  it('does not let the preparer release', () => {
    const need = findReleaseNeed(parse(), { ...batch, preparedBy: 'api-key:7' });
    expect(need.kind === 'people' && need.people.map(({ name }) => name)).toEqual(['Cy']);
  });

  it.each<[string, Partial<PreparedBatch>, RegExp]>([
    ['another token', { token: 'EURC' }, /no rule for this amount of EURC on base/],
    ['another chain', { chain: 'anvil' }, /no rule for this amount of USDC on anvil/],
    ['a credential of nobody', { preparedBy: 'api-key:8' }, /lets nobody prepare/],
  ])('refuses %s', (_, changes, message) => {
    const need = findReleaseNeed(parse(), { ...batch, ...changes });
    expect(need.kind === 'refused' && need.message).toMatch(message);
  });

  it('refuses an amount below the lowest rule', () => {
    expect(findReleaseNeed(parse({ rules: [rule] }), { ...batch, amount: 1n }).kind).toBe(
      'refused',
    );
  });

  it.each<[string, object, RegExp]>([
    ['an unknown field', { extra: 1 }, /extra/],
    ['no waitHours', { waitHours: undefined }, /waitHours/],
    ['a name twice', { people: [...policyJson.people, { name: 'Ada' }] }, /people\[3\]\.name/],
    [
      'a key twice',
      { people: [...policyJson.people, { name: 'Di', publicKey: cy }] },
      /people\[3\]\.publicKey/,
    ],
    ['a rule twice', { rules: [rule, { ...rule, from: '1000.5' }] }, /rules\[1\] has chain/],
    [
      'a stranger',
      { rules: [{ ...rule, people: ['Bob'] }] },
      /rules\[0\]\.people\[0\]: "Bob" is not/,
    ],
    ['a person without a key', { rules: [{ ...rule, people: ['Ada'] }] }, /"Ada" has no publicKey/],
    [
      'a rule that the preparer alone could fulfil',
      { rules: [{ ...rule, required: 2 }] },
      /rules\[0\]\.people: 1 of them may release what api-key:7/,
    ],
    ['a malformed amount', { rules: [{ ...rule, from: '1,5' }] }, /rules\[0\]\.from/],
  ])('that has %s is refused by its place', (_, changes, message) => {
    expect(() => parse(changes)).toThrow(
      expect.objectContaining({ code: 'invalid_policy', message: expect.stringMatching(message) }),
    );
  });

  it('is refused where the chain settings lack its token or its decimals', () => {
    const chains = { base: { tokens: { USDC: { decimals: 6 } } } };
    expect(() => assertFitsChains(parse(), chains)).not.toThrow();
    expect(() => assertFitsChains(parse(), { base: { tokens: {} } })).toThrow(
      /rules\[0\]: the chain/,
    );
    const coarse = { base: { tokens: { USDC: { decimals: 0 } } } };
    expect(() => assertFitsChains(parse(), coarse)).toThrow(/rules\[1\]\.from is not an amount/);
  });
});
