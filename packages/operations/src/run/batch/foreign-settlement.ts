/**
 * A settlement that the platform holds for a key on other terms: another funder, pool or chain, and so another batch
 * nonce. The contract takes that batch and one of ours, so the key could be paid twice (docs/decisions/0007).
 *
 * Such a settlement counts as paid unless it is provably dead: a final block of its own chain, read by this agent,
 * shows that its nonce is unused and that its deadline has passed or that its funder withdrew it. What this agent
 * cannot check is not dead.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import {
  type ErrorBody,
  type EvmAddress,
  type Hex32,
  isEvmAddress,
  isPoolError,
  PoolError,
  parseEvmAddress,
  peerCode,
} from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { ChainContext, NonceState, PlatformPort } from '../../ports.ts';
import { compareFingerprints, usedForOther } from '../job/body-fingerprint.ts';
import { computeJobNonce, type ForeignSettlement } from '../job/record.ts';
import type { Run } from '../job/run.ts';

/** Code of a job, or of a dry run, whose key has such a settlement. */
export const settledElsewhere = 'settled_elsewhere';

/** The maximum number in one record. A platform that names another settlement each time must not fill the disk. */
const maxKept = 16;

export type KeyPlace = {
  readonly employerId: string;
  readonly key: string;
  readonly findChain: (chain: string) => ChainContext | undefined;
};

/** How a chain is asked: once, or again through an outage. */
type Read = Run['retry'];

function readOnce<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

/** Is the platform's row about this nonce of this funder? Another funder under the same nonce pays another batch. */
export function isUnderNonce(row: SettlementRecord, funder: EvmAddress, nonce: Hex32): boolean {
  const { batch } = row;
  return batch.batchNonce === nonce && batch.funder.toLowerCase() === funder.toLowerCase();
}

/** Is the row about the batch nonce of this job? */
export function isOwn({ funder, batchNonce }: Run, row: SettlementRecord): boolean {
  return isUnderNonce(row, funder.address, batchNonce);
}

function toForeign({ chain, batch, state }: SettlementRecord): ForeignSettlement {
  const { funder, batchNonce, deadline } = batch;
  return { chain, funder, batchNonce, deadline, isSettled: state === 'settled' };
}

/**
 * For the steps before the release.
 * @param row - the platform's, of this key, not under the nonce of this job
 * @returns why the job must end without paying. Undefined: it may pay
 */
export async function judgeRow(run: Run, row: SettlementRecord): Promise<ErrorBody | undefined> {
  const error = await judge(toForeign(row), placeOf(run), run.retry);
  const { key, requestDigest } = run.record;
  const own = run.deps.fingerprints.compute(key, requestDigest);
  const isOther = compareFingerprints(own, row.bodyFingerprint) === 'other';
  return error !== undefined && isOther ? usedForOther : error;
}

/** Asked once more before anything is signed. @throws PoolError the error that {@link judgeRow} returns */
export async function assertNotForeign(run: Run): Promise<void> {
  const row = await run.platform.getSettlement(run.record.key);
  const error = row === undefined || isOwn(run, row) ? undefined : await judgeRow(run, row);
  if (error !== undefined) {
    throw new PoolError(peerCode(error.code), error.message);
  }
}

/**
 * For a dry run: the error of a job under this key, because the platform has a settlement on other terms.
 * @param own - the chain, pool and funder of this agent
 * @throws errors of the platform's client
 */
export async function findForeignUse(
  place: KeyPlace,
  own: { readonly chain: string; readonly funder: EvmAddress },
  platform: Pick<PlatformPort, 'getSettlement'>,
): Promise<ErrorBody | undefined> {
  const row = await platform.getSettlement(place.key);
  const context = place.findChain(own.chain);
  if (row === undefined || context === undefined) {
    return undefined;
  }
  const base = { context, funder: { address: own.funder } };
  const nonce = computeJobNonce(base, place.employerId, place.key);
  return isUnderNonce(row, own.funder, nonce) ? undefined : judge(toForeign(row), place, readOnce);
}

/** Stores that a settlement on other terms was seen, because the platform may lose it and the agent may be restarted. */
export async function recordForeign(run: Run, row: SettlementRecord): Promise<void> {
  const seen = toForeign(row);
  const others = run.record.foreign.filter(
    (one) =>
      one.chain !== seen.chain ||
      one.funder.toLowerCase() !== seen.funder.toLowerCase() ||
      one.batchNonce !== seen.batchNonce,
  );
  const before = run.record.foreign.find((one) => !others.includes(one));
  const isNews =
    before === undefined ? others.length < maxKept : before.isSettled !== seen.isSettled;
  if (isNews && !isOwn(run, row)) {
    await run.note({ foreign: [...others, seen] });
  }
}

/**
 * Why this key must not be paid again. Undefined: each settlement that was seen is dead.
 * @param read - how a chain is asked. Default: once
 */
export async function findForeign(run: Run, read: Read = readOnce): Promise<ErrorBody | undefined> {
  for (const foreign of run.record.foreign) {
    const alive = await judge(foreign, placeOf(run), read);
    if (alive !== undefined) {
      return alive;
    }
  }
  return undefined;
}

function placeOf({ record: { employerId, key }, deps: { findChain } }: Run): KeyPlace {
  return { employerId, key, findChain };
}

/** @returns the error for the user. Undefined: the settlement is provably dead */
async function judge(
  foreign: ForeignSettlement,
  { employerId, key, findChain }: KeyPlace,
  read: Read,
): Promise<ErrorBody | undefined> {
  const context = findChain(foreign.chain);
  if (context === undefined) {
    return mayBePaid(foreign, 'this agent has no such chain configured, so it cannot check');
  }
  // A platform may send any text as the funder. A text that is not an address does not belong to this pool.
  const address = isEvmAddress(foreign.funder) ? parseEvmAddress(foreign.funder) : undefined;
  // The nonce binds the pool (protocol §3), so computing it again shows whether it belongs to the configured pool.
  if (
    address === undefined ||
    computeJobNonce({ context, funder: { address } }, employerId, key) !== foreign.batchNonce
  ) {
    return mayBePaid(foreign, 'it is of another pool than this agent has, so it cannot check');
  }
  let state: NonceState;
  try {
    state = await read(() => context.chain.fetchNonceState(address, foreign.batchNonce));
  } catch (error) {
    rethrowInterruption(error);
    if (!isPoolError(error)) {
      throw error;
    }
    return mayBePaid(foreign, `the RPC of that chain does not tell (${error.code})`);
  }
  if (state.funded !== undefined) {
    return describePaid(state.funded.txHash, foreign.chain, foreign.funder);
  }
  const why = state.pending
    ? 'its transaction is mined and not final yet'
    : foreign.isSettled
      ? 'the platform calls it settled, and the RPC of this agent does not show it'
      : `it can be paid until ${formatTime(foreign.deadline)}`;
  const isDead = state.voided || state.finalBlock.timestampSeconds > foreign.deadline;
  return isDead && !state.pending && !foreign.isSettled ? undefined : mayBePaid(foreign, why);
}

/** The error for a key that was paid by a batch on other terms. */
export function describePaid(txHash: Hex32, chain: string, funder: string): ErrorBody {
  return {
    code: settledElsewhere,
    message: `this Idempotency-Key was already paid by transaction ${txHash} on chain ${chain}, by funder ${funder}, and not by the batch of this job; do not resubmit`,
  };
}

function mayBePaid({ chain, funder }: ForeignSettlement, why: string): ErrorBody {
  return {
    code: settledElsewhere,
    message: `the platform holds a settlement of this Idempotency-Key under other settings than this agent has, on chain ${chain} by funder ${funder}, which is paid or may still be: ${why}; do not resubmit, find out what became of it first`,
  };
}

/** A platform may send any number. */
function formatTime(seconds: number): string {
  const milliseconds = seconds * 1000;
  return Math.abs(milliseconds) <= 8.64e15
    ? new Date(milliseconds).toISOString()
    : `Unix time ${seconds}`;
}
