import { fieldModulus, hexToBigint } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/note-tree.json' with { type: 'json' };
import { computeBatchRoot } from './batch-root.ts';
import { createLeanImt, verifyLeanImtPath } from './lean-imt.ts';

const leaves = vectors.insertions.map(({ leaf }) => hexToBigint(leaf));

describe('computeBatchRoot', () => {
  it.each(vectors.batchRoots)('matches for $commitments.length commitments', (vector) => {
    expect(computeBatchRoot(vector.commitments.map(hexToBigint))).toBe(
      hexToBigint(vector.batchRoot),
    );
  });

  it.each([0, 3, 15, 17])('refuses %i commitments', (length) => {
    expect(() => computeBatchRoot(Array.from({ length }, () => 1n))).toThrow(
      expect.objectContaining({ code: 'invalid_batch_size' }),
    );
  });

  it('refuses an aliased commitment, even alone', () => {
    for (const commitments of [[fieldModulus], [1n, fieldModulus]]) {
      expect(() => computeBatchRoot(commitments)).toThrow(
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
      expect(tree.insert(hexToBigint(leaf))).toBe(position);
      expect(tree.root).toBe(hexToBigint(root));
      expect(tree.depth).toBe(depth);
      expect(tree.size).toBe(position + 1);
    });
  });

  it('comes out the same however the leaves arrive', () => {
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
      leaf: hexToBigint(vector.leaf),
      index: vector.index,
      siblings: vector.siblings.map(hexToBigint),
    });
  });

  it('gives paths that verify, at every size, and only as they are', () => {
    for (let size = 1; size <= leaves.length; size += 1) {
      const tree = createLeanImt(leaves.slice(0, size));
      const path = tree.path(size - 1);
      expect(verifyLeanImtPath(tree.root, path)).toBe(true);
      expect(verifyLeanImtPath(tree.root, { ...path, leaf: path.leaf + 1n })).toBe(false);
      expect(verifyLeanImtPath(tree.root + 1n, path)).toBe(false);
      expect(verifyLeanImtPath(tree.root, { ...path, index: 2 ** path.siblings.length })).toBe(
        false,
      );
      path.siblings.forEach((sibling, level) => {
        const siblings = path.siblings.with(level, sibling + 1n);
        expect(verifyLeanImtPath(tree.root, { ...path, siblings })).toBe(false);
        expect(verifyLeanImtPath(tree.root, { ...path, index: path.index ^ (1 << level) })).toBe(
          false,
        );
      });
    }
  });

  it('refuses aliased leaves and unfilled positions', () => {
    const tree = createLeanImt([1n]);
    expect(() => tree.insert(fieldModulus + 1n)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
    expect(tree.size).toBe(1);
    for (const position of [1, -1, 0.5]) {
      expect(() => tree.path(position)).toThrow(expect.objectContaining({ code: 'unknown_leaf' }));
    }
  });
});
