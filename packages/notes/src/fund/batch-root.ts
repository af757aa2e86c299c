/**
 * The batch root (protocol §4): root of a full binary Poseidon tree over a batch's commitments in slot order. It is the leaf that
 * a batch adds to the note tree. Vectors: vectors/note-tree.json.
 *
 * @module
 */
import { assertField, type Field, isField, PoolError, zeroField } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import type { HashPairs } from '../hash/tree-hasher.ts';
import { runToEnd, type Steps } from './steps.ts';

/**
 * @param commitments - one per slot, including dummies; their number is a power of two
 * @throws PoolError `invalid_value`, `invalid_field_element`
 */
export function computeBatchRoot(commitments: readonly Field[]): Field {
  return runToEnd(stepBatchRoot(commitments));
}

/** {@link computeBatchRoot} that pauses after each node. */
export function* stepBatchRoot(commitments: readonly Field[]): Steps<Field> {
  assertBatch(commitments);
  let level: readonly Field[] = commitments;
  while (level.length > 1) {
    const parents: Field[] = [];
    for (let i = 0; i < level.length; i += 2) {
      parents.push(poseidon(level.slice(i, i + 2)));
      yield;
    }
    level = parents;
  }
  return level[0] ?? zeroField;
}

/** @throws PoolError `invalid_value`, `invalid_field_element` */
export function assertBatch(commitments: readonly Field[]): void {
  if (!Number.isInteger(Math.log2(commitments.length))) {
    throw new PoolError(
      'invalid_value',
      'the number of commitments in a batch must be a power of two',
    );
  }
  commitments.forEach(assertField);
}

/**
 * {@link computeBatchRoot} of several batches whose contents another party names, level by level over all of them.
 * @param hashPairs - H_2 of each pair
 * @returns in the order of the batches. Undefined: the words cannot be the commitments of a batch
 */
export async function computeBatchRoots(
  batches: readonly (readonly bigint[])[],
  hashPairs: HashPairs,
): Promise<readonly (Field | undefined)[]> {
  let levels = batches.map((words) =>
    Number.isInteger(Math.log2(words.length)) && words.every(isField)
      ? words.map(assertField)
      : undefined,
  );
  while (levels.some((level) => level !== undefined && level.length > 1)) {
    const hashes = await hashPairs(levels.flatMap((level) => pairUp(level ?? [])));
    let taken = 0;
    levels = levels.map((level) => {
      if (level === undefined || level.length < 2) {
        return level;
      }
      taken += level.length / 2;
      return hashes.slice(taken - level.length / 2, taken);
    });
  }
  return levels.map((level) => level?.[0]);
}

function pairUp(level: readonly Field[]): readonly (readonly [Field, Field])[] {
  return level.flatMap((left, place) => {
    const right = level[place + 1];
    return place % 2 === 0 && right !== undefined ? [[left, right] as const] : [];
  });
}
