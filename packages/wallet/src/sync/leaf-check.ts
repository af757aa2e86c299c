/**
 * Recomputes batchRoot and outRoot (protocol §4) of stored leaves from the commitments of their events. The roots are those of the pool's
 * tree, so a commitment that a node changed is noticed here. Only leaves that a note depends on are hashed: the leaf of a note that
 * its source names and the event does not have, and the leaf of a note that is spent (docs/decisions/0012).
 *
 * @module
 */
import { bytesToBigint, type PoolError } from '@pool/core';
import { computeBatchRoots } from '@pool/notes';
import { createIncomplete } from './node-answers.ts';
import type { HistoryPort, NoteKernels, NoteStore, StoredLeaf } from './ports.ts';

export type ChangedLeaf = { readonly blockNumber: number; readonly error: PoolError };

export type LeafCheck = {
  /** @throws PoolError `note_history_incomplete` if the commitments of one do not give its root; `chain_unreachable` never */
  assertHonest(leafIndexes: Iterable<number>): Promise<void>;
  /** The first leaf of the chain that was found to be changed. Undefined: none was. */
  readonly changed: ChangedLeaf | undefined;
};

/** Leaves that are hashed at once. */
const leavesPerCheck = 256;

export function createLeafCheck({
  store,
  kernels,
  history,
}: {
  readonly store: Pick<NoteStore, 'readLeaf'>;
  readonly kernels: Pick<NoteKernels, 'hashPairs'>;
  readonly history: Pick<HistoryPort, 'node'>;
}): LeafCheck {
  /** A leaf stays what it is until the store is opened again. */
  const honest = new Set<number>();
  let earliest: ChangedLeaf | undefined;

  function fail({ blockNumber, txHash }: StoredLeaf): PoolError {
    const error = createIncomplete(
      history,
      `the commitments in the event of transaction ${txHash} do not give the root of its leaf`,
    );
    if (earliest === undefined || blockNumber < earliest.blockNumber) {
      earliest = { blockNumber, error };
    }
    return error;
  }

  return {
    get changed() {
      return earliest;
    },
    async assertHonest(leafIndexes) {
      const asked = [...new Set(leafIndexes)]
        .filter((index) => !honest.has(index))
        .sort((left, right) => left - right);
      for (let from = 0; from < asked.length; from += leavesPerCheck) {
        const indexes = asked.slice(from, from + leavesPerCheck);
        const leaves = indexes.flatMap((index) => store.readLeaf(index) ?? []);
        const roots = await computeBatchRoots(leaves.map(readCommitments), kernels.hashPairs);
        const changed = leaves.find((leaf, place) => leaf.root !== roots[place]);
        if (changed !== undefined) {
          throw fail(changed);
        }
        for (const index of indexes) {
          honest.add(index);
        }
      }
    },
  };
}

function readCommitments({ commitments }: StoredLeaf): readonly bigint[] {
  return Array.from({ length: commitments.length / 32 }, (_, slot) =>
    bytesToBigint(commitments.subarray(32 * slot, 32 * (slot + 1))),
  );
}
