/**
 * Accepts a posted withdrawal (protocol §8, `voidBatch`). Its signature is simulated on the chain before it is stored.
 * Once it is stored, the platform sends no `fund()` for that settlement.
 *
 * @module
 */
import type { VoidRequest } from '@pool/api';
import { askChain } from '@pool/contracts';
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
import type { PoolChain } from '../chain/pool-chain.ts';
import type { AcceptDeps } from './accept-settlement.ts';
import { findSettlement, type SettlementRow, storeWithdrawal } from './settlement-store.ts';

/**
 * Stores the funder's signature with the settlement, or finds that nothing is left to withdraw.
 * @returns the stored settlement
 * @throws PoolError `not_found` (404), `invalid-chain`, `invalid_void` (400), `chain_unreachable` (503)
 */
export async function acceptVoid(
  deps: Pick<AcceptDeps, 'db' | 'chains' | 'checks'>,
  employerId: string,
  key: string,
  request: VoidRequest,
): Promise<SettlementRow> {
  const chain = deps.chains.get(request.chain);
  if (chain === undefined) {
    throw new PoolError('invalid-chain', 'this platform settles on no chain of that key');
  }
  const row = isIdempotencyKey(key) ? await findSettlement(deps.db, employerId, key) : undefined;
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
  const refusal = (await askChain(() => chain.simulateVoid(request)))?.code;
  if (refusal === 'batch-nonce-used') {
    // It landed: the indexer settles the row once that is final.
    return row;
  }
  if (refusal !== undefined) {
    throw new PoolError('invalid_void', `withdrawal refused by the pool: ${refusal}`);
  }
  await storeWithdrawal(deps.db, row.id, request.signature);
  return (await findSettlement(deps.db, employerId, key)) ?? row;
}

function isAbout(row: SettlementRow, { chain, funder, batchNonce }: VoidRequest): boolean {
  return (
    row.chain === chain && row.funder === funder.toLowerCase() && row.batch_nonce === batchNonce
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
      throw new PoolError('invalid_void', 'withdrawal refused: its funder did not sign it', {
        cause,
      });
    }
    throw cause;
  }
}
