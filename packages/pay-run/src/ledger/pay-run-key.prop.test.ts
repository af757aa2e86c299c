// The cut of a roster and its keys (docs/decisions/0008), for any roster.

import { parseIdempotencyKey } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRoster, type RosterEntry } from '../roster/roster-csv.ts';
import { computePartKey, computePayRunDigest, cutRoster } from './pay-run-key.ts';

const base = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);

/** Lines of a file: lower-case addresses, as people paste them. */
const roster = fc.uniqueArray(
  fc.record({
    address,
    amount: fc.bigInt({ min: 1n, max: 2n ** 64n }),
    memo: fc.constantFrom('', 'm'),
  }),
  { minLength: 1, maxLength: 40, selector: (line) => line.address },
);
type Line = { readonly address: string; readonly amount: bigint; readonly memo: string };

const cutOf = fc
  .tuple(roster, fc.nat())
  .map(([lines, pick]) => ({ lines, count: 1 + (pick % lines.length) }));

function read(lines: readonly Line[]): readonly RosterEntry[] {
  const text = lines.map((line) => `${line.address},${line.amount},${line.memo}`).join('\n');
  const read = parseRoster(`address,amount,memo\n${text}\n`);
  return read.kind === 'roster' ? read.entries : [];
}

/** Each recipient with its amount, in any order of lines. */
function stripLines(parts: readonly (readonly RosterEntry[])[]): object {
  return parts.map((part) => part.map(({ line: _line, ...payment }) => payment));
}

function keysOf(entries: readonly RosterEntry[], count: number): readonly string[] {
  const digest = computePayRunDigest({ ...base, entries });
  return Array.from({ length: count }, (_, index) =>
    computePartKey({ payRun: base.payRun, digest, part: index + 1, count, attempt: 1 }),
  );
}

describe('cutRoster', () => {
  it('puts everybody into exactly one part, and no part is larger than another by more than one', () => {
    fc.assert(
      fc.property(cutOf, ({ lines, count }) => {
        const entries = read(lines);
        const parts = cutRoster(entries, count);
        expect(parts).toHaveLength(count);
        expect(new Set(parts.flat())).toEqual(new Set(entries));
        expect(parts.flat()).toHaveLength(entries.length);
        const sizes = parts.map((part) => part.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
      }),
    );
  });

  it('stays below the ceiling that the number of parts was chosen for', () => {
    fc.assert(
      fc.property(roster, fc.integer({ min: 1, max: 50 }), (lines, ceiling) => {
        const parts = cutRoster(read(lines), Math.ceil(lines.length / ceiling));
        expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(ceiling);
      }),
    );
  });

  it('gives the same parts and keys for every order of lines and spelling of addresses', () => {
    const shuffled = cutOf.chain(({ lines, count }) =>
      fc
        .shuffledSubarray(lines, { minLength: lines.length })
        .map((others) => ({ lines, others, count })),
    );
    fc.assert(
      fc.property(shuffled, fc.boolean(), ({ lines, others, count }, isUpper) => {
        const entries = read(lines);
        const respelled = read(
          others.map((line) => ({
            ...line,
            address: isUpper
              ? (entries.find((entry) => entry.recipientAddress.toLowerCase() === line.address)
                  ?.recipientAddress ?? '')
              : line.address,
          })),
        );
        expect(stripLines(cutRoster(respelled, count))).toEqual(
          stripLines(cutRoster(entries, count)),
        );
        expect(keysOf(respelled, count)).toEqual(keysOf(entries, count));
      }),
    );
  });
});

describe('computePartKey', () => {
  it('changes in every part when anything in the roster changes', () => {
    fc.assert(
      fc.property(cutOf, fc.nat(), ({ lines, count }, pick) => {
        const index = pick % lines.length;
        const changed = lines.map((line, at) =>
          at === index ? { ...line, amount: line.amount + 1n } : line,
        );
        const keys = new Set([...keysOf(read(lines), count), ...keysOf(read(changed), count)]);
        expect(keys.size).toBe(2 * count);
      }),
    );
  });

  it('differs by part, number of parts and attempt, and is an Idempotency-Key', () => {
    const digest = computePayRunDigest({ ...base, entries: [] });
    const name = { payRun: 'x'.repeat(64), digest, part: 1, count: 999_999, attempt: 1 };
    const keys = [name, { ...name, part: 2 }, { ...name, count: 7 }, { ...name, attempt: 2 }].map(
      computePartKey,
    );
    expect(new Set(keys).size).toBe(4);
    expect(keys.map((key) => parseIdempotencyKey(key))).toEqual(keys);
  });

  it('is label and digest for the first attempt at a single part, and not for a further one', () => {
    const entries = read([{ address: `0x${'ab'.repeat(20)}`, amount: 1n, memo: '' }]);
    const digest = computePayRunDigest({ ...base, entries });
    const name = { payRun: base.payRun, digest, part: 1, count: 1 };
    expect(computePartKey({ ...name, attempt: 1 })).toBe(`2026-11-${digest.slice(2, 34)}`);
    expect(computePartKey({ ...name, attempt: 2 })).not.toContain(digest.slice(2, 34));
  });
});
