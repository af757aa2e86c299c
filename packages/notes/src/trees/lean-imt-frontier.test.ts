/** The frontier has the roots of @zk-kit/lean-imt (vectors/note-tree.json), however the leaves arrive. */
import { assertField, fieldModulus, parseField } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/note-tree.json' with { type: 'json' };
import { createTreeHasher, hashHere } from '../hash/tree-hasher.ts';
import { createLeanImt } from './lean-imt.ts';
import {
  appendLeaves,
  deserializeFrontier,
  emptyFrontier,
  serializeFrontier,
} from './lean-imt-frontier.ts';

const leaves = vectors.insertions.map(({ leaf }) => parseField(leaf));
const roots = vectors.insertions.map(({ root }) => parseField(root));

describe('appendLeaves', () => {
  it.each([1, 2, 3, 5, 7, 16, 64])('has the root after each leaf, %i at once', async (atOnce) => {
    let frontier = emptyFrontier;
    for (let first = 0; first < leaves.length; first += atOnce) {
      const appended = await appendLeaves(frontier, leaves.slice(first, first + atOnce), hashHere);
      expect(appended.roots).toEqual(roots.slice(first, first + atOnce));
      expect(appended.frontier.root).toBe(appended.roots.at(-1));
      // What a database keeps is enough.
      frontier = deserializeFrontier(serializeFrontier(appended.frontier));
      expect(frontier).toEqual(appended.frontier);
    }
    expect(frontier.size).toBe(leaves.length);
  });

  it('keeps root and size when nothing is appended', async () => {
    expect((await appendLeaves(emptyFrontier, [], hashHere)).frontier).toEqual(emptyFrontier);
    const { frontier } = await appendLeaves(emptyFrontier, leaves.slice(0, 5), hashHere);
    expect((await appendLeaves(frontier, [], hashHere)).frontier).toEqual(frontier);
  });

  it('agrees with the whole tree over a thousand leaves hashed in the thread', async () => {
    const many = Array.from({ length: 1_000 }, (_, place) => assertField(BigInt(place) ** 9n + 1n));
    const hasher = createTreeHasher();
    try {
      const { frontier } = await appendLeaves(emptyFrontier, many.slice(0, 333), hasher.hashMany);
      const end = await appendLeaves(frontier, many.slice(333), hasher.hashMany);
      expect(end.frontier.root).toBe(createLeanImt(many).root);
    } finally {
      await hasher.close();
    }
  });

  it('refuses an aliased leaf, and more leaves than the tree has', async () => {
    await expect(
      Reflect.apply(appendLeaves, undefined, [emptyFrontier, [fieldModulus], hashHere]),
    ).rejects.toMatchObject({ code: 'invalid_field_element' });
    await expect(
      appendLeaves({ ...emptyFrontier, size: 2 ** 24 }, leaves.slice(0, 1), hashHere),
    ).rejects.toMatchObject({ code: 'tree_full' });
  });
});
