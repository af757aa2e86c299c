/**
 * The path of a note to a note root (protocol §4): up the binary tree of its batch, then up the LeanIMT.
 *
 * @module
 */
import { assertField, type Field, PoolError } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import type { LeanImtPath } from '../trees/lean-imt.ts';

/** Levels that a spend circuit can climb: 8 in the largest batch and 24 in the tree of batches. */
export const maxNotePathLevels = 32;

/** A membership path of a commitment. Secret: it tells which note is spent. */
export type NotePath = {
  /** Bit i is set if the node is the right child at sibling i. Below 2^32. */
  readonly index: number;
  /** From the commitment to the root, 1 to 32. */
  readonly siblings: readonly Field[];
};

/**
 * Joins a note's place in its batch and the batch's path in the note tree.
 * @param commitments - of the whole batch in slot order
 * @param slot - of the note
 * @param batchPath - of the batch root
 * @throws PoolError `invalid_value` if the batch has no such slot, or the path is longer than 32 levels
 */
export function computeNotePath(
  commitments: readonly Field[],
  slot: number,
  batchPath: LeanImtPath,
): NotePath {
  if (!Number.isInteger(slot) || slot < 0 || slot >= commitments.length) {
    throw new PoolError('invalid_value', `the batch has ${commitments.length} slots`);
  }
  const siblings: Field[] = [];
  let level = commitments;
  for (let place = slot; level.length > 1; place >>= 1) {
    const sibling = level[place ^ 1];
    if (sibling === undefined) {
      throw new PoolError('invalid_value', 'the number of commitments must be a power of two');
    }
    siblings.push(sibling);
    level = hashPairs(level);
  }
  const index = slot + batchPath.index * commitments.length;
  const path = { index, siblings: [...siblings, ...batchPath.siblings] };
  checkNotePath(path);
  return path;
}

/** The root that a path gives. @throws PoolError `invalid_value`, `invalid_field_element` */
export function computeNoteRootFromPath(commitment: Field, path: NotePath): Field {
  checkNotePath(path);
  return path.siblings.reduce<Field>((node, sibling, level) => {
    const isRight = Math.floor(path.index / 2 ** level) % 2 === 1;
    return poseidon(isRight ? [sibling, node] : [node, sibling]);
  }, assertField(commitment));
}

/** @throws PoolError `invalid_value` unless the circuit can read the path */
function checkNotePath({ index, siblings }: NotePath): void {
  const levels = siblings.length;
  if (levels < 1 || levels > maxNotePathLevels) {
    throw new PoolError('invalid_value', `a note path has 1 to ${maxNotePathLevels} levels`);
  }
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** levels) {
    throw new PoolError('invalid_value', 'the index has more bits than the path has siblings');
  }
}

function hashPairs(level: readonly Field[]): Field[] {
  return Array.from({ length: level.length / 2 }, (_, place) =>
    poseidon(level.slice(2 * place, 2 * place + 2)),
  );
}
