import type { Field } from '@pool/core';
import { poseidon } from '../src/hash/poseidon.ts';
import type { LeanImtPath } from '../src/trees/lean-imt.ts';

/** Whether the path leads from its leaf to this root, by the definition of the tree. */
export function verifyLeanImtPath(root: Field, { leaf, index, siblings }: LeanImtPath): boolean {
  const end = siblings.reduce(
    (node, sibling, level) => poseidon((index >> level) & 1 ? [sibling, node] : [node, sibling]),
    leaf,
  );
  return index < 2 ** siblings.length && end === root;
}
