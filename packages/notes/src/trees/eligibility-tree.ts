/**
 * The eligibility tree (protocol §4): the wallets that may receive. Fixed depth 10, four children per node, leaf = w, empty leaf
 * = 0. Vectors: vectors/eligibility-tree.json.
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

// The nodes of the eligibility tree (protocol §4). They are stored sparsely: an empty subtree is `undefined`. Hashes are
// computed when they are asked for, once for many changes. A node that has its hash is never written again, so whoever holds
// such a node holds the whole subtree as it was. Vectors: vectors/eligibility-tree.json.

const arity = 4;
/** Nodes hashed in one turn of the event loop. */
const nodesAtOnce = 1_024;

/** A node of the lowest level has leaves as children, every other one has nodes. At least one child is present. */
type EligibilityNode = {
  readonly children: [Child, Child, Child, Child];
  /** Undefined: one of the leaves below was written since. The nodes above have none either. */
  hash: Field | undefined;
};

type Child = EligibilityNode | Field | undefined;

/** Roots of the empty subtrees, from an empty leaf to an empty tree. */
const emptyRoots: readonly Field[] = computeEmptyRoots();

/** @param level - height of the node above the leaves; the top has {@link eligibilityDepth} */
function writeLeaf(
  node: EligibilityNode | undefined,
  index: number,
  leaf: Field | undefined,
  level: number = eligibilityDepth,
): EligibilityNode | undefined {
  const place = placeOf(index, level);
  const child =
    level === 1 ? leaf : writeLeaf(asNode(node?.children[place]), index, leaf, level - 1);
  // A node with a hash may belong to a snapshot.
  const written =
    node !== undefined && node.hash === undefined
      ? node
      : { children: copyChildren(node), hash: undefined };
  written.children[place] = child;
  return written.children.every((any) => any === undefined) ? undefined : written;
}

/** Undefined: the position is empty. */
function readLeaf(top: EligibilityNode | undefined, index: number): Field | undefined {
  let child: Child = top;
  for (let level = eligibilityDepth; level > 0; level -= 1) {
    child = asNode(child)?.children[placeOf(index, level)];
  }
  return typeof child === 'bigint' ? child : undefined;
}

/** The hash of a node, and of every node below it. */
function computeNode(node: EligibilityNode | undefined, level: number = eligibilityDepth): Field {
  if (node === undefined) {
    return emptyRoots[level] ?? zeroField;
  }
  node.hash ??= poseidon(computeChildren(node, level));
  return node.hash;
}

/**
 * Gives all nodes their hashes as {@link computeNode} does, level by level in the hasher. The nodes must not be written meanwhile.
 */
async function computeNodesWith(
  top: EligibilityNode | undefined,
  hashMany: HashMany,
): Promise<void> {
  // Of each level, the nodes without a hash. All nodes above such a node have none either.
  const levels: EligibilityNode[][] = [];
  for (let nodes = listOpen([top]); nodes.length > 0; ) {
    levels.push(nodes);
    nodes = listOpen(nodes.flatMap(({ children }) => children));
  }
  for (const [below, nodes] of [...levels.entries()].reverse()) {
    for (let first = 0; first < nodes.length; first += nodesAtOnce) {
      const some = nodes.slice(first, first + nodesAtOnce);
      const rows = some.map((node) => computeChildren(node, eligibilityDepth - below));
      const hashes = await hashMany(rows);
      for (const [place, node] of some.entries()) {
        node.hash = hashes[place];
      }
    }
  }
}

/** Three siblings per level, from the leaf up. */
function computeSiblings(
  top: EligibilityNode | undefined,
  index: number,
): EligibilityPathWire['siblings'] {
  const siblings: EligibilityPathWire['siblings'] = [];
  let node = top;
  for (let level = eligibilityDepth; level > 0; level -= 1) {
    const place = placeOf(index, level);
    const children = computeChildren(node, level);
    children.splice(place, 1);
    const [a, b, c] = children;
    siblings.unshift([fieldToHex(a), fieldToHex(b), fieldToHex(c)]);
    node = asNode(node?.children[place]);
  }
  return siblings;
}

function computeChildren(
  node: EligibilityNode | undefined,
  level: number,
): [Field, Field, Field, Field] {
  const read = (place: number): Field => {
    const child = node?.children[place];
    return typeof child === 'bigint' ? child : computeNode(child, level - 1);
  };
  return [read(0), read(1), read(2), read(3)];
}

function copyChildren(node: EligibilityNode | undefined): EligibilityNode['children'] {
  const [a, b, c, d] = node?.children ?? [];
  return [a, b, c, d];
}

function listOpen(children: readonly Child[]): EligibilityNode[] {
  return children
    .map(asNode)
    .filter((node) => node !== undefined)
    .filter((node) => node.hash === undefined);
}

function asNode(child: Child): EligibilityNode | undefined {
  return typeof child === 'object' ? child : undefined;
}

/** Which child of a node of this level is above the leaf. */
function placeOf(index: number, level: number): number {
  return Math.floor(index / arity ** (level - 1)) % arity;
}

function computeEmptyRoots(): Field[] {
  const roots: Field[] = [zeroField];
  for (let level = 0; level < eligibilityDepth; level += 1) {
    const child = roots[level] ?? zeroField;
    roots.push(poseidon([child, child, child, child]));
  }
  return roots;
}

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
