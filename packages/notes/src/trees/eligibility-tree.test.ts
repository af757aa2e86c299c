import {
  assertField,
  bigintToHex32,
  type EligibilityPathWire,
  eligibilityDepth,
  fieldModulus,
  fieldToHex,
  parseField,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/eligibility-tree.json' with { type: 'json' };
import { type HashMany, hashHere } from '../hash/tree-hasher.ts';
import { computeEligibilityRootFromPath, createEligibilityTree } from './eligibility-tree.ts';

const w = assertField;

describe('createEligibilityTree', () => {
  it('starts with the empty root', () => {
    expect(createEligibilityTree().root).toBe(parseField(vectors.emptyRoots[10] ?? ''));
  });

  it.each(vectors.rosters)('matches for $leaves.length wallets', ({ leaves, root, paths }) => {
    const tree = createEligibilityTree();
    for (const { index, walletId } of leaves) {
      tree.set(index, parseField(walletId));
    }
    expect(tree.root).toBe(parseField(root));
    expect(tree.size).toBe(leaves.length);
    for (const path of paths) {
      const walletId = parseField(path.walletId);
      expect(tree.path(walletId)).toEqual(path);
      expect(computeEligibilityRootFromPath(walletId, path as EligibilityPathWire)).toBe(tree.root);
    }
  });

  it('uses the lowest empty position and keeps the position of a wallet', () => {
    const tree = createEligibilityTree([w(11n), w(0n), w(13n)]);
    expect(tree.insert(w(12n))).toBe(1);
    expect(tree.insert(w(14n))).toBe(3);
    expect(tree.insert(w(13n))).toBe(2);
    expect(tree.remove(w(11n))).toBe(true);
    expect(tree.remove(w(11n))).toBe(false);
    expect(tree.insert(w(15n))).toBe(0);
    expect(tree.root).toBe(createEligibilityTree([w(15n), w(12n), w(13n), w(14n)]).root);
  });

  it('does not keep a removed or a replaced wallet', () => {
    const tree = createEligibilityTree([w(1n), w(2n)]);
    const before = tree.root;
    tree.insert(w(3n));
    tree.remove(w(3n));
    expect(tree.root).toBe(before);
    tree.set(0, w(9n));
    expect(tree.has(w(1n))).toBe(false);
    expect(tree.has(w(9n))).toBe(true);
    expect(tree.indexOf(w(9n))).toBe(0);
    for (const walletId of [w(1n), w(3n)]) {
      expect(() => tree.path(walletId)).toThrow(
        expect.objectContaining({ code: 'unregistered-recipient' }),
      );
    }
    tree.remove(w(9n));
    tree.remove(w(2n));
    expect(tree.root).toBe(createEligibilityTree().root);
  });

  it('has every node hashed in the hasher, once, with the same root', async () => {
    const wallets = Array.from({ length: 70 }, (_, place) => assertField(BigInt(place + 1)));
    const tree = createEligibilityTree(wallets);
    const levels: number[] = [];
    const count: HashMany = (rows) => {
      levels.push(rows.length);
      return hashHere(rows);
    };
    await tree.hashAll(count);
    expect(levels).toEqual([18, 5, 2, 1, 1, 1, 1, 1, 1, 1]);
    expect(tree.root).toBe(createEligibilityTree(wallets).root);
    const snapshot = tree.snapshot();
    tree.set(69, assertField(999n));
    levels.length = 0;
    await tree.hashAll(count);
    expect(levels).toEqual(Array.from({ length: 10 }, () => 1));
    expect(tree.root).toBe(
      createEligibilityTree([...wallets.slice(0, 69), 999n].map(assertField)).root,
    );
    expect(snapshot.root).toBe(createEligibilityTree(wallets).root);
    levels.length = 0;
    await tree.hashAll(count);
    expect(levels).toEqual([]);
  });

  it('takes snapshots that later changes of the tree do not change', () => {
    const tree = createEligibilityTree([w(1n), w(2n), w(3n)]);
    const path = tree.path(w(2n));
    const { root } = tree;
    const snapshot = tree.snapshot();
    tree.remove(w(2n));
    tree.set(70_000, w(9n));
    expect(snapshot.root).toBe(root);
    expect([0, 1, 2, 70_000].map(snapshot.leafAt)).toEqual([1n, 2n, 3n, 0n]);
    expect(snapshot.pathAt(1)).toEqual(path);
    expect(() => snapshot.pathAt(70_000)).toThrow(
      expect.objectContaining({ code: 'unregistered-recipient' }),
    );
    expect(tree.root).not.toBe(root);
  });

  it.each([
    ['wallet id 0', () => createEligibilityTree().insert(w(0n)), 'invalid_value'],
    [
      'an alias',
      () => Reflect.apply(createEligibilityTree().insert, undefined, [fieldModulus + 1n]),
      'invalid_field_element',
    ],
    [
      'index 4^10',
      () => createEligibilityTree().set(4 ** eligibilityDepth, w(1n)),
      'invalid_value',
    ],
    ['index -1', () => createEligibilityTree().set(-1, w(1n)), 'invalid_value'],
    ['a fractional index', () => createEligibilityTree().set(0.5, w(1n)), 'invalid_value'],
    ['a wallet that is added twice', () => createEligibilityTree([w(1n), w(1n)]), 'invalid_value'],
    [
      'the path of an unknown wallet',
      () => createEligibilityTree().path(w(0n)),
      'unregistered-recipient',
    ],
  ])('refuses %s', (_, act, code) => {
    expect(act).toThrow(expect.objectContaining({ code }));
  });
});

describe('computeEligibilityRootFromPath', () => {
  const tree = createEligibilityTree([w(1n), w(2n), w(3n), w(4n), w(5n), w(6n)]);
  const path = tree.path(w(5n));

  it('gives another root for another wallet, position or sibling', () => {
    expect(computeEligibilityRootFromPath(w(5n), path)).toBe(tree.root);
    expect(computeEligibilityRootFromPath(w(6n), path)).not.toBe(tree.root);
    expect(computeEligibilityRootFromPath(w(5n), { ...path, index: 5 })).not.toBe(tree.root);
    for (let level = 0; level < 10; level += 1) {
      const changed = structuredClone(path);
      const [, second, third] = path.siblings[level] ?? [];
      if (second === undefined || third === undefined) {
        expect.unreachable();
      }
      changed.siblings[level] = [fieldToHex(w(0x77n)), second, third];
      expect(computeEligibilityRootFromPath(w(5n), changed)).not.toBe(tree.root);
    }
  });

  it.each([
    ['nine levels', { siblings: path.siblings.slice(1) }, 'invalid_value'],
    ['an index of 4^10', { index: 4 ** eligibilityDepth + 4 }, 'invalid_value'],
    ['a negative index', { index: -1 }, 'invalid_value'],
  ])('refuses %s', (_, change, code) => {
    expect(() => computeEligibilityRootFromPath(w(5n), { ...path, ...change })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('refuses an aliased sibling', () => {
    const changed = structuredClone(path);
    const alias = bigintToHex32(fieldModulus);
    changed.siblings[9] = [alias, alias, alias];
    expect(() => computeEligibilityRootFromPath(w(5n), changed)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});
