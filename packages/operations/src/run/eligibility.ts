/**
 * Where each recipient stands in the eligibility tree: paths from the gate, their root checked against the
 * chain (ARCHITECTURE.md: the gate's published root is the authority).
 *
 * @module
 */
import {
  type EligibilityPathWire,
  type Field,
  fieldToHex,
  type Hex32,
  PoolError,
  parseField,
} from '@pool/core';
import { computeEligibilityRootFromPath, computeWalletId } from '@pool/notes';
import type { Run } from './run.ts';

export type Eligibility = {
  readonly root: Hex32;
  /** By wallet id. Confidential as a whole: it is the roster. */
  readonly paths: ReadonlyMap<string, EligibilityPathWire>;
};

/**
 * @throws PoolError `unregistered-recipient` when a wallet is not on the list any more; retryable
 *   `eligibility_root_not_accepted` while the chain does not know the gate's root
 */
export async function fetchEligibility(run: Run): Promise<Eligibility> {
  const { gate } = run.deps;
  if (gate === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      'this deployment has no pool-gate, so nobody can be paid',
    );
  }
  const { pace } = run;
  const walletIds: { readonly walletId: Field; readonly requestIndex: number }[] = [];
  for (const { walletPub, requestIndex } of run.record().recipients) {
    walletIds.push({ walletId: computeWalletId(walletPub), requestIndex });
    await pace();
  }
  const answer = await gate.paths(walletIds.map(({ walletId }) => fieldToHex(walletId)));
  const paths = new Map(answer.paths.map((path) => [path.walletId as string, path]));
  const missing = new Set(answer.missing);
  for (const { walletId, requestIndex } of walletIds) {
    const id = fieldToHex(walletId);
    const path = paths.get(id);
    if (missing.has(id)) {
      throw new PoolError(
        'unregistered-recipient',
        `recipients[${requestIndex}]: the wallet is no longer on the eligibility list`,
      );
    }
    if (path === undefined || !leadsTo(answer.root, walletId, path)) {
      throw new PoolError(
        'gate_invalid_response',
        'the pool-gate served a path that does not lead to its own root',
        { status: 502, retryable: true },
      );
    }
    await pace();
  }
  if (!(await run.context.chain.isEligibilityRootAccepted(answer.root))) {
    throw new PoolError(
      'eligibility_root_not_accepted',
      "the chain does not accept the pool-gate's current root; wait for the gate to publish it",
      { status: 503, retryable: true },
    );
  }
  return { root: answer.root, paths };
}

function leadsTo(root: Hex32, walletId: Field, path: EligibilityPathWire): boolean {
  try {
    return computeEligibilityRootFromPath(walletId, path) === parseField(root);
  } catch {
    return false;
  }
}
