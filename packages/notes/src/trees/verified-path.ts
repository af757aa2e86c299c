/**
 * Eligibility paths that were checked against a root (protocol §4). The check of a path computes ten hashes, so the type records
 * that it was done: a {@link VerifiedPath} need not be checked again.
 *
 * @module
 */
import {
  type Brand,
  type EligibilityPathWire,
  type Field,
  fieldToHex,
  parseField,
} from '@pool/core';
import { computeEligibilityRootFromPath } from './eligibility-tree.ts';

type ClaimedPath = Pick<EligibilityPathWire, 'index' | 'siblings'> & {
  /** The wallet id of the leaf where the path begins. */
  readonly wallet: Field;
  readonly root: Field;
};

/** The path of one wallet to one root. Made by {@link verifyEligibilityPath}. Confidential: it names a recipient. */
export type VerifiedPath = Brand<ClaimedPath, 'VerifiedPath'>;

/**
 * Checks that a path leads from a wallet to a root. The path's own `walletId` is ignored: the caller decides which wallet it must
 * belong to.
 * @returns undefined if it leads to another root or is malformed
 */
export function verifyEligibilityPath(
  root: Field,
  wallet: Field,
  { index, siblings }: EligibilityPathWire,
): VerifiedPath | undefined {
  const claimed: ClaimedPath = { root, wallet, index, siblings };
  return leadsToItsRoot(claimed) ? claimed : undefined;
}

/**
 * Checks many paths under one root.
 * @returns the paths that lead to it, by wallet id (32-byte hex)
 */
export function verifyEligibilityPaths(
  root: Field,
  paths: Iterable<EligibilityPathWire>,
): ReadonlyMap<string, VerifiedPath> {
  const verified = new Map<string, VerifiedPath>();
  for (const path of paths) {
    const found = verifyEligibilityPath(root, parseField(path.walletId), path);
    if (found !== undefined) {
      verified.set(fieldToHex(found.wallet), found);
    }
  }
  return verified;
}

function leadsToItsRoot(claimed: ClaimedPath): claimed is VerifiedPath {
  const { root, wallet, index, siblings } = claimed;
  try {
    const reached = computeEligibilityRootFromPath(wallet, {
      walletId: fieldToHex(wallet),
      index,
      siblings,
    });
    return reached === root;
  } catch {
    return false;
  }
}
