/**
 * Eligibility paths that were checked to lead to a root (protocol §4). Checking one hashes ten times, so the type records
 * that it was done: whoever holds a {@link VerifiedPath} need not check it again.
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
  /** The wallet id whose leaf the path begins at. */
  readonly wallet: Field;
  readonly root: Field;
};

/** The path of one wallet to one root. Made by {@link verifyEligibilityPath}. Confidential: names a recipient. */
export type VerifiedPath = Brand<ClaimedPath, 'VerifiedPath'>;

/**
 * Checks that a path leads from a wallet to a root. The path's own `walletId` is ignored: the caller says which wallet
 * it must belong to.
 * @returns undefined: it leads to another root, or is malformed
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
 * @returns the paths that lead there, by wallet id (32-byte hex)
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
