/**
 * Release, watch, resend: from a signed authorisation to an outcome the chain has finalised (protocol §8,
 * "Late landing"). Nothing in here can fail the job but {@link decideSettlement}: once released, an
 * authorisation may land until it is dead, whatever platform, gate or relayer answer in between.
 *
 * @module
 */
import { type ErrorBody, isPoolError, type SettlementRecord } from '@pool/core';
import { type Batch, computeJobNonce } from './batch.ts';
import { decideSettlement, type SettlementDecision } from './decide-settlement.ts';
import { type Eligibility, fetchEligibility } from './eligibility.ts';
import { grantAllowance } from './grant-allowance.ts';
import { InterruptedRunError, rethrowInterruption } from './interrupted-run.ts';
import { proveBatch, withAccelerator } from './prove-batch.ts';
import type { DatedBatch } from './release-record.ts';
import { createRetryEvent, type Run } from './run.ts';
import { createSettlementRequest, isRowOf, isUnderNonce } from './settlement-request.ts';

export type Outcome = Exclude<SettlementDecision, { readonly kind: 'wait' }>;

/** How long a resend of a refused settlement waits at least, and at most. */
const resendMinMs = 2_000;
const resendMaxMs = 60_000;

/** @returns what the chain has finalised. Only interruptions end it otherwise. */
export async function settleBatch(run: Run, batch: DatedBatch): Promise<Outcome> {
  const watch = createWatch(run, batch);
  if (run.record().releasedAtMs === undefined) {
    await run.update({ releasedAtMs: run.deps.clock.nowMs() });
    await run.reach('settling.released');
    await watch.post();
  }
  for (;;) {
    const decision = await watch.look();
    if (decision.kind !== 'wait') {
      await run.reach('settling.observed');
      return decision;
    }
    await watch.attend();
    await run.pause(run.deps.pollMs);
  }
}

type Watch = {
  /** What the chain says now. */
  look(): Promise<SettlementDecision>;
  /** Reads the platform's row and sends again what can be sent again. */
  attend(): Promise<void>;
  post(): Promise<void>;
};

function createWatch(run: Run, batch: DatedBatch): Watch {
  const { chain } = run.context;
  const { platform, clock, pollMs } = run.deps;
  const key = run.record().key;
  const nonce = computeJobNonce(run, run.record().employerId, key);
  // The latest of any authorisation known under our nonce: another agent's lives until its own, and so does one of
  // ours that a restored store has forgotten.
  let deadline = Math.max(batch.deadline, run.record().latestDeadline ?? 0);
  // Used but not final, or not known: sending again could only spend another allowance.
  let mayBeUsed = true;
  let resendAtMs = 0;
  let resendWaitMs = Math.max(resendMinMs, pollMs);

  /** Keeps an error of the outside world from ending the watch. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error);
      if (run.signal.aborted) {
        throw new InterruptedRunError('shutting down or lease lost', { cause: error });
      }
      await remember(run, error);
      return undefined;
    }
  }

  async function note(row: SettlementRecord): Promise<void> {
    if (!isUnderNonce(row, run.funder.address, nonce)) {
      return;
    }
    if (row.batch.deadline > deadline) {
      deadline = row.batch.deadline;
      await run.update({ latestDeadline: deadline });
    }
    if (isRowOf(batch, row) && row.state === 'reverted') {
      await noteRevert(run, batch, row);
    }
  }

  async function post(): Promise<void> {
    resendAtMs = clock.nowMs() + resendWaitMs;
    resendWaitMs = Math.min(2 * resendWaitMs, resendMaxMs);
    await attempt(async () => {
      const { proved, signature } = run.record();
      if (proved === undefined || signature === undefined) {
        return;
      }
      const request = createSettlementRequest(batch, proved, run.record(), signature);
      await note(await platform.postSettlement(key, request));
    });
    await run.reach('settling.posted');
  }

  return {
    post,
    async look() {
      const state = await attempt(() => chain.fetchNonceState(run.funder.address, nonce));
      mayBeUsed = state === undefined || state.pending;
      return state === undefined
        ? { kind: 'wait' }
        : decideSettlement({ batchRoot: batch.batchRoot, deadline, nonce: state });
    },
    async attend() {
      const answer = await attempt(async () => ({ row: await platform.getSettlement(key) }));
      const row = answer?.row;
      if (row !== undefined) {
        await attempt(() => note(row));
      }
      const isUnderway = row !== undefined && (!isRowOf(batch, row) || row.state !== 'reverted');
      if (
        mayBeUsed ||
        isUnderway ||
        clock.nowMs() < resendAtMs ||
        (await isPastDeadline(run, batch))
      ) {
        return;
      }
      await attempt(() => refresh(run, batch));
      await post();
    },
  };
}

async function isPastDeadline(run: Run, batch: DatedBatch): Promise<boolean> {
  try {
    return (await run.now()) > batch.deadline;
  } catch (error) {
    rethrowInterruption(error);
    return true;
  }
}

/** Renews what may have gone stale, and only that: the authorisation itself stays the same. */
async function refresh(run: Run, batch: DatedBatch): Promise<void> {
  const { proved } = run.record();
  if (
    proved === undefined ||
    !(await run.context.chain.isEligibilityRootAccepted(proved.eligibilityRoot))
  ) {
    const fresh = await withAccelerator(run, async () =>
      proveBatch(run, batch, await refetchEligibility(run)),
    );
    await run.update({ proved: fresh, lostPlace: null });
    await run.reach('proving.after-store');
  }
  await grantAllowance(run, batch);
}

/** A wallet that lost its place since the release ends the job once the authorisation is dead. */
async function refetchEligibility(run: Run): Promise<Eligibility> {
  try {
    return await fetchEligibility(run);
  } catch (error) {
    if (isPoolError(error) && error.code === 'unregistered-recipient') {
      await run.update({ lostPlace: { code: error.code, message: error.message } });
    }
    throw error;
  }
}

const unknownRevert: ErrorBody = {
  code: 'reverted',
  message: 'The transaction reverted; no node tells why.',
};

/** A mined revert decides between `partial` and `failed` later, so it is kept once the chain confirms it. */
async function noteRevert(run: Run, batch: Batch, row: SettlementRecord): Promise<void> {
  if (row.error !== undefined) {
    await rememberBody(run, row.error);
  }
  const { txHash } = row;
  if (txHash === undefined || run.record().revert?.txHash === txHash) {
    return;
  }
  const { chain } = run.context;
  const receipt = await chain.fetchReceipt(txHash);
  if (receipt?.reverted !== true || !receipt.final) {
    return;
  }
  // The row may name any reverted transaction: only one that carried our batch makes this job `partial`.
  const carried = await chain.fetchCarriedBatch(txHash);
  if (carried?.batchRoot !== batch.batchRoot || carried.batchNonce !== row.batch.batchNonce) {
    return;
  }
  const seen = await chain.fetchRevertReason(txHash).catch(() => undefined);
  const isTold = seen !== undefined && seen.code !== 'reverted';
  const error = isTold ? seen : (row.error ?? seen ?? unknownRevert);
  await run.update({ revert: { txHash, error } });
}

async function remember(run: Run, error: unknown): Promise<void> {
  const body = isPoolError(error)
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'an unexpected error; see the log of the agent' };
  if (run.record().lastRefusal?.code !== body.code) {
    run.deps.onEvent(createRetryEvent(run.record().stage, error));
  }
  await rememberBody(run, body);
}

/** Kept for the message of `settlement_expired`; written only when it changes. */
async function rememberBody(run: Run, body: ErrorBody): Promise<void> {
  if (run.record().lastRefusal?.code !== body.code) {
    await run.update({ lastRefusal: { code: body.code, message: body.message } });
  }
}
