import { assertField, type Field, fieldModulus, parseField } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/note-tree.json' with { type: 'json' };
import { verifyLeanImtPath } from '../../test/lean-imt-path.ts';
import { computeBatchRoot } from '../fund/batch-root.ts';
import { createLeanImt } from './lean-imt.ts';

const one = assertField(1n);
function next(value: Field) {
  return assertField((value + 1n) % fieldModulus);
}
const leaves = vectors.insertions.map(({ leaf }) => parseField(leaf));

describe('computeBatchRoot', () => {
  it.each(vectors.batchRoots)('matches for $commitments.length commitments', (vector) => {
    expect(computeBatchRoot(vector.commitments.map(parseField))).toBe(parseField(vector.batchRoot));
  });

  it.each([0, 3, 15, 17])('refuses %i commitments', (length) => {
    expect(() => computeBatchRoot(Array.from({ length }, () => one))).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    );
  });

  it('refuses an aliased commitment, also as the only one', () => {
    for (const commitments of [[fieldModulus], [one, fieldModulus]]) {
      expect(() => Reflect.apply(computeBatchRoot, undefined, [commitments])).toThrow(
        expect.objectContaining({ code: 'invalid_field_element' }),
      );
    }
  });
});

describe('createLeanImt', () => {
  it('has the root of @zk-kit/lean-imt after each insertion', () => {
    const tree = createLeanImt();
    expect(tree.root).toBe(0n);
    vectors.insertions.forEach(({ leaf, root, depth }, position) => {
      expect(tree.insert(parseField(leaf))).toBe(position);
      expect(tree.root).toBe(parseField(root));
      expect(tree.depth).toBe(depth);
      expect(tree.size).toBe(position + 1);
    });
  });

  it('has the same root for every way to add the leaves', () => {
    const root = createLeanImt(leaves).root;
    for (const cut of [1, 7, 16, 32]) {
      const tree = createLeanImt(leaves.slice(0, cut));
      expect(tree.insertMany(leaves.slice(cut))).toBe(cut);
      expect(tree.root).toBe(root);
    }
  });

  it.each(vectors.paths)('gives the path of position $position', (vector) => {
    const path = createLeanImt(leaves).path(vector.position);
    expect(path).toEqual({
      leaf: parseField(vector.leaf),
      index: vector.index,
      siblings: vector.siblings.map(parseField),
    });
  });

  it('gives paths that verify at every size, and not after any change', () => {
    for (let size = 1; size <= leaves.length; size += 1) {
      const tree = createLeanImt(leaves.slice(0, size));
      const path = tree.path(size - 1);
      expect(verifyLeanImtPath(tree.root, path)).toBe(true);
      expect(verifyLeanImtPath(tree.root, { ...path, leaf: next(path.leaf) })).toBe(false);
      expect(verifyLeanImtPath(next(tree.root), path)).toBe(false);
      expect(verifyLeanImtPath(tree.root, { ...path, index: 2 ** path.siblings.length })).toBe(
        false,
      );
      path.siblings.forEach((sibling, level) => {
        const siblings = path.siblings.with(level, next(sibling));
        expect(verifyLeanImtPath(tree.root, { ...path, siblings })).toBe(false);
        expect(verifyLeanImtPath(tree.root, { ...path, index: path.index ^ (1 << level) })).toBe(
          false,
        );
      });
    }
  });

  it('refuses aliased leaves and positions without a leaf', () => {
    const tree = createLeanImt([one]);
    expect(() => Reflect.apply(tree.insert, tree, [fieldModulus + 1n])).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
    expect(tree.size).toBe(1);
    for (const position of [1, -1, 0.5]) {
      expect(() => tree.path(position)).toThrow(expect.objectContaining({ code: 'unknown_leaf' }));
    }
  });
});
