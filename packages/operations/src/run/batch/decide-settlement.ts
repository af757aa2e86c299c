/**
 * What chain and platform show of a key. First the settlements on other terms, then the late-landing rule (protocol §8) as one pure
 * decision: what the final state of the chain means for a batch whose authorisation may have left this process. `failed` and `partial`
 * require a dead authorisation. Everything uncertain waits.
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
import { computeSealedNotesHash } from '@pool/notes';
import type { ChainContext, FundedBatch, NonceState, PlatformPort } from '../../ports.ts';
import { compareFingerprints, usedForOther } from '../job/body-fingerprint.ts';
import { computeJobNonce, type ForeignSettlement } from '../job/record.ts';
import type { Run } from '../job/run.ts';

// A settlement that the platform holds for a key on other terms: another funder, pool or chain, and so another batch
// nonce. The contract takes that batch and one of ours, so the key could be paid twice (docs/decisions/0007).
//
// Such a settlement counts as paid unless it is provably dead: a final block of its own chain, read by this agent,
// shows that its nonce is unused and that its deadline has passed or that its funder withdrew it. What this agent
// cannot check is not dead.

/** Code of a job, or of a dry run, whose key has such a settlement. */
export const settledElsewhere = 'settled_elsewhere';

/** The maximum number in one record. A platform that names another settlement each time must not fill the disk. */
const maxKept = 16;

type KeyPlace = {
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
function isUnderNonce(row: SettlementRecord, funder: EvmAddress, nonce: Hex32): boolean {
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
async function judgeRow(run: Run, row: SettlementRecord): Promise<ErrorBody | undefined> {
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

export type SettlementDecision =
  /** The batch of this job is on chain, no matter who sent it. */
  | { readonly kind: 'settled'; readonly funded: FundedBatch }
  /** Another batch used this nonce, so another agent paid this key. */
  | { readonly kind: 'settled-elsewhere'; readonly funded: FundedBatch }
  /** The authorisation can never land. */
  | { readonly kind: 'dead'; readonly cause: 'expired' | 'voided' }
  | { readonly kind: 'wait' };

/** What the chain has decided. */
export type Outcome = Exclude<SettlementDecision, { readonly kind: 'wait' }>;

export type SettlementView = {
  /** Undefined: this process knows no batch of this job. */
  readonly batchRoot: Hex32 | undefined;
  /**
   * Unix seconds, the latest deadline of any authorisation known under this nonce. Undefined: none is known to have
   * left, so there is nothing to wait for.
   */
  readonly deadline: number | undefined;
  readonly nonce: NonceState;
};

export function decideSettlement(view: SettlementView): SettlementDecision {
  const { batchRoot, deadline, nonce } = view;
  if (nonce.funded !== undefined) {
    return nonce.funded.batchRoot === batchRoot
      ? { kind: 'settled', funded: nonce.funded }
      : { kind: 'settled-elsewhere', funded: nonce.funded };
  }
  // Mined and not final: a reorganisation may still remove it.
  if (nonce.pending) {
    return { kind: 'wait' };
  }
  if (nonce.voided) {
    return { kind: 'dead', cause: 'voided' };
  }
  if (deadline !== undefined && nonce.finalBlock.timestampSeconds > deadline) {
    return { kind: 'dead', cause: 'expired' };
  }
  return { kind: 'wait' };
}

/** What chain and platform show of one nonce, and of the key. */
type KeyUse = {
  readonly nonce: NonceState;
  readonly decision: SettlementDecision;
  /** The platform's settlement under this nonce. */
  readonly own: SettlementRecord | undefined;
  /** Why the job must not pay: a settlement of the key on other terms has paid it, or may. */
  readonly other: ErrorBody | undefined;
};

/** @param under - the nonce, the root of its batch, and the deadlines of what may have left under it, as far as they are known */
export async function readUse(
  run: Run,
  under: {
    readonly funder: EvmAddress;
    readonly batchNonce: Hex32;
    readonly batchRoot: Hex32 | undefined;
    readonly deadlines: readonly (number | undefined)[];
  },
): Promise<KeyUse> {
  const { funder, batchNonce, batchRoot } = under;
  const nonce = await run.chain.fetchNonceState(funder, batchNonce);
  const row = await run.platform.getSettlement(run.record.key);
  const own = row !== undefined && isUnderNonce(row, funder, batchNonce) ? row : undefined;
  const known = [...under.deadlines, own?.batch.deadline].filter((one) => one !== undefined);
  const deadline = known.length === 0 ? undefined : Math.max(...known);
  const decision = decideSettlement({ batchRoot, deadline, nonce });
  const isOpen = nonce.funded === undefined && !nonce.pending;
  const isForeign = isOpen && row !== undefined && own === undefined;
  const judged = isForeign ? await judgeRow(run, row) : undefined;
  const other = judged ?? (isOpen ? await findForeign(run, run.retry) : undefined);
  return { nonce, decision, own, other };
}

/**
 * Whether the batch on chain is the payment that this job requests. Its batchId was used by a batch that this agent did not build
 * (protocol §8, case (c)). The batchId binds the funder, so its money has moved: another agent has paid the key, or this one before its
 * store was lost. The platform's row of the key says what was paid. It counts only as far as the event on chain and the request of this
 * job confirm it.
 *
 * The chain does not show single amounts. They are taken from the request, whose sum the chain confirms, and only if the
 * keyed fingerprint in the row shows that the other agent received the same request. Which commitment belongs to which P
 * is known from the platform only.
 *
 * @param row - of this key
 * @param transferred - base units of the funder's tokens that the transaction moved into the pool
 * @returns for each recipient of the request the commitment of its note. A text: why it cannot be told that this request was paid
 */
export function readPaidCommitments(
  run: Run,
  row: SettlementRecord | undefined,
  funded: FundedBatch,
  transferred: bigint,
): readonly Hex32[] | string {
  const { key, requestDigest, recipients } = run.record;
  if (row === undefined) {
    return 'the platform has no settlement of this key';
  }
  const { batch, sealedNotes } = row;
  const own = run.deps.fingerprints.compute(key, requestDigest);
  const bodies = compareFingerprints(own, row.bodyFingerprint);
  const sealed = sealedNotes.map((note) => note.sealed);
  // Each recipient's P must be in a slot of its own. Other slots may be dummies.
  const slots = new Map<string, Hex32[]>();
  for (const [slot, { encryptionPublicKey }] of sealedNotes.entries()) {
    const commitment = funded.commitments[slot];
    const known = slots.get(encryptionPublicKey) ?? [];
    slots.set(encryptionPublicKey, commitment === undefined ? known : [...known, commitment]);
  }
  const found = recipients
    .map(({ encryptionPublicKey }) => slots.get(encryptionPublicKey)?.shift())
    .filter((commitment) => commitment !== undefined);
  const conditions: readonly (readonly [boolean, string])[] = [
    [bodies !== 'other', 'another body was paid under it'],
    [
      bodies === 'same',
      'the agent that paid it has another DISBURSE_FINGERPRINT_KEY or none, so it is unknown whether the body was the same',
    ],
    [
      batch.batchNonce === run.batchNonce &&
        batch.batchRoot === funded.batchRoot &&
        batch.commitments.join() === funded.commitments.join(),
      "the platform's settlement is not the one on chain",
    ],
    [
      batch.sealedNotesHash === funded.sealedNotesHash &&
        computeSealedNotesHash(sealed) === funded.sealedNotesHash &&
        sealed.length === funded.commitments.length,
      "the platform's sealed notes are not the ones on chain",
    ],
    [
      batch.token.toLowerCase() === run.token.toLowerCase() &&
        batch.funder.toLowerCase() === run.funder.address.toLowerCase() &&
        BigInt(batch.total) === run.total &&
        transferred === run.total,
      'token, funder or total differ from this request',
    ],
    [
      found.length === recipients.length,
      'a recipient of this request has no note in the batch on chain',
    ],
  ];
  const failed = conditions.find(([isMet]) => !isMet);
  return failed === undefined ? found : failed[1];
}
