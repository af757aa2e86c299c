/**
 * Decides what a posted settlement is: a new one, a replay, a fresh proof for the same authorisation, or another attempt
 * under the same key (protocol §8, "Late landing").
 *
 * @module
 */

import type { FundBatchWire, SettlementRequest } from '@pool/api';
import {
  computeFundAuthorizationData,
  computeTypedDataDigest,
  type Hex,
  parseEvmAddress,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { askChain } from '@pool/evm-sender';
import {
  assertDeadline,
  defaultSettlementLimits,
  reserveGas,
  type SettlementLimits,
} from '../budget/limits.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { assertDelivery } from '../checks/check-form.ts';
import { settlementRefusals } from '../checks/refuse-settlement.ts';
import type { SettlementChecks } from '../checks/settlement-checks.ts';
import { assertMayFollow, findChain } from '../store/on-chain.ts';
import {
  assertBatchFree,
  assertSameNotes,
  describeNewSettlement,
  idempotencyConflict,
  isSameAuthorisation,
} from '../store/settlement-store.ts';
import {
  findSubmission,
  mayReopen,
  type ReserveGas,
  type SubmissionRow,
  storeChecked,
} from '../store/submissions.ts';

export type AcceptDeps = {
  readonly db: PlatformDatabase;
  readonly chains: ReadonlyMap<string, PoolChain>;
  readonly checks: SettlementChecks;
  readonly nowMs: () => number;
  /** Called after the look-up of stored rows and before every other check. It may refuse by throwing. */
  readonly beforeWork?: (() => void | Promise<void>) | undefined;
  /** Default: {@link defaultSettlementLimits}. */
  readonly settlementLimits?: SettlementLimits;
};

/**
 * Stores the settlement, or finds the stored one. The cheapest check comes first: stored rows, the request alone, the
 * funder's signature, the arithmetic of the batch, the proof. Nothing is stored before all checks pass. A replay stores
 * nothing and needs no check.
 * @throws PoolError `invalid-chain`, `invalid_settlement`, `deadline_too_far`, `proof_invalid`, `size_unsupported`
 *   (400), `idempotency_conflict` (409), `rate_limited`, `gas_budget_exceeded` (429), `chain_unreachable`,
 *   `verifier_unavailable` (503)
 */
export async function acceptSettlement(
  deps: AcceptDeps,
  employerId: string,
  key: string,
  request: SettlementRequest,
): Promise<SubmissionRow> {
  const { db, checks } = deps;
  const chain = findChain(deps.chains, request.chain);
  const isSameAs = (row: SubmissionRow) => isSameAuthorisation(row, request.chain, request.batch);
  const standing = await findSubmission(db, employerId, key);
  const isSame = standing !== undefined && isSameAs(standing);
  if (isSame && !mayReopen(standing)) {
    await assertSameNotes(db, standing, request);
    return standing;
  }
  await deps.beforeWork?.();
  const { settlementLimits: limits = defaultSettlementLimits, nowMs } = deps;
  await assertDeadline(chain, request.batch.deadline, limits, nowMs());
  assertDelivery(request, chain.settings);
  const claim = computeClaim(request, chain);
  if (!isSame) {
    await assertBatchFree(db, request);
  }
  if (standing !== undefined && !isSame) {
    await assertMayFollow(deps.chains.get(standing.chain), standing, idempotencyConflict);
  }
  // Once before the checks that take long, and once with the row.
  const reserve: ReserveGas = (trx) =>
    reserveGas(trx, employerId, request, standing?.id, limits, nowMs());
  await db.transaction().execute(reserve);
  await checks.assertSigned(employerId, chain, claim);
  await assertNonceFree(chain, request.batch);
  await checks.assertProven(employerId, request, chain.settings);
  const submission = describeNewSettlement({ employerId, key }, request, nowMs(), reserve);
  return await storeChecked(db, submission, standing, isSameAs);
}

const nonceTimeoutMs = 5_000;

/**
 * Checks that the funder's batch nonce is free for this batch. A settlement with a nonce that another batch used could
 * only block that batch's own settlement.
 * @throws PoolError `invalid_settlement` (400), `chain_unreachable` (503, retryable) when the chain does not answer:
 *   nothing can be sent then, and the agent tries again
 */
async function assertNonceFree(
  chain: PoolChain,
  { funder, batchNonce, batchRoot }: FundBatchWire,
): Promise<void> {
  const ask = () => chain.fetchBatchRootOf(funder, batchNonce, 'latest');
  const usedFor = await askChain(ask, nonceTimeoutMs);
  if (usedFor !== undefined && usedFor !== batchRoot) {
    throw settlementRefusals.refuse(
      'the chain has another batch of this funder under batch.batchNonce',
    );
  }
}

/** The funder's signature over the authorisation for this chain's pool. */
function computeClaim({ batch, funderSignature }: SettlementRequest, { settings }: PoolChain) {
  const funder = parseEvmAddress(batch.funder);
  const typed = computeFundAuthorizationData(settings.chainId, settings.pool, {
    funder,
    token: parseEvmAddress(batch.token),
    total: BigInt(batch.total),
    batchRoot: settlementRefusals.field(batch, 'batchRoot'),
    batchNonce: settlementRefusals.field(batch, 'batchNonce'),
    sealedNotesHash: batch.sealedNotesHash,
    deadline: BigInt(batch.deadline),
  });
  return { funder, digest: computeTypedDataDigest(typed), signature: funderSignature as Hex };
}
