/**
 * Accepts a posted withdrawal (protocol §8, `voidBatch`). Its signature is simulated on the chain before it is stored.
 * Once it is stored, the platform sends no `fund()` for that settlement.
 *
 * @module
 */

import type { FundBatchWire, VoidRequest } from '@pool/api';
import {
  computeTypedDataDigest,
  computeVoidBatchData,
  errorCodeOf,
  type Hex,
  isIdempotencyKey,
  PoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';
import { askChain } from '@pool/evm-sender';
import { defaultSettlementLimits, reserveGas } from '../budget/limits.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { findChain } from '../store/on-chain.ts';
import { assertBatchFree, insertWithdrawn, storeWithdrawal } from '../store/settlement-store.ts';
import {
  findSubmission,
  parseSettlement,
  type ReserveGas,
  type SubmissionRow,
} from '../store/submissions.ts';
import type { AcceptDeps } from './accept-settlement.ts';

type VoidDeps = Pick<AcceptDeps, 'db' | 'chains' | 'checks' | 'nowMs' | 'settlementLimits'>;

/**
 * Stores the funder's signature with the settlement, or finds that nothing is left to withdraw.
 * @returns the stored settlement
 * @throws PoolError `not_found` (404), `invalid-chain`, `invalid_settlement` (400), `idempotency_conflict` (409), `gas_budget_exceeded` (429),
 *   `chain_unreachable` (503)
 */
export async function acceptVoid(
  deps: VoidDeps,
  employerId: string,
  key: string,
  request: VoidRequest,
): Promise<SubmissionRow> {
  const chain = findChain(deps.chains, request.chain);
  const row = isIdempotencyKey(key) ? await findSubmission(deps.db, employerId, key) : undefined;
  if (row === undefined && request.batch !== undefined && isIdempotencyKey(key)) {
    return await storeUnposted(deps, employerId, key, chain, { ...request, batch: request.batch });
  }
  if (row === undefined || !isAbout(row, request)) {
    throw new PoolError(
      'not_found',
      'there is no settlement of that key with this chain, funder and batch nonce',
    );
  }
  if (row.void_signature !== null || row.state === 'settled') {
    return row;
  }
  await assertSigned(deps, employerId, chain, request);
  if (await isRefused(chain, request, 'batch-nonce-used')) {
    // It landed: the indexer settles the row once that is final.
    return row;
  }
  await storeWithdrawal(deps.db, row.id, request.signature);
  return (await findSubmission(deps.db, employerId, key)) ?? row;
}

/**
 * A custodian signed the batch, and its agent gave it up before it was posted (docs/decisions/0015). From here on, nothing but its
 * withdrawal is sent.
 */
async function storeUnposted(
  deps: VoidDeps,
  employerId: string,
  key: string,
  chain: PoolChain,
  request: VoidRequest & { readonly batch: FundBatchWire },
): Promise<SubmissionRow> {
  const { batch, signature } = request;
  const { settlementLimits: limits = defaultSettlementLimits, nowMs } = deps;
  const isSame =
    batch.funder.toLowerCase() === request.funder.toLowerCase() &&
    batch.batchNonce === request.batchNonce;
  if (!isSame) {
    throw new PoolError(
      'invalid_settlement',
      'withdrawal refused: its batch has another funder or nonce',
    );
  }
  // For any deadline: a batch whose deadline is refused as too far is the one that must be withdrawn. Its gas is budgeted.
  await assertBatchFree(deps.db, request);
  await assertSigned(deps, employerId, chain, request);
  await isRefused(chain, request);
  const reserve: ReserveGas = (trx) =>
    reserveGas(trx, employerId, request, undefined, limits, nowMs());
  const withdrawn = { chain: request.chain, batch, signature };
  return await insertWithdrawn(deps.db, { employerId, key }, withdrawn, nowMs(), reserve);
}

/** @returns whether the pool refuses it as `known`. @throws PoolError `invalid_settlement` for another refusal */
async function isRefused(chain: PoolChain, call: VoidRequest, known?: string): Promise<boolean> {
  const refusal = (await askChain(() => chain.simulate({ kind: 'void', call })))?.code;
  if (refusal !== undefined && refusal !== known) {
    throw new PoolError('invalid_settlement', `withdrawal refused by the pool: ${refusal}`);
  }
  return refusal !== undefined;
}

function isAbout(row: SubmissionRow, { chain, funder, batchNonce }: VoidRequest): boolean {
  const { batch } = parseSettlement(row);
  return (
    row.chain === chain &&
    batch.funder.toLowerCase() === funder.toLowerCase() &&
    batch.batchNonce === batchNonce
  );
}

/** Checks the signature before the pool is simulated, where a funder's contract could burn the node's time. */
async function assertSigned(
  { checks }: Pick<AcceptDeps, 'checks'>,
  employerId: string,
  chain: PoolChain,
  { funder: spelled, batchNonce, signature }: VoidRequest,
): Promise<void> {
  const { chainId, pool } = chain.settings;
  const funder = parseEvmAddress(spelled);
  const typed = computeVoidBatchData(chainId, pool, funder, parseField(batchNonce));
  const claim = { funder, digest: computeTypedDataDigest(typed), signature: signature as Hex };
  try {
    await checks.assertSigned(employerId, chain, claim);
  } catch (cause) {
    if (errorCodeOf(cause) === 'invalid_settlement') {
      throw new PoolError('invalid_settlement', 'withdrawal refused: its funder did not sign it', {
        cause,
      });
    }
    throw cause;
  }
}
