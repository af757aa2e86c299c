import { type EligibilityPathWire, fieldModulus, hexToBigint } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/eligibility-tree.json' with { type: 'json' };
import { computeEligibilityRootFromPath, createEligibilityTree } from './eligibility-tree.ts';

describe('createEligibilityTree', () => {
  it('starts with the empty root', () => {
    expect(createEligibilityTree().root).toBe(hexToBigint(vectors.emptyRoots[10] ?? ''));
  });

  it.each(vectors.rosters)('matches for $leaves.length wallets', ({ leaves, root, paths }) => {
    const tree = createEligibilityTree();
    for (const { index, walletId } of leaves) {
      tree.set(index, hexToBigint(walletId));
    }
    expect(tree.root).toBe(hexToBigint(root));
    expect(tree.size).toBe(leaves.length);
    for (const path of paths) {
      const walletId = hexToBigint(path.walletId);
      expect(tree.path(walletId)).toEqual(path);
      expect(computeEligibilityRootFromPath(walletId, path as EligibilityPathWire)).toBe(tree.root);
    }
  });

  it('fills the lowest empty position and keeps a wallet where it is', () => {
    const tree = createEligibilityTree([11n, 0n, 13n]);
    expect(tree.insert(12n)).toBe(1);
    expect(tree.insert(14n)).toBe(3);
    expect(tree.insert(13n)).toBe(2);
    expect(tree.remove(11n)).toBe(true);
    expect(tree.remove(11n)).toBe(false);
    expect(tree.insert(15n)).toBe(0);
    expect(tree.root).toBe(createEligibilityTree([15n, 12n, 13n, 14n]).root);
  });

  it('forgets a removed and a replaced wallet', () => {
    const tree = createEligibilityTree([1n, 2n]);
    const before = tree.root;
    tree.insert(3n);
    tree.remove(3n);
    expect(tree.root).toBe(before);
    tree.set(0, 9n);
    expect(tree.has(1n)).toBe(false);
    expect(tree.has(9n)).toBe(true);
    expect(tree.indexOf(9n)).toBe(0);
    for (const walletId of [1n, 3n]) {
      expect(() => tree.path(walletId)).toThrow(
        expect.objectContaining({ code: 'unregistered-recipient' }),
      );
    }
    tree.remove(9n);
    tree.remove(2n);
    expect(tree.root).toBe(createEligibilityTree().root);
  });

  it.each([
    ['0 as a wallet', () => createEligibilityTree().insert(0n), 'invalid_wallet_id'],
    ['an alias', () => createEligibilityTree().insert(fieldModulus + 1n), 'invalid_field_element'],
    ['index 4^10', () => createEligibilityTree().set(4 ** 10, 1n), 'invalid_leaf_index'],
    ['index -1', () => createEligibilityTree().set(-1, 1n), 'invalid_leaf_index'],
    ['a fractional index', () => createEligibilityTree().set(0.5, 1n), 'invalid_leaf_index'],
    ['a wallet twice', () => createEligibilityTree([1n, 1n]), 'duplicate_wallet'],
    ['the path of nobody', () => createEligibilityTree().path(0n), 'unregistered-recipient'],
  ])('refuses %s', (_, act, code) => {
    expect(act).toThrow(expect.objectContaining({ code }));
  });
});

describe('computeEligibilityRootFromPath', () => {
  const tree = createEligibilityTree([1n, 2n, 3n, 4n, 5n, 6n]);
  const path = tree.path(5n);

  it('leads elsewhere for another wallet, place or sibling', () => {
    expect(computeEligibilityRootFromPath(5n, path)).toBe(tree.root);
    expect(computeEligibilityRootFromPath(6n, path)).not.toBe(tree.root);
    expect(computeEligibilityRootFromPath(5n, { ...path, index: 5 })).not.toBe(tree.root);
    for (let level = 0; level < 10; level += 1) {
      const changed = structuredClone(path);
      changed.siblings[level] = [
        `0x${'0'.repeat(62)}77`,
        ...(path.siblings[level]?.slice(1) ?? []),
      ] as never;
      expect(computeEligibilityRootFromPath(5n, changed)).not.toBe(tree.root);
    }
  });

  it.each([
    ['nine levels', { siblings: path.siblings.slice(1) }, 'invalid_path'],
    ['an index of 4^10', { index: 4 ** 10 + 4 }, 'invalid_path'],
    ['a negative index', { index: -1 }, 'invalid_path'],
  ])('refuses %s', (_, change, code) => {
    expect(() => computeEligibilityRootFromPath(5n, { ...path, ...change })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('refuses an aliased sibling', () => {
    const changed = structuredClone(path);
    const alias = `0x${fieldModulus.toString(16).padStart(64, '0')}` as const;
    changed.siblings[9] = [alias, alias, alias];
    expect(() => computeEligibilityRootFromPath(5n, changed)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});
