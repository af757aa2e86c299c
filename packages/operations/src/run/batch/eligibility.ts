/**
 * The place of each recipient in the eligibility tree: paths from the gate, checked against their root, and the root
 * checked against the chain (ARCHITECTURE.md: the gate's published root is the authority).
 *
 * @module
 */
import { type Field, fieldToHex, type Hex32, hexToBigint, isField, PoolError } from '@pool/core';
import { computeWalletId, type VerifiedPath, verifyEligibilityPath } from '@pool/notes';
import type { Run } from '../job/run.ts';

export type Eligibility = {
  readonly root: Hex32;
  /** By wallet id. Confidential as a whole: it is the roster. */
  readonly paths: ReadonlyMap<string, VerifiedPath>;
};

/**
 * @throws PoolError `unregistered-recipient` when a wallet is no longer on the list; retryable
 *   `gate_invalid_response` for a path that does not lead to the gate's root; retryable
 *   `eligibility_root_unknown` while the chain does not know that root
 */
export async function fetchEligibility(run: Run): Promise<Eligibility> {
  const { gate } = run.deps;
  if (gate === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      'this deployment has no pool-gate, so no recipient can be paid',
    );
  }
  const { pace } = run;
  const wallets: { readonly walletId: Field; readonly requestIndex: number }[] = [];
  for (const { walletPub, requestIndex } of run.record().recipients) {
    wallets.push({ walletId: computeWalletId(walletPub), requestIndex });
    await pace();
  }
  const answer = await gate.paths(wallets.map(({ walletId }) => fieldToHex(walletId)));
  const root = hexToBigint(answer.root);
  const served = new Map<string, (typeof answer.paths)[number]>();
  for (const path of answer.paths) {
    served.set(path.walletId, path);
  }
  const missing = new Set(answer.missing);
  const paths = new Map<string, VerifiedPath>();
  for (const { walletId, requestIndex } of wallets) {
    const id = fieldToHex(walletId);
    if (missing.has(id)) {
      throw new PoolError(
        'unregistered-recipient',
        `recipients[${requestIndex}]: the wallet is no longer on the eligibility list`,
      );
    }
    const path = served.get(id);
    const verified =
      path === undefined || !isField(root)
        ? undefined
        : verifyEligibilityPath(root, walletId, path);
    if (verified === undefined) {
      throw new PoolError(
        'gate_invalid_response',
        'the pool-gate served a path that does not lead to its own root',
      );
    }
    paths.set(id, verified);
    await pace();
  }
  if (!(await run.context.chain.isEligibilityRootAccepted(answer.root))) {
    throw new PoolError(
      'eligibility_root_unknown',
      "the chain does not accept the pool-gate's current root; wait for the gate to publish it",
    );
  }
  return { root: answer.root, paths };
}
