// The key of a roster (docs/decisions/0008).

import { parseIdempotencyKey } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { computePartKey, computePayRunDigest, type PayRun } from './pay-run-key.ts';

const entries = [
  { recipientAddress: '0x8EF31ED37e5320931Bf85677De447824a66c9991', amount: '1' },
  { recipientAddress: '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0', amount: '2', memo: 'm' },
];
const base = { chain: 'anvil', token: 'USDC', payRun: '2026-11', entries };

/** Of a roster that is paid in one call. */
function computeWholeKey(run: PayRun): string {
  return computePartKey({
    payRun: run.payRun,
    digest: computePayRunDigest(run),
    part: 1,
    count: 1,
    attempt: 1,
  });
}

describe('the key of a roster that is paid whole', () => {
  it('is the same for any order of lines', () => {
    expect(computeWholeKey({ ...base, entries: [...entries].reverse() })).toBe(
      computeWholeKey(base),
    );
  });

  it('differs in chain, token, label, amount, memo and payees', () => {
    const [one, two] = entries;
    const variants = [
      base,
      { ...base, chain: 'base' },
      { ...base, token: 'USDT' },
      { ...base, payRun: '2026-12' },
      { ...base, entries: [{ ...one!, amount: '3' }, two!] },
      { ...base, entries: [{ ...one!, memo: 'n' }, two!] },
      { ...base, entries: [one!] },
    ];
    expect(new Set(variants.map(computeWholeKey)).size).toBe(variants.length);
  });

  it('is an Idempotency-Key that a person recognises', () => {
    const key = computeWholeKey(base);
    expect(parseIdempotencyKey(key)).toBe(key);
    expect(key.startsWith('2026-11-')).toBe(true);
  });
});

describe('the keys of payments of earlier versions', () => {
  // Computed by the version before docs/decisions/0008. A key that changes pays everybody again.
  it.each([
    [
      '2026-11',
      '2026-11-8fc062b4b4a9dff652493b3190bc41ee',
      '2026-11-2of2-f4c54a71a42403ccd4280f560c4c5913',
    ],
    ['MAY', 'MAY-1581ad98410f0308bad6b059fb5f8f5c', 'MAY-2of2-18b4b55bbf633c1ab6ec2f555feee34c'],
    ['may', 'may-84fa89bbe845965c90dadd5643c5bba5', 'may-2of2-618e18d3afdd24a4dbaeeda783ea978d'],
  ])('are what they were: %s', (payRun, whole, part) => {
    const digest = computePayRunDigest({ ...base, payRun });
    expect(computeWholeKey({ ...base, payRun })).toBe(whole);
    expect(computePartKey({ payRun, digest, part: 2, count: 2, attempt: 3 })).toBe(part);
  });
});

it('has no blank in the key of a label with blanks', () => {
  expect(computeWholeKey({ ...base, payRun: 'salary may' })).toMatch(/^salary-may-[0-9a-f]{32}$/);
});
