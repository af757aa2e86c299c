// The late-landing rule as a table (protocol §8): dead only by a final block.
import { bigintToHex32, type Hex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { decideSpend } from './conclude-spend.ts';

const ours = bigintToHex32(1n);
const foreign = bigintToHex32(2n);
const deadline = 1_000;

describe('a spend that may have left', () => {
  const rows: [string, (Hex32 | undefined)[], boolean, number, string][] = [
    ['is settled when a final spend has its outRoot', [ours, ours], false, 500, 'settled'],
    ['is settled whatever the time', [ours, ours], false, 5_000, 'settled'],
    ['is dead when another spend used all inputs', [foreign, foreign], false, 500, 'already-spent'],
    ['is dead when another spend used one input', [undefined, foreign], false, 5, 'already-spent'],
    ['waits while a use is not final', [undefined, undefined], true, 500, 'wait'],
    ['waits while a use is not final, even after the deadline', [undefined], true, 5_000, 'wait'],
    ['waits before the deadline', [undefined, undefined], false, 999, 'wait'],
    ['waits at the deadline, which the contract still accepts', [undefined], false, 1_000, 'wait'],
    ['is dead in the second after the deadline', [undefined], false, 1_001, 'expired'],
  ];
  it.each(rows)('%s', (_, outRoots, pending, timestampSeconds, kind) => {
    const nullifiers = { outRoots, pending, finalBlock: { number: 1, timestampSeconds } };
    expect(decideSpend({ outRoot: ours, deadline, nullifiers })).toEqual({ kind });
  });
});
