/**
 * The eligibility tree (protocol §4): the wallets that may receive. Fixed depth 10, four children per node, leaf = w, empty leaf
 * = 0. Its nodes are in eligibility-nodes.ts. Vectors: vectors/eligibility-tree.json.
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
import { poseidon } from '../hash/poseidon.ts';
import type { HashMany } from '../hash/tree-hasher.ts';
import {
  computeNode,
  computeNodesWith,
  computeSiblings,
  type EligibilityNode,
  readLeaf,
  writeLeaf,
} from './eligibility-nodes.ts';

const arity = 4;

/** Number of leaves. */
export const eligibilityCapacity = arity ** eligibilityDepth;

/** The tree as it was when it was taken. Later changes of the tree do not change it. Confidential, like the tree. */
export type EligibilitySnapshot = {
  readonly root: Field;
  /** The wallet at a position, 0 where there is none. */
  leafAt(index: number): Field;
  /** @throws PoolError `unregistered-recipient` where there is no wallet */
  pathAt(index: number): EligibilityPathWire;
};

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
   * @throws PoolError `invalid_value`, `invalid_field_element` if the wallet has another position
   */
  set(index: number, walletId: Field): void;
  /** Hashes all nodes in the hasher, so that {@link root} is at hand. The tree must not be changed until it resolves. */
  hashAll(hashMany: HashMany): Promise<void>;
  /**
   * Adds a wallet at the lowest empty position and returns the position. A wallet on the list keeps its position.
   * @throws PoolError `invalid_value` for 0, `invalid_field_element`, `tree_full`
   */
  insert(walletId: Field): number;
  /** Removes a wallet. @returns false if it was not on the list */
  remove(walletId: Field): boolean;
  /** @throws PoolError `unregistered-recipient` if the wallet is not on the list */
  path(walletId: Field): EligibilityPathWire;
  /** Takes no copy: snapshot and tree share all nodes that are not changed afterwards. */
  snapshot(): EligibilitySnapshot;
};

/** @param leaves - initial wallets by position; 0 leaves a position empty */
export function createEligibilityTree(leaves: readonly Field[] = []): EligibilityTree {
  const positions = new Map<Field, number>();
  let top: EligibilityNode | undefined;
  let lowestEmpty = 0;

  const write = (index: number, walletId: Field): void => {
    const replaced = readLeaf(top, index);
    if (replaced !== undefined) {
      positions.delete(replaced);
    }
    top = writeLeaf(top, index, walletId === 0n ? undefined : walletId);
    if (walletId === 0n) {
      lowestEmpty = Math.min(lowestEmpty, index);
    } else {
      positions.set(walletId, index);
    }
  };

  const tree: EligibilityTree = {
    get root() {
      return computeNode(top);
    },
    get size() {
      return positions.size;
    },
    has: (walletId) => positions.has(walletId),
    indexOf: (walletId) => positions.get(walletId),
    set: (index, walletId) => {
      assertField(walletId);
      if (!Number.isInteger(index) || index < 0 || index >= eligibilityCapacity) {
        throw new PoolError('invalid_value', 'a leaf index must be an integer from 0 to 4^10 - 1');
      }
      const present = positions.get(walletId);
      if (present !== undefined && present !== index) {
        throw new PoolError('invalid_value', 'this wallet already has another position');
      }
      write(index, walletId);
    },
    hashAll: (hashMany) => computeNodesWith(top, hashMany),
    insert: (walletId) => {
      const present = positions.get(assertField(walletId));
      if (present !== undefined) {
        return present;
      }
      if (walletId === 0n) {
        throw new PoolError('invalid_value', 'wallet id 0 is reserved for an empty leaf');
      }
      while (readLeaf(top, lowestEmpty) !== undefined) {
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
      return { walletId: fieldToHex(walletId), index, siblings: computeSiblings(top, index) };
    },
    snapshot: () => createSnapshot(top),
  };
  leaves.forEach((walletId, index) => {
    tree.set(index, walletId);
  });
  return tree;
}

function createSnapshot(top: EligibilityNode | undefined): EligibilitySnapshot {
  // A node with a hash is never written again, and this gives each of them its hash.
  const root = computeNode(top);
  const leafAt = (index: number): Field => readLeaf(top, index) ?? zeroField;
  return {
    root,
    leafAt,
    pathAt: (index) => {
      const walletId = leafAt(index);
      if (walletId === zeroField) {
        throw new PoolError('unregistered-recipient', 'no wallet was on the list at this position');
      }
      return { walletId: fieldToHex(walletId), index, siblings: computeSiblings(top, index) };
    },
  };
}

/**
 * The root that a path gives for this wallet. The `walletId` inside the path is ignored: the caller decides whose path it must
 * be.
 *
 * @throws PoolError `invalid_value`, `invalid_field_element`
 */
export function computeEligibilityRootFromPath(walletId: Field, path: EligibilityPathWire): Field {
  const { index, siblings } = path;
  const isIndex = Number.isInteger(index) && index >= 0 && index < eligibilityCapacity;
  if (!isIndex || siblings.length !== eligibilityDepth) {
    throw new PoolError(
      'invalid_value',
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
