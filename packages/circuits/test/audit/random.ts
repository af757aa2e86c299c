/** Pseudorandom numbers that a seed repeats (SplitMix64). For choosing attacks only. */
import { R } from '../fund-batch.ts';

export type Random = {
  /** An integer in 0..limit-1. */
  readonly below: (limit: number) => number;
  readonly fieldElement: () => bigint;
  readonly pick: <T>(items: readonly T[]) => T | undefined;
  readonly shuffle: <T>(items: readonly T[]) => T[];
};

const mask = (1n << 64n) - 1n;

export function createRandom(seed: number): Random {
  let state = BigInt(seed) & mask;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let mixed = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & mask;
    return mixed ^ (mixed >> 31n);
  };
  const below = (limit: number): number => Number(next() % BigInt(limit));
  return {
    below,
    fieldElement: () => ((next() << 192n) | (next() << 128n) | (next() << 64n) | next()) % R,
    pick: (items) => items[below(Math.max(1, items.length))],
    shuffle: (items) => {
      const shuffled = [...items];
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = below(index + 1);
        const [left, right] = [shuffled[index], shuffled[other]];
        if (left !== undefined && right !== undefined) {
          shuffled[index] = right;
          shuffled[other] = left;
        }
      }
      return shuffled;
    },
  };
}
