/**
 * The batch root (protocol §4): root of a full binary Poseidon tree over a batch's commitments in slot order. It is the leaf that
 * a batch adds to the note tree. Vectors: vectors/note-tree.json.
 *
 * @module
 */
import { assertField, type Field, PoolError, zeroField } from '@pool/core';
import { poseidon } from './poseidon.ts';
import { runToEnd, type Steps } from './steps.ts';

/**
 * @param commitments - one per slot, including dummies; their number is a power of two
 * @throws PoolError `invalid_batch_size`, `invalid_field_element`
 */
export function computeBatchRoot(commitments: readonly Field[]): Field {
  return runToEnd(stepBatchRoot(commitments));
}

/** {@link computeBatchRoot} that pauses after each node. */
export function* stepBatchRoot(commitments: readonly Field[]): Steps<Field> {
  if (!Number.isInteger(Math.log2(commitments.length))) {
    throw new PoolError(
      'invalid_batch_size',
      'the number of commitments in a batch must be a power of two',
    );
  }
  let level: readonly Field[] = commitments.map(assertField);
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
