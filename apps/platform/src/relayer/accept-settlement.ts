/**
 * What a posted settlement means: a new one, a replay, a fresh proof for the same authorisation, or another
 * attempt under the same key (protocol §8, "Late landing").
 *
 * @module
 */
import { PoolError, type SettlementRequest } from '@pool/core';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { assertSettlement } from './check-settlement.ts';
import type { ProofCheck } from './proof-check.ts';
import {
  batchIdOf,
  findSettlement,
  idempotencyConflict,
  insertSettlement,
  isSameAuthorisation,
  reopenSettlement,
  type SettlementRow,
} from './settlement-store.ts';

export type AcceptDeps = {
  readonly db: PlatformDatabase;
  readonly chains: ReadonlyMap<string, PoolChain>;
  readonly proofs: ProofCheck;
  readonly nowMs: () => number;
};

/** What a request means beside what is stored. */
type Meaning =
  /** It changes nothing. */
  | { readonly kind: 'replay'; readonly row: SettlementRow }
  /** A fresh proof for an authorisation whose last transaction reverted. */
  | { readonly kind: 'reopen'; readonly row: SettlementRow }
  | { readonly kind: 'insert'; readonly supersedes: SettlementRow | undefined };

/**
 * Stores the settlement, or finds the one that stands. The proof comes last of all checks, since it takes the
 * longest, and before anything is stored. A replay stores nothing, so its proof is not verified again.
 * @throws PoolError `invalid-chain`, `invalid_settlement`, `proof_invalid`, `batch_size_unsupported` (400),
 *   `idempotency_conflict` (409), `verifier_unavailable` (503)
 */
export async function acceptSettlement(
  deps: AcceptDeps,
  employerId: string,
  key: string,
  request: SettlementRequest,
): Promise<SettlementRow> {
  const { db } = deps;
  const chain = deps.chains.get(request.chain);
  if (chain === undefined) {
    throw new PoolError('invalid-chain', 'this platform settles on no chain of that key');
  }
  const publicInputs = await assertSettlement(request, chain.settings);
  const meaning = await decideMeaning(deps, employerId, key, request);
  if (meaning.kind === 'replay') {
    return meaning.row;
  }
  await deps.proofs.assertProof(request.batch.commitments.length, publicInputs, request.proof);
  // The rows may have changed in the meantime: both writes below hold only for the state that was seen.
  if (meaning.kind === 'reopen') {
    await reopenSettlement(db, meaning.row.id, request);
    return (await findSettlement(db, employerId, key)) ?? meaning.row;
  }
  return meaning.supersedes === undefined
    ? await insertOrReplay(deps, employerId, key, request)
    : await insertSettlement(db, employerId, key, request, deps.nowMs(), meaning.supersedes.id);
}

/** @throws PoolError `idempotency_conflict` (409) */
async function decideMeaning(
  deps: AcceptDeps,
  employerId: string,
  key: string,
  request: SettlementRequest,
): Promise<Meaning> {
  const standing = await findSettlement(deps.db, employerId, key);
  if (standing === undefined) {
    return { kind: 'insert', supersedes: undefined };
  }
  if (isSameAuthorisation(standing, request.chain, request.batch)) {
    // What its funder withdrew is never taken up again.
    const mayReopen = standing.state === 'reverted' && standing.void_signature === null;
    return { kind: mayReopen ? 'reopen' : 'replay', row: standing };
  }
  const mayFollow =
    batchIdOf(request.batch) !== standing.batch_id &&
    standing.state !== 'settled' &&
    (await isDead(deps, standing));
  if (!mayFollow) {
    throw idempotencyConflict();
  }
  return { kind: 'insert', supersedes: standing };
}

// Two posts of one key can meet here: the loser of the insert is a replay like any other.
async function insertOrReplay(
  deps: AcceptDeps,
  employerId: string,
  key: string,
  request: SettlementRequest,
): Promise<SettlementRow> {
  try {
    return await insertSettlement(deps.db, employerId, key, request, deps.nowMs());
  } catch (error) {
    const winner = await findSettlement(deps.db, employerId, key);
    if (winner !== undefined && isSameAuthorisation(winner, request.chain, request.batch)) {
      return winner;
    }
    throw error;
  }
}

/**
 * Dead: a final block shows that the authorisation can never land. Its deadline has passed with the nonce
 * unused, it was voided, or the nonce was used under another root.
 */
async function isDead(deps: AcceptDeps, row: SettlementRow): Promise<boolean> {
  const chain = deps.chains.get(row.chain);
  if (chain === undefined) {
    return false;
  }
  const final = await chain.fetchFinalBlock();
  const usedFor = await chain.fetchBatchRootOf(row.funder, row.batch_nonce, final.number);
  if (usedFor !== undefined) {
    return usedFor !== row.batch_root;
  }
  return (
    final.timestamp > Number(row.deadline) ||
    (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number))
  );
}
