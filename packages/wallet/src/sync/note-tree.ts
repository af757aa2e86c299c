/**
 * The note trees of a pool over the leaves of its history (protocol §4), with hashes on all cores. The contract begins a new
 * tree when one is full.
 *
 * @module
 */
import { type Field, PoolError, zeroField } from '@pool/core';
import { createLeanImt, type LeanImt, type LeanImtPath, leanImtCapacity } from '@pool/notes';
import type { NoteKernels } from './ports.ts';

export type NoteTree = ReturnType<typeof createNoteTree>;

/** @param capacity - leaves of one tree; smaller in tests only */
export function createNoteTree(
  kernels: Pick<NoteKernels, 'hashPairs'>,
  capacity: number = leanImtCapacity,
) {
  const trees: LeanImt[] = [];

  return {
    /** Number of leaves over all trees. */
    get size(): number {
      return Math.max(0, trees.length - 1) * capacity + (trees.at(-1)?.size ?? 0);
    },
    /** Root of the newest tree; 0 while there is no leaf. */
    get root(): Field {
      return trees.at(-1)?.root ?? zeroField;
    },
    /**
     * Appends leaves. After an error the tree is incomplete: make another one.
     * @throws errors of the kernels
     */
    async append(leaves: readonly Field[]): Promise<void> {
      for (let done = 0; done < leaves.length; ) {
        let tree = trees.at(-1);
        if (tree === undefined || tree.size === capacity) {
          tree = createLeanImt();
          trees.push(tree);
        }
        const room = capacity - tree.size;
        await tree.append(leaves.slice(done, done + room), kernels.hashPairs);
        done += room;
      }
    },
    /**
     * The path of a leaf in its tree, and the root that the path gives.
     * @throws PoolError `unknown_leaf`
     */
    findPath(leafIndex: number): { readonly path: LeanImtPath; readonly root: Field } {
      const tree = trees[Math.floor(leafIndex / capacity)];
      if (tree === undefined) {
        throw new PoolError('unknown_leaf', 'the note tree has no leaf at this position');
      }
      return { path: tree.path(leafIndex % capacity), root: tree.root };
    },
  };
}
