// Whose word about a batch counts.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeBatch, makePolicy, nowMs, people, releasePolicy } from '../fixtures/batches.ts';
import {
  computeReleaseText,
  countReleases,
  parseReleaseText,
  type Release,
  signRelease,
  verifyRelease,
} from './release.ts';

const policy = makePolicy({ humanRelease: releasePolicy });
const batch = makeBatch();
const content = {
  manifestDigest: batch.manifestDigest,
  total: '500',
  token: batch.token,
  decision: 'release',
  issuedAt: new Date(nowMs).toISOString(),
} as const;
const stranger = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'33'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});

function signAs(index: number, changes: Partial<Release> = {}): Release {
  const key = people[index];
  if (key === undefined) {
    throw new TypeError('the fixtures have two people');
  }
  return signRelease({ ...content, ...changes }, key);
}

describe('a release', () => {
  it('of a listed person is valid, and names the person', () => {
    expect(verifyRelease(signAs(1), policy, nowMs)).toMatchObject({
      kind: 'valid',
      person: { name: 'Person 2' },
    });
  });

  it('is canonical JSON with a purpose of its own', () => {
    expect(computeReleaseText(content)).toBe(
      `{"decision":"release","issuedAt":"2026-11-23T09:00:00.000Z","manifestDigest":"${batch.manifestDigest}",` +
        `"purpose":"pool/v1/release","token":"${batch.token}","total":"500"}\n`,
    );
  });

  it('is read back from its own text only', () => {
    const text = computeReleaseText(content);
    expect(parseReleaseText(text)).toEqual(content);
    for (const other of [
      '',
      'null',
      text.trimEnd(),
      ` ${text}`,
      text.replace(':"500"', ': "500"'),
      text.replace('pool/v1/release', 'pool/v2/release'),
      text.replace('{', '{"extra":1,'),
      text.replace('{"decision"', '{"decision":"deny","decision"'),
    ]) {
      expect(parseReleaseText(other), other).toBeUndefined();
    }
  });

  it.each([
    ['another total', { total: '501' }],
    ['another batch', { manifestDigest: batch.fundDigest }],
    ['another decision', { decision: 'deny' }],
    ['another time', { issuedAt: new Date(nowMs - 1).toISOString() }],
    ['another key', { publicKey: signAs(1).publicKey }],
    ['no signature', { signature: `0x${'00'.repeat(64)}` }],
  ] as const)('is refused when it was signed for %s', (_title, change) => {
    expect(verifyRelease({ ...signAs(0), ...change }, policy, nowMs).kind).toBe('refused');
  });

  it('is refused from a key that is not listed, and when it is dated ahead', () => {
    const foreign = signRelease(content, stranger);
    expect(foreign.publicKey).toBe(
      `0x${Buffer.from(createPublicKey(stranger).export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')}`,
    );
    expect(verifyRelease(foreign, policy, nowMs).kind).toBe('refused');
    expect(verifyRelease(signAs(0), makePolicy(), nowMs).kind).toBe('refused');
    expect(verifyRelease(signAs(0), policy, nowMs - 300_000).kind).toBe('valid');
    expect(verifyRelease(signAs(0), policy, nowMs - 300_001).kind).toBe('refused');
  });
});

describe('the count of releases', () => {
  it('counts different keys of valid releases of this batch', () => {
    const count = (releases: readonly Release[]) => countReleases(releases, batch, policy, nowMs);
    expect(count([signAs(0), signAs(0), signAs(1)])).toEqual({
      releasedBy: releasePolicy.people,
      denial: undefined,
    });
    const forged = { ...signAs(1), signature: signAs(0).signature };
    const others = [
      signAs(1, { total: '501' }),
      signAs(1, { manifestDigest: batch.fundDigest }),
      forged,
    ];
    expect(count([signAs(0), ...others])).toEqual({
      releasedBy: releasePolicy.people.slice(0, 1),
      denial: undefined,
    });
    expect(count([signAs(0), signAs(1, { decision: 'deny' })])).toEqual({
      releasedBy: releasePolicy.people.slice(0, 1),
      denial: {
        by: 'Person 2',
        publicKey: releasePolicy.people[1]?.publicKey,
        issuedAt: content.issuedAt,
        manifestDigest: batch.manifestDigest,
      },
    });
  });
});
