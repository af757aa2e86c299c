/**
 * The frontier of a note tree (protocol §4): the inner nodes that later leaves are hashed with, and the root. It takes the place of the
 * whole tree where leaves are only added and roots compared. A tree of 2^24 leaves has at most 24 such nodes.
 *
 * @module
 */
import { assertField, type Field, fieldToHex, PoolError, parseField, zeroField } from '@pool/core';
import type { HashMany } from '../hash/tree-hasher.ts';
import { leanImtCapacity } from './lean-imt.ts';

export type LeanImtFrontier = {
  /** Number of leaves. */
  readonly size: number;
  /** 0 while the tree is empty. */
  readonly root: Field;
  /** By level: the root of the full subtree of 2^level leaves at the right end, where the size has that bit. */
  readonly nodes: readonly (Field | undefined)[];
};

export const emptyFrontier: LeanImtFrontier = { size: 0, root: zeroField, nodes: [] };

export type Appended = {
  readonly frontier: LeanImtFrontier;
  /** The root after each of the leaves. */
  readonly roots: readonly Field[];
};

/**
 * Appends leaves, level by level: the hashes of one level do not depend on each other.
 * @throws PoolError `invalid_field_element`, `tree_full` after 2^24 leaves; errors of `hashMany`
 */
export async function appendLeaves(
  { size: first, root, nodes }: LeanImtFrontier,
  leaves: readonly Field[],
  hashMany: HashMany,
): Promise<Appended> {
  const size = first + leaves.length;
  if (size > leanImtCapacity) {
    throw new PoolError('tree_full', 'the note tree is full: it has 2^24 leaves');
  }
  // Of each leaf: the node above it of the current level, in the tree whose last leaf it is.
  const above = leaves.map(assertField);
  const next: (Field | undefined)[] = [];
  for (let level = 0; size >> level > 0; level += 1) {
    /** The last node of the full subtrees of this level that end before a leaf. */
    const fullBefore = (leaf: number): Field | undefined => {
      const last = ((leaf >> level) << level) - 1;
      return last >= first ? above[last - first] : nodes[level];
    };
    const isRight = (leaf: number): boolean => ((leaf >> level) & 1) === 1;
    next.push(isRight(size) ? fullBefore(size) : undefined);
    const places = above.map((_, place) => place).filter((place) => isRight(first + place));
    const rows = places.map((place) => [
      fullBefore(first + place) ?? zeroField,
      above[place] ?? zeroField,
    ]);
    const hashes = await hashMany(rows);
    places.forEach((place, row) => {
      above[place] = hashes[row] ?? zeroField;
    });
  }
  return { frontier: { size, root: above.at(-1) ?? root, nodes: next }, roots: above };
}

export function serializeFrontier({ size, root, nodes }: LeanImtFrontier): string {
  const words = nodes.map((node) => (node === undefined ? null : fieldToHex(node)));
  return JSON.stringify({ size, root: fieldToHex(root), nodes: words });
}

/** @param text - of {@link serializeFrontier}. @throws PoolError `invalid_field_element`, `invalid_value` */
export function deserializeFrontier(text: string): LeanImtFrontier {
  const { size, root, nodes } = JSON.parse(text) as {
    size: number;
    root: string;
    nodes: (string | null)[];
  };
  return {
    size,
    root: parseField(root),
    nodes: nodes.map((word) => (word === null ? undefined : parseField(word))),
  };
}
