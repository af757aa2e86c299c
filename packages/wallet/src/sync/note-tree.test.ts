import { assertField, type Field } from '@pool/core';
import { createLeanImt, createNoteScanner, type NoteScanner } from '@pool/notes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLeanImtPath } from '../../../notes/test/lean-imt-path.ts';
import { createNoteTree } from './note-tree.ts';

let kernels: NoteScanner;
beforeAll(async () => {
  kernels = await createNoteScanner({ threads: 1 });
});
afterAll(() => kernels.close());

function numbers(count: number): Field[] {
  return Array.from({ length: count }, (_, index) => assertField(BigInt(index + 1) ** 5n));
}

describe('createNoteTree', () => {
  it.each([1, 2, 3, 5, 8, 13, 31])(
    'has the root and paths of the note tree with %s leaves',
    async (count) => {
      const leaves = numbers(count);
      const expected = createLeanImt(leaves);
      const tree = createNoteTree(kernels);
      // In pieces, as windows of blocks bring them.
      for (let done = 0; done < count; done += 3) {
        await tree.append(leaves.slice(done, done + 3));
      }
      expect([tree.size, tree.root]).toEqual([count, expected.root]);
      for (let position = 0; position < count; position += 1) {
        const { path, root } = tree.findPath(position);
        expect(path).toEqual(expected.path(position));
        expect(verifyLeanImtPath(root, path)).toBe(true);
      }
    },
  );

  it('is empty without leaves', async () => {
    const tree = createNoteTree(kernels);
    await tree.append([]);
    expect([tree.size, tree.root]).toEqual([0, 0n]);
    expect(() => tree.findPath(0)).toThrow(expect.objectContaining({ code: 'unknown_leaf' }));
  });

  it('begins a new tree when one is full, and keeps the paths of the full one', async () => {
    const leaves = numbers(11);
    const tree = createNoteTree(kernels, 4);
    await tree.append(leaves.slice(0, 3));
    await tree.append(leaves.slice(3));
    expect(tree.size).toBe(11);
    expect(tree.root).toBe(createLeanImt(leaves.slice(8)).root);
    expect(tree.findPath(5).root).toBe(createLeanImt(leaves.slice(4, 8)).root);
    expect(tree.findPath(5).path).toEqual(createLeanImt(leaves.slice(4, 8)).path(1));
  });
});
