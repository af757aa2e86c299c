/**
 * The eligibility tree (protocol §4): the wallets that may receive. Fixed depth 10, four children per node, leaf = w, empty leaf
 * = 0. It is stored sparsely: empty subtrees need no memory. Vectors: vectors/eligibility-tree.json.
 *
 * @module
 */
import {
  assertField,
  type EligibilityPathWire,
  eligibilityDepth,
  type Field,
  fieldToHex,
  PoolError,
  parseField,
  zeroField,
} from '@pool/core';
import { poseidon } from './poseidon.ts';

const arity = 4;

/** Number of leaves. */
export const eligibilityCapacity = arity ** eligibilityDepth;

/** Roots of the empty subtrees, from an empty leaf to an empty tree. */
const emptyRoots: readonly Field[] = computeEmptyRoots();

/** A mutable list of wallets in memory. The whole list is confidential: it is the gate's list of payees. */
export type EligibilityTree = {
  /** Root over all leaves. It is never 0, even for an empty tree. */
  readonly root: Field;
  /** Number of wallets on the list. */
  readonly size: number;
  has(walletId: Field): boolean;
  /** Position of a wallet, or undefined. */
  indexOf(walletId: Field): number | undefined;
  /**
   * Writes a wallet to a position and replaces the previous one; 0 empties the position. For rebuilding a stored list.
   * @throws PoolError `invalid_leaf_index`, `invalid_field_element`, `duplicate_wallet` if the wallet has another position
   */
  set(index: number, walletId: Field): void;
  /**
   * Adds a wallet at the lowest empty position and returns the position. A wallet on the list keeps its position.
   * @throws PoolError `invalid_wallet_id` for 0, `invalid_field_element`, `tree_full`
   */
  insert(walletId: Field): number;
  /** Removes a wallet. @returns false if it was not on the list */
  remove(walletId: Field): boolean;
  /** @throws PoolError `unregistered-recipient` if the wallet is not on the list */
  path(walletId: Field): EligibilityPathWire;
};

/** @param leaves - initial wallets by position; 0 leaves a position empty */
export function createEligibilityTree(leaves: readonly Field[] = []): EligibilityTree {
  const positions = new Map<Field, number>();
  const levels = Array.from({ length: eligibilityDepth + 1 }, () => new Map<number, Field>());
  // Parents that must be recomputed. The work is done when a root or path is requested, once for many changes.
  const stale = new Set<number>();
  let lowestEmpty = 0;

  const write = (index: number, walletId: Field): void => {
    const replaced = levels[0]?.get(index);
    if (replaced !== undefined) {
      positions.delete(replaced);
    }
    if (walletId === 0n) {
      levels[0]?.delete(index);
      lowestEmpty = Math.min(lowestEmpty, index);
    } else {
      levels[0]?.set(index, walletId);
      positions.set(walletId, index);
    }
    stale.add(Math.floor(index / arity));
  };

  const settle = (): void => {
    updateAncestors(levels, stale);
    stale.clear();
  };

  const tree: EligibilityTree = {
    get root() {
      settle();
      return readNode(levels, eligibilityDepth, 0);
    },
    get size() {
      return positions.size;
    },
    has: (walletId) => positions.has(walletId),
    indexOf: (walletId) => positions.get(walletId),
    set: (index, walletId) => {
      assertField(walletId);
      if (!Number.isInteger(index) || index < 0 || index >= eligibilityCapacity) {
        throw new PoolError(
          'invalid_leaf_index',
          'a leaf index must be an integer from 0 to 4^10 - 1',
        );
      }
      const present = positions.get(walletId);
      if (present !== undefined && present !== index) {
        throw new PoolError('duplicate_wallet', 'this wallet already has another position');
      }
      write(index, walletId);
    },
    insert: (walletId) => {
      const present = positions.get(assertField(walletId));
      if (present !== undefined) {
        return present;
      }
      if (walletId === 0n) {
        throw new PoolError('invalid_wallet_id', 'wallet id 0 is reserved for an empty leaf');
      }
      while (levels[0]?.has(lowestEmpty) === true) {
        lowestEmpty += 1;
      }
      if (lowestEmpty >= eligibilityCapacity) {
        throw new PoolError('tree_full', 'the eligibility tree is full: it has 4^10 leaves');
      }
      const index = lowestEmpty;
      write(index, walletId);
      return index;
    },
    remove: (walletId) => {
      const index = positions.get(walletId);
      if (index !== undefined) {
        write(index, zeroField);
      }
      return index !== undefined;
    },
    path: (walletId) => {
      const index = positions.get(walletId);
      if (index === undefined) {
        throw new PoolError('unregistered-recipient', 'this wallet is not on the eligibility list');
      }
      settle();
      return readPath(levels, walletId, index);
    },
  };
  leaves.forEach((walletId, index) => {
    tree.set(index, walletId);
  });
  return tree;
}

function computeEmptyRoots(): Field[] {
  const roots: Field[] = [zeroField];
  for (let level = 0; level < eligibilityDepth; level += 1) {
    const child = roots[level] ?? zeroField;
    roots.push(poseidon([child, child, child, child]));
  }
  return roots;
}

function readNode(levels: readonly ReadonlyMap<number, Field>[], level: number, at: number): Field {
  return levels[level]?.get(at) ?? emptyRoots[level] ?? zeroField;
}

function readChildren(
  levels: readonly ReadonlyMap<number, Field>[],
  level: number,
  parent: number,
): [Field, Field, Field, Field] {
  const first = parent * arity;
  const read = (place: number): Field => readNode(levels, level, first + place);
  return [read(0), read(1), read(2), read(3)];
}

function updateAncestors(levels: readonly Map<number, Field>[], parents: Iterable<number>): void {
  let changed = new Set(parents);
  for (let level = 1; level <= eligibilityDepth; level += 1) {
    const above = new Set<number>();
    for (const node of changed) {
      const value = poseidon(readChildren(levels, level - 1, node));
      if (value === emptyRoots[level]) {
        levels[level]?.delete(node);
      } else {
        levels[level]?.set(node, value);
      }
      above.add(Math.floor(node / arity));
    }
    changed = above;
  }
}

function readPath(
  levels: readonly ReadonlyMap<number, Field>[],
  walletId: Field,
  index: number,
): EligibilityPathWire {
  const siblings: EligibilityPathWire['siblings'] = [];
  let node = index;
  for (let level = 0; level < eligibilityDepth; level += 1) {
    const children = readChildren(levels, level, Math.floor(node / arity));
    children.splice(node % arity, 1);
    const [a, b, c] = children;
    siblings.push([fieldToHex(a), fieldToHex(b), fieldToHex(c)]);
    node = Math.floor(node / arity);
  }
  return { walletId: fieldToHex(walletId), index, siblings };
}

/**
 * The root that a path gives for this wallet. The `walletId` inside the path is ignored: the caller decides whose path it must
 * be.
 *
 * @throws PoolError `invalid_path`, `invalid_hex`, `invalid_field_element`
 */
export function computeEligibilityRootFromPath(walletId: Field, path: EligibilityPathWire): Field {
  const { index, siblings } = path;
  const isIndex = Number.isInteger(index) && index >= 0 && index < eligibilityCapacity;
  if (!isIndex || siblings.length !== eligibilityDepth) {
    throw new PoolError(
      'invalid_path',
      'an eligibility path must have an index below 4^10 and 10 levels',
    );
  }
  let node = assertField(walletId);
  let place = index;
  for (const level of siblings) {
    const children = level.map((sibling) => parseField(sibling));
    children.splice(place % arity, 0, node);
    node = poseidon(children);
    place = Math.floor(place / arity);
  }
  return node;
}
