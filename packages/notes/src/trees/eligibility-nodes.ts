/**
 * The nodes of the eligibility tree (protocol §4). They are stored sparsely: an empty subtree is `undefined`. Hashes are
 * computed when they are asked for, once for many changes. A node that has its hash is never written again, so whoever holds
 * such a node holds the whole subtree as it was. Vectors: vectors/eligibility-tree.json.
 *
 * @module
 */
import {
  type EligibilityPathWire,
  eligibilityDepth,
  type Field,
  fieldToHex,
  zeroField,
} from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import type { HashMany } from '../hash/tree-hasher.ts';

const arity = 4;
/** Nodes hashed in one turn of the event loop. */
const nodesAtOnce = 1_024;

/** A node of the lowest level has leaves as children, every other one has nodes. At least one child is present. */
export type EligibilityNode = {
  readonly children: [Child, Child, Child, Child];
  /** Undefined: one of the leaves below was written since. The nodes above have none either. */
  hash: Field | undefined;
};

type Child = EligibilityNode | Field | undefined;

/** Roots of the empty subtrees, from an empty leaf to an empty tree. */
const emptyRoots: readonly Field[] = computeEmptyRoots();

/** @param level - height of the node above the leaves; the top has {@link eligibilityDepth} */
export function writeLeaf(
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
export function readLeaf(top: EligibilityNode | undefined, index: number): Field | undefined {
  let child: Child = top;
  for (let level = eligibilityDepth; level > 0; level -= 1) {
    child = asNode(child)?.children[placeOf(index, level)];
  }
  return typeof child === 'bigint' ? child : undefined;
}

/** The hash of a node, and of every node below it. */
export function computeNode(
  node: EligibilityNode | undefined,
  level: number = eligibilityDepth,
): Field {
  if (node === undefined) {
    return emptyRoots[level] ?? zeroField;
  }
  node.hash ??= poseidon(computeChildren(node, level));
  return node.hash;
}

/**
 * Gives all nodes their hashes as {@link computeNode} does, level by level in the hasher. The nodes must not be written meanwhile.
 */
export async function computeNodesWith(
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
export function computeSiblings(
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
