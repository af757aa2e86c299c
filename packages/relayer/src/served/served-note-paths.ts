/**
 * Paths of notes in the note tree (protocol §4), for holders that cannot read all batches. Whoever asks shows the platform which
 * notes are about to be spent, so this is off unless the operator switches it on (docs/decisions/0005).
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import type { NotePathsRequest, NotePathsResponse } from '@pool/api';
import { fieldToHex, PoolError, parseField } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { computeNotePath, createLeanImt, type LeanImt } from '@pool/notes';
import { assertIndexRight, parseWords } from './served-batches.ts';

/** Leaves inserted in one turn of the event loop: about 20 ms of hashing. */
const leavesAtOnce = 200;

/** The trees stay in memory. They grow with the index, and are made again if they do not fit it. */
export function createNotePaths(db: PlatformDatabase) {
  const trees = new Map<string, Promise<LeanImt>>();

  /** One caller at a time extends a tree. */
  async function openTree(chain: string): Promise<LeanImt> {
    const earlier = trees.get(chain) ?? Promise.resolve(createLeanImt());
    const next = earlier.then((tree) => extend(db, chain, tree));
    trees.set(chain, next);
    next.catch(() => trees.delete(chain));
    return await next;
  }

  return {
    /** @throws PoolError `unknown_leaf` (404), `notes_unavailable` (503) */
    async find({ chain, notes }: NotePathsRequest): Promise<NotePathsResponse> {
      await assertIndexRight(db, chain);
      const tree = await openTree(chain);
      const rows = await db
        .selectFrom('batches')
        .select(['leaf_index', 'commitments'])
        .where('chain', '=', chain)
        .where(
          'leaf_index',
          'in',
          notes.map(({ batchIndex }) => batchIndex),
        )
        .execute();
      const contents = new Map(rows.map((row) => [row.leaf_index, row.commitments]));
      // From here on in one turn: the tree may grow in the next one.
      return {
        noteRoot: fieldToHex(tree.root),
        paths: notes.map(({ batchIndex, slot }) => {
          const stored = contents.get(batchIndex);
          const commitments = stored === undefined ? [] : parseWords(stored);
          const commitment = commitments[slot];
          if (commitment === undefined || batchIndex >= tree.size) {
            throw new PoolError('unknown_leaf', 'the note tree has no note at this place');
          }
          const { index, siblings } = computeNotePath(
            commitments.map((word) => parseField(word)),
            slot,
            tree.path(batchIndex),
          );
          return { batchIndex, slot, commitment, index, siblings: siblings.map(fieldToHex) };
        }),
      };
    },
  };
}

async function extend(db: PlatformDatabase, chain: string, tree: LeanImt): Promise<LeanImt> {
  for (;;) {
    const rows = await db
      .selectFrom('batches')
      .select(['batch_root', 'new_root'])
      .where('chain', '=', chain)
      .where('leaf_index', '>=', tree.size)
      .orderBy('leaf_index')
      .limit(leavesAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) {
      return tree;
    }
    tree.insertMany(rows.map((row) => parseField(row.batch_root)));
    if (last.new_root !== null && fieldToHex(tree.root) !== last.new_root) {
      throw new PoolError(
        'notes_unavailable',
        'notes of this chain are not served: the index disagrees with itself; tell the operator',
      );
    }
    await setImmediate();
  }
}
