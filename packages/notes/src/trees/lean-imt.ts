/**
 * The note tree (protocol §4): a lean incremental Merkle tree (LeanIMT, zk-kit, 2024) over batch roots. A node with one child equals that child. There
 * are no zero hashes, and the depth depends on the number of leaves. Vectors: vectors/note-tree.json, from @zk-kit/lean-imt.
 *
 * @module
 */
import { assertField, type Field, PoolError, zeroField } from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import type { HashPairs } from '../hash/tree-hasher.ts';

/** A membership path. Levels where the node has no sibling contribute nothing. */
export type LeanImtPath = {
  readonly leaf: Field;
  /** Bit i is set if the node is the right child at sibling i. This is not the leaf's position. */
  readonly index: number;
  /** From the leaf to the root. */
  readonly siblings: readonly Field[];
};

/** An append-only tree, held in memory. */
export type LeanImt = {
  /** Root over all leaves; 0 while the tree is empty. */
  readonly root: Field;
  /** Number of leaves. */
  readonly size: number;
  readonly depth: number;
  /**
   * Appends a leaf and returns its position.
   * @throws PoolError `invalid_field_element`, `tree_full` after 2^24 leaves
   */
  insert(leaf: Field): number;
  /** Appends many leaves at once, much faster than one at a time. @returns the position of the first */
  insertMany(leaves: readonly Field[]): number;
  /**
   * {@link insertMany} with hashes made elsewhere. After an error the tree is incomplete: make another one.
   * @param hashPairs - H_2 of each pair
   * @throws PoolError `invalid_field_element`, `tree_full`; errors of `hashPairs`
   */
  append(leaves: readonly Field[], hashPairs: HashPairs): Promise<void>;
  /** @throws PoolError `unknown_leaf` for a position without a leaf */
  path(position: number): LeanImtPath;
};

/** Number of leaves of one tree on chain. The contract then starts the next tree. */
export const leanImtCapacity = 2 ** 24;

/** @param leaves - initial leaves in order */
export function createLeanImt(leaves: readonly Field[] = []): LeanImt {
  const levels: Field[][] = [[]];

  const add = (added: readonly Field[]): number => {
    added.forEach(assertField);
    const position = levels[0]?.length ?? 0;
    if (position + added.length > leanImtCapacity) {
      throw new PoolError('tree_full', 'the note tree is full: it has 2^24 leaves');
    }
    for (const leaf of added) {
      levels[0]?.push(leaf);
    }
    return position;
  };
  const insertMany = (added: readonly Field[]): number => {
    const position = add(added);
    const update = updateParents(levels, position);
    for (let step = update.next(); !step.done; ) {
      step = update.next(step.value.map(poseidon));
    }
    return position;
  };
  insertMany(leaves);

  return {
    get root() {
      return levels.at(-1)?.[0] ?? zeroField;
    },
    get size() {
      return levels[0]?.length ?? 0;
    },
    get depth() {
      return levels.length - 1;
    },
    insert: (leaf) => insertMany([leaf]),
    insertMany,
    async append(added, hashPairs) {
      const update = updateParents(levels, add(added));
      for (let step = update.next(); !step.done; ) {
        step = update.next(await hashPairs(step.value));
      }
    },
    path: (position) => computePath(levels, position),
  };
}

/** Recomputes the ancestors of every leaf from `firstChanged` on. Yields the pairs of each level and takes their hashes. */
function* updateParents(
  levels: Field[][],
  firstChanged: number,
): Generator<Parameters<HashPairs>[0], void, readonly Field[]> {
  let first = firstChanged;
  for (let depth = 0; (levels[depth]?.length ?? 0) > 1; depth += 1) {
    const children = levels[depth] ?? [];
    const parents = levels[depth + 1] ?? [];
    levels[depth + 1] = parents;
    first >>= 1;
    const pairs: (readonly [Field, Field])[] = [];
    for (let place = first; 2 * place + 1 < children.length; place += 1) {
      pairs.push([children[2 * place] ?? zeroField, children[2 * place + 1] ?? zeroField]);
    }
    const hashes = yield pairs;
    hashes.forEach((hash, offset) => {
      parents[first + offset] = hash;
    });
    const last = children.length % 2 === 1 ? children.at(-1) : undefined;
    if (last !== undefined) {
      parents[children.length >> 1] = last;
    }
  }
}

function computePath(levels: readonly Field[][], position: number): LeanImtPath {
  const leaf = levels[0]?.[position];
  if (leaf === undefined) {
    throw new PoolError('unknown_leaf', 'the note tree has no leaf at this position');
  }
  const siblings: Field[] = [];
  let index = 0;
  let place = position;
  for (const level of levels.slice(0, -1)) {
    const sibling = level[place ^ 1];
    if (sibling !== undefined) {
      index += (place & 1) * 2 ** siblings.length;
      siblings.push(sibling);
    }
    place >>= 1;
  }
  return { leaf, index, siblings };
}
