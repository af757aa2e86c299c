import { fieldModulus } from '@pool/core';
import fc from 'fast-check';
import { poseidon2 } from 'poseidon-lite';
import { describe, expect, it } from 'vitest';
import { computeSchedule, interpretSchedule } from './schedule.ts';

const schedule = computeSchedule();
const element = fc.oneof(
  fc.constantFrom(0n, 1n, fieldModulus - 1n),
  fc.bigInt({ min: 0n, max: fieldModulus - 1n }),
);

describe('the cheap Poseidon schedule', () => {
  it('equals poseidon-lite on any two field elements', () => {
    fc.assert(
      fc.property(element, element, (left, right) => {
        expect(interpretSchedule(schedule, left, right)).toBe(poseidon2([left, right]));
      }),
      { numRuns: 200 },
    );
  });

  it('needs four multiplications by constants in a partial round', () => {
    expect(schedule.partial).toHaveLength(56);
    for (const round of schedule.partial) {
      for (const value of Object.values(round) as bigint[]) {
        expect(value > 1n && value < fieldModulus).toBe(true);
      }
    }
  });
});
