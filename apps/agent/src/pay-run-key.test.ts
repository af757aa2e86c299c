// The key of a roster (docs/decisions/0009).
import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey } from './idempotency-key.ts';
import { computePartKey, computePayRunDigest, type PayRun, parsePayRun } from './pay-run-key.ts';

const entries = [
  { recipientAddress: '0x8EF31ED37e5320931Bf85677De447824a66c9991', amount: '1' },
  { recipientAddress: '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0', amount: '2', memo: 'm' },
];
const base = { chain: 'anvil', token: 'USDC', payRun: '2026-11', entries };

/** Of a roster that is paid in one call. */
const computeWholeKey = (run: PayRun): string =>
  computePartKey({
    payRun: run.payRun,
    digest: computePayRunDigest(run),
    part: 1,
    count: 1,
    attempt: 1,
  });

describe('the key of a roster that is paid whole', () => {
  it('is the same whatever the order of lines', () => {
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

describe('parsePayRun', () => {
  it.each(['', ' ', '../x', '-x', 'x'.repeat(65), 'a b'])('refuses %j', (label) => {
    expect(() => parsePayRun(label)).toThrow('--pay-run');
  });
});
