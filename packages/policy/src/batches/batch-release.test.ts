// Whose word about a prepared batch counts, and for which batch.
import { describe, expect, it } from 'vitest';
import { makeBatch, nowMs, people, peopleKeys } from '../fixtures/batches.ts';
import {
  type BatchRelease,
  computeBatchReleaseText,
  countBatchReleases,
  parseBatchReleaseText,
  signBatchRelease,
} from './batch-release.ts';
import { findReleaseNeed, parseReleasePolicy } from './release-policy.ts';

const built = makeBatch();
const batch = {
  ...{ manifestDigest: built.manifestDigest, token: built.token },
  ...{ total: '500', key: 'march-1', count: 2 },
};

function makePolicy(changes: object = {}) {
  return parseReleasePolicy(
    JSON.stringify({
      ...{ version: 1, name: 'payroll', waitHours: 72 },
      people: [
        { name: 'Ada', publicKey: peopleKeys[0] },
        { name: 'Ben', publicKey: peopleKeys[1] },
        { name: 'Clerk', prepares: ['loopback'] },
      ],
      rules: [{ chain: 'base', token: 'USDC', from: '0', required: 2, people: ['Ada', 'Ben'] }],
      ...changes,
    }),
  );
}

const policy = makePolicy();
const prepared = { chain: 'base', token: 'USDC', decimals: 6, preparedBy: 'loopback', amount: 1n };
const content = {
  ...batch,
  decision: 'release',
  issuedAt: new Date(nowMs).toISOString(),
  policy: policy.sha256,
  until: new Date(nowMs + 3_600_000).toISOString(),
} as const;

function signAs(index: number, changes: object = {}): BatchRelease {
  return signBatchRelease({ ...content, ...changes }, people[index]!);
}

function count(words: readonly BatchRelease[], used = policy, atMs = nowMs, of = batch) {
  const need = findReleaseNeed(used, prepared);
  if (need.kind === 'refused') {
    throw new Error(need.message);
  }
  const state = countBatchReleases(words, of, used, need, atMs);
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  return {
    ...state,
    releasedBy: names(state.releasedBy),
    waitsFor: names(state.waitsFor),
  };
}

describe('a batch', () => {
  it('is released by as many different people as its rule requires', () => {
    expect(count([])).toMatchObject({ isReleased: false, missing: 2, waitsFor: ['Ada', 'Ben'] });
    expect(count([signAs(0), signAs(0, { until: new Date(nowMs + 1).toISOString() })])).toEqual({
      ...{ isReleased: false, missing: 1, deniedBy: undefined },
      ...{ releasedBy: ['Ada'], waitsFor: ['Ben'] },
    });
    expect(count([signAs(0), signAs(1)])).toMatchObject({ isReleased: true, missing: 0 });
  });

  it.each<[string, object]>([
    ['another batch', { manifestDigest: built.fundDigest }],
    ['another total', { total: '501' }],
    ['another token', { token: '0x5FbDB2315678afecb367f032d93F642f64180aa3' }],
    ['another key', { key: 'april-1' }],
    ['another number of recipients', { count: 3 }],
    ['another policy', { policy: '00'.repeat(32) }],
    ['a time that has passed', { until: content.issuedAt }],
    ['a time ahead', { issuedAt: new Date(nowMs + 300_001).toISOString() }],
  ])('is not released by a word about %s', (_, changes) => {
    expect(count([signAs(0), signAs(1, changes)]).releasedBy).toEqual(['Ada']);
  });

  it('is not released by a forged word, by a stranger, or by its preparer', () => {
    const forged = { ...signAs(1), signature: signAs(0).signature };
    const changed = { ...signAs(1, { until: content.issuedAt }), until: content.until };
    expect(count([forged, changed]).releasedBy).toEqual([]);
    const [ada, ben] = peopleKeys;
    const oneRule = [
      { chain: 'base', token: 'USDC', from: '0', required: 1, people: ['Ada', 'Ben'] },
    ];
    const maker = makePolicy({
      people: [
        { name: 'Ada', publicKey: ada, prepares: ['loopback'] },
        { name: 'Ben', publicKey: ben },
      ],
      rules: oneRule,
    });
    const own = signAs(0, { policy: maker.sha256 });
    expect(count([own], maker)).toMatchObject({ isReleased: false, waitsFor: ['Ben'] });
    expect(count([own, signAs(1, { policy: maker.sha256 })], maker).isReleased).toBe(true);
  });

  it('needs new words under a changed policy', () => {
    expect(count([signAs(0), signAs(1)], makePolicy({ waitHours: 71 })).releasedBy).toEqual([]);
  });

  it('that a person denied is never released, also when that person has left the policy', () => {
    const words = [signAs(0), signAs(1), signAs(1, { decision: 'deny' })];
    expect(count(words)).toMatchObject({ isReleased: false, deniedBy: 'Ben' });
    const later = makePolicy({
      people: [
        { name: 'Ada', publicKey: peopleKeys[0] },
        { name: 'Clerk', prepares: ['loopback'] },
      ],
      rules: [{ chain: 'base', token: 'USDC', from: '0', required: 0, people: ['Ada'] }],
    });
    expect(count(words, later).isReleased).toBe(false);
    const forged = { ...signAs(1, { decision: 'deny' }), signature: signAs(0).signature };
    expect(count([signAs(0), signAs(1), forged]).isReleased).toBe(true);
  });

  it('has one text, which is read back from itself only', () => {
    const text = computeBatchReleaseText(content);
    expect(text).toContain('"purpose":"pool/v1/batch-release"');
    expect(parseBatchReleaseText(text)).toEqual(content);
    expect(parseBatchReleaseText(text.replace(':"500"', ': "500"'))).toBeUndefined();
    expect(
      parseBatchReleaseText(text.replace('pool/v1/batch-release', 'pool/v1/release')),
    ).toBeUndefined();
  });
});
