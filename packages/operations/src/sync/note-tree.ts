/**
 * The note trees of a pool over the leaves of its history (protocol §4), with hashes on all cores. The same LeanIMT as
 * `createLeanImt` of @pool/notes; the contract begins a new tree when one is full.
 *
 * @module
 */
import { type Field, PoolError, zeroField } from '@pool/core';
import { type LeanImtPath, leanImtCapacity } from '@pool/notes';
import type { NoteKernels } from './ports.ts';

export type NoteTree = {
  /** Number of leaves over all trees. */
  readonly size: number;
  /** Root of the newest tree; 0 while there is no leaf. */
  readonly root: Field;
  /**
   * Appends leaves. After an error the tree is incomplete: make another one.
   * @throws errors of the kernels
   */
  append(leaves: readonly Field[]): Promise<void>;
  /**
   * The path of a leaf in its tree, and the root that the path gives.
   * @throws PoolError `unknown_leaf`
   */
  findPath(leafIndex: number): { readonly path: LeanImtPath; readonly root: Field };
};

/** Levels from the leaves to the root. */
type Levels = Field[][];

/** @param capacity - leaves of one tree; smaller in tests only */
export function createNoteTree(
  kernels: Pick<NoteKernels, 'hashPairs'>,
  capacity: number = leanImtCapacity,
): NoteTree {
  const trees: Levels[] = [];

  async function appendToTree(levels: Levels, leaves: readonly Field[]): Promise<void> {
    const [bottom] = levels;
    let first = bottom?.length ?? 0;
    for (const leaf of leaves) {
      bottom?.push(leaf);
    }
    for (let depth = 0; (levels[depth]?.length ?? 0) > 1; depth += 1) {
      const children = levels[depth] ?? [];
      const parents = levels[depth + 1] ?? [];
      levels[depth + 1] = parents;
      first >>= 1;
      const pairs: (readonly [Field, Field])[] = [];
      for (let place = first; 2 * place + 1 < children.length; place += 1) {
        pairs.push([children[2 * place] ?? zeroField, children[2 * place + 1] ?? zeroField]);
      }
      const hashes = await kernels.hashPairs(pairs);
      hashes.forEach((hash, offset) => {
        parents[first + offset] = hash;
      });
      // A node with one child equals that child.
      const last = children.length % 2 === 1 ? children.at(-1) : undefined;
      if (last !== undefined) {
        parents[children.length >> 1] = last;
      }
    }
  }

  return {
    get size() {
      return Math.max(0, trees.length - 1) * capacity + (trees.at(-1)?.[0]?.length ?? 0);
    },
    get root() {
      return rootOf(trees.at(-1));
    },
    async append(leaves) {
      for (let done = 0; done < leaves.length; ) {
        let tree = trees.at(-1);
        if (tree === undefined || tree[0]?.length === capacity) {
          tree = [[]];
          trees.push(tree);
        }
        const room = capacity - (tree[0]?.length ?? 0);
        await appendToTree(tree, leaves.slice(done, done + room));
        done += room;
      }
    },
    findPath(leafIndex) {
      const levels = trees[Math.floor(leafIndex / capacity)];
      const position = leafIndex % capacity;
      const leaf = levels?.[0]?.[position];
      if (levels === undefined || leaf === undefined) {
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
      return { path: { leaf, index, siblings }, root: rootOf(levels) };
    },
  };
}

function rootOf(levels: Levels | undefined): Field {
  return levels?.at(-1)?.[0] ?? zeroField;
}
