/**
 * Recomputes batchRoot and outRoot (protocol §4) of stored leaves from the commitments of their events. The roots are those of the pool's
 * tree, so a commitment that a node changed is noticed here. Only leaves that a note depends on are hashed: the leaf of a note that
 * its source names and the event does not have, and the leaf of a note that is spent (docs/decisions/0044, §10).
 *
 * @module
 */
import { assertField, bytesToBigint, type Field, isField, type PoolError } from '@pool/core';
import { createIncomplete } from './node-answers.ts';
import type { HistoryPort, NoteKernels, NoteStore, StoredLeaf } from './ports.ts';

export type LeafCheck = {
  /** @throws PoolError `note_history_incomplete` if the commitments of one do not give its root; `chain_unreachable` never */
  assertHonest(leafIndexes: Iterable<number>): Promise<void>;
  /** Block of the first leaf that was found to be changed. Undefined: none was. */
  readonly changedBlock: number | undefined;
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
  let changedBlock: number | undefined;

  function fail({ blockNumber, txHash }: StoredLeaf): PoolError {
    changedBlock = Math.min(blockNumber, changedBlock ?? blockNumber);
    return createIncomplete(
      history,
      `the commitments in the event of transaction ${txHash} do not give the root of its leaf`,
    );
  }

  return {
    get changedBlock() {
      return changedBlock;
    },
    async assertHonest(leafIndexes) {
      const asked = [...new Set(leafIndexes)]
        .filter((index) => !honest.has(index))
        .sort((left, right) => left - right);
      for (let from = 0; from < asked.length; from += leavesPerCheck) {
        const indexes = asked.slice(from, from + leavesPerCheck);
        const leaves = indexes.flatMap((index) => store.readLeaf(index) ?? []);
        const roots = await computeRoots(leaves.map(readCommitments), kernels);
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

/** Undefined: what is there cannot be the commitments of a leaf. */
function readCommitments({ commitments }: StoredLeaf): readonly Field[] | undefined {
  const words = Array.from({ length: commitments.length / 32 }, (_, slot) =>
    bytesToBigint(commitments.subarray(32 * slot, 32 * (slot + 1))),
  );
  return Number.isInteger(Math.log2(words.length)) && words.every(isField)
    ? words.map(assertField)
    : undefined;
}

/** The roots of several trees, level by level over all of them. */
async function computeRoots(
  leaves: readonly (readonly Field[] | undefined)[],
  kernels: Pick<NoteKernels, 'hashPairs'>,
): Promise<readonly (Field | undefined)[]> {
  let levels = leaves;
  while (levels.some((level) => level !== undefined && level.length > 1)) {
    const hashes = await kernels.hashPairs(levels.flatMap((level) => pairUp(level ?? [])));
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
