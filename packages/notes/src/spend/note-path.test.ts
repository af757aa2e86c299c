import { assertField, type Field } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import { computeBatchRoot } from '../fund/batch-root.ts';
import { createLeanImt } from '../trees/lean-imt.ts';
import { computeNotePath, computeNoteRootFromPath } from './note-path.ts';

const invalid = expect.objectContaining({ code: 'invalid_value' });

function fieldsOf(count: number, first = 1): Field[] {
  return Array.from({ length: count }, (_, i) => assertField(BigInt(first + i)));
}

describe('note paths', () => {
  const notes = vectors.spends.flatMap(({ notes, noteRoot, name }) =>
    notes.map((note, i) => ({ ...note, noteRoot, name: `${name}, note ${i}` })),
  );
  it.each(notes)('$name', ({ commitment, path, noteRoot }) => {
    const siblings = path.siblings.map((sibling) => assertField(BigInt(sibling)));
    const root = computeNoteRootFromPath(assertField(BigInt(commitment)), {
      index: path.index,
      siblings,
    });
    expect(root).toBe(BigInt(noteRoot));
  });

  it('lead from every slot of every batch to the root of the note tree', () => {
    const batches = [4, 8, 16, 4, 4].map((size, i) => fieldsOf(size, 100 * i + 1));
    const tree = createLeanImt(batches.map(computeBatchRoot));
    for (const [position, batch] of batches.entries()) {
      for (const [slot, commitment] of batch.entries()) {
        const path = computeNotePath(batch, slot, tree.path(position));
        expect(computeNoteRootFromPath(commitment, path)).toBe(tree.root);
      }
    }
  });

  it('may have 32 levels', () => {
    const batch = fieldsOf(256);
    const long = { leaf: computeBatchRoot(batch), index: 2 ** 24 - 1, siblings: fieldsOf(24) };
    const path = computeNotePath(batch, 255, long);
    expect(path.index).toBe(2 ** 32 - 1);
    expect(path.siblings).toHaveLength(32);
    const beyond = { ...long, siblings: fieldsOf(25) };
    expect(() => computeNotePath(batch, 0, beyond)).toThrow(invalid);
  });

  it.each([
    ['a slot that the batch does not have', 4],
    ['a negative slot', -1],
    ['a fraction', 0.5],
  ])('refuses %s', (_, slot) => {
    const batch = fieldsOf(4);
    const path = createLeanImt([computeBatchRoot(batch)]).path(0);
    expect(() => computeNotePath(batch, slot, path)).toThrow(invalid);
  });

  it('refuses an index with more bits than levels, and a path without levels', () => {
    const leaf = assertField(1n);
    expect(() => computeNoteRootFromPath(leaf, { index: 2, siblings: fieldsOf(1) })).toThrow(
      invalid,
    );
    expect(() => computeNoteRootFromPath(leaf, { index: 0, siblings: [] })).toThrow(invalid);
  });
});
