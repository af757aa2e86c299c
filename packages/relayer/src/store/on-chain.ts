/**
 * What a submission is on chain: its call, and what the chain says of its inputs (protocol §8). A batch takes the batch nonce of its
 * funder, and a spend its nullifiers: each is used once.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { askChain, type FinalBlock } from '@pool/evm-sender';
import type { PoolCall, PoolChain } from '../chain/pool-chain.ts';
import { findSealedNotes, parseSettlement, parseSpend, type SubmissionRow } from './submissions.ts';

/** The purpose of the transaction that carries out a submission. */
export const purposes = { settlement: 'fund', spend: 'spend' } as const;

/** The call that a row stands for, with the sealed notes of a spend. */
export async function readCall(db: PlatformDatabase, row: SubmissionRow): Promise<PoolCall> {
  if (row.kind === 'settlement') {
    return { kind: 'fund', call: parseSettlement(row) };
  }
  const { spend, proof } = parseSpend(row);
  const notes = await findSealedNotes(db, row.id);
  return {
    kind: 'spend',
    call: { spend, proof, sealedNotes: notes.map(({ sealed }) => sealed) },
  };
}

/** The call that withdraws the batch; undefined while its funder has not signed one. */
export function describeWithdrawal(row: SubmissionRow): PoolCall | undefined {
  if (row.void_signature === null) {
    return undefined;
  }
  const { funder, batchNonce } = parseSettlement(row).batch;
  return { kind: 'void', call: { funder, batchNonce, signature: row.void_signature } };
}

type RootReads = Pick<PoolChain, 'fetchBatchRootOf' | 'fetchOutRootOf'>;

/** The outputs for which the chain has used the batch nonce, or the first nullifier. Undefined: it has not. */
export async function fetchRoot(
  chain: RootReads,
  row: SubmissionRow,
  block: number | 'latest',
): Promise<string | undefined> {
  if (row.kind === 'spend') {
    return await chain.fetchOutRootOf(row.first_nullifier ?? '', block);
  }
  const { funder, batchNonce } = parseSettlement(row).batch;
  return await chain.fetchBatchRootOf(funder, batchNonce, block);
}

/** Whether the funder withdrew the batch. */
export async function fetchIsVoided(
  chain: Pick<PoolChain, 'fetchIsVoided'>,
  row: SubmissionRow,
  block: number,
): Promise<boolean> {
  if (row.kind === 'spend') {
    return false;
  }
  const { funder, batchNonce } = parseSettlement(row).batch;
  return await chain.fetchIsVoided(funder, batchNonce, block);
}

/** True when a final block shows that it never lands, or that it has landed. */
export async function canNeverLand(
  chain: PoolChain,
  row: SubmissionRow,
  final: FinalBlock,
): Promise<boolean> {
  return (
    Number(row.deadline) < final.timestampSeconds ||
    (await fetchIsVoided(chain, row, final.number)) ||
    (await fetchRoot(chain, row, final.number)) !== undefined
  );
}

/** For each nullifier the outputs of the spend that used it. @param block - default: the head */
export async function fetchOutRoots(
  chain: PoolChain,
  nullifiers: readonly string[],
  block: number | 'latest' = 'latest',
) {
  return await Promise.all(nullifiers.map((nullifier) => chain.fetchOutRootOf(nullifier, block)));
}

/**
 * Dead: a final block shows that it can never land. Its deadline has passed with its inputs unused, it was voided, or an input was
 * used for other outputs.
 * @throws PoolError `chain_unreachable` (503, retryable)
 */
async function isDead(chain: PoolChain, row: SubmissionRow): Promise<boolean> {
  return await askChain(async () => {
    const final = await chain.fetchFinalBlock();
    const roots =
      row.kind === 'settlement'
        ? [await fetchRoot(chain, row, final.number)]
        : await fetchOutRoots(chain, parseSpend(row).spend.nullifiers, final.number);
    if (roots.some((root) => root !== undefined)) {
      return !roots.includes(row.root);
    }
    return (
      final.timestampSeconds > Number(row.deadline) ||
      (await fetchIsVoided(chain, row, final.number))
    );
  });
}

/**
 * Another submission may take the key of a dead one.
 * @param chain - of the one that has the key; undefined: it cannot be asked here
 * @throws PoolError as `conflict`, `chain_unreachable` (503, retryable)
 */
export async function assertMayFollow(
  chain: PoolChain | undefined,
  standing: SubmissionRow,
  conflict: () => PoolError,
): Promise<void> {
  if (chain === undefined || standing.state === 'settled' || !(await isDead(chain, standing))) {
    throw conflict();
  }
}

/** @throws PoolError `invalid-chain` (400) */
export function findChain(
  chains: ReadonlyMap<string, PoolChain>,
  key: string,
  what: 'settles' | 'spends' = 'settles',
): PoolChain {
  const chain = chains.get(key);
  if (chain === undefined) {
    throw new PoolError('invalid-chain', `this platform ${what} on no chain of that key`);
  }
  return chain;
}
