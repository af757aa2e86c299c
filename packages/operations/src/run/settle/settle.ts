/**
 * Release, watch, resend or withdraw: from a signed authorisation to an outcome that the chain has finalised (protocol
 * §8, "Late landing"). Only {@link decideSettlement} can end the job here. A released authorisation may land until it is
 * dead, independently of the answers of platform, gate and relayer.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import { type ErrorBody, isPoolError } from '@pool/core';
import { createPacer, rethrowInterruption } from '@pool/idempotency/engine';
import { withinTime } from '../../within-time.ts';
import { computeJobNonce } from '../batch/batch.ts';
import {
  decideSettlement,
  type Outcome,
  type SettlementDecision,
} from '../batch/decide-settlement.ts';
import { type Eligibility, fetchEligibility } from '../batch/eligibility.ts';
import {
  findForeign,
  pickForeign,
  recordForeign,
  settledElsewhere,
} from '../batch/foreign-settlement.ts';
import { isProofCurrent, proveBatch, withAccelerator } from '../batch/prove-batch.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import { createSettlementRequest, isRowOf, keepDelivery } from '../batch/settlement-request.ts';
import { isCancelled } from '../job/cancellation.ts';
import type { Run } from '../job/run.ts';
import { abandonRefused } from '../sign/abandon-batch.ts';
import { VotePendingError } from '../sign/ask-signer.ts';
import { freeAccount } from '../sign/give-approval.ts';
import { grantAllowance } from '../sign/grant-allowance.ts';
import { mayChangeAllowance } from '../sign/pending-approval.ts';
import { postVoid } from '../sign/void-batch.ts';
import { stopApproval } from '../sign/withdraw-allowance.ts';
import { recordError, recordRevert, toRefusal, updateRefusal } from './refusal.ts';

/** @returns what the chain has finalised. Throws interruptions only */
export async function settleBatch(run: Run, batch: DatedBatch): Promise<Outcome> {
  const watch = createWatch(run, batch);
  await keepDelivery(run, batch);
  if (run.phase().kind === 'signed') {
    // Stored before it is sent: after a crash the job must not be reported as failed.
    await run.move('released', { releasedAtMs: run.deps.clock.nowMs() });
    await watch.post();
  }
  for (;;) {
    const decision = await watch.readChain();
    if (decision.kind !== 'wait') {
      await run.passFaultPoint('settling.observed');
      return decision;
    }
    const isGivenUp = run.phase().kind === 'abandoned' || (await isCancelled(run));
    await (isGivenUp ? watch.withdraw() : watch.resendIfRefused());
    await run.pause(run.deps.pollMs);
  }
}

/** The platform's settlement under this key. */
type RowView =
  /** A transaction with the batch nonce of this job may be pending. */
  | 'out'
  /** No transaction of this job is pending. */
  | 'none'
  /** A settlement on other terms may be alive: the batch of this job must not be sent again. */
  | 'foreign'
  /** The platform did not answer. */
  | 'unknown';

type Watch = {
  /** Decides by a fresh reading of the chain. */
  readChain(): Promise<SettlementDecision>;
  /** Reads the platform's row, and sends the batch again if the platform has nothing of it out. */
  resendIfRefused(): Promise<void>;
  /** Reads the platform's row, and sends the funder's withdrawal and nothing else. */
  withdraw(): Promise<void>;
  /** Sends the settlement to the platform. */
  post(): Promise<void>;
};

function createWatch(run: Run, batch: DatedBatch): Watch {
  const { chain } = run.context;
  const { platform } = run.deps;
  const key = run.record().key;
  const nonce = computeJobNonce(run, run.record().employerId, key);
  // The latest deadline of any authorisation known under this nonce. Another agent may have signed one, or this agent
  // before its store was restored.
  let deadline = Math.max(batch.deadline, run.landing().latestDeadline ?? 0);
  // True if the nonce is used and not final, or not known. Sending again could only spend another allowance.
  let mayBeUsed = true;
  // The platform's answer to the last post, if it was an error.
  let postError: unknown;
  let hasPosted = false;
  // What the batch needs before it can be sent again.
  let waitsFor: 'settlement-refused' | 'awaiting-approval' = 'settlement-refused';
  const resending = createPacer(run.deps.clock, run.deps.pollMs);
  const withdrawing = createPacer(run.deps.clock, run.deps.pollMs);
  const stopping = createPacer(run.deps.clock, run.deps.pollMs);

  /** Keeps an error of the outside world from ending the watch. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error, run.signal);
      if (error instanceof VotePendingError) {
        throw error;
      }
      await recordError(run, error);
      return undefined;
    }
  }

  async function recordRow(row: SettlementRecord): Promise<void> {
    const foreign = pickForeign(run, row);
    if (foreign !== undefined) {
      return recordForeign(run, foreign);
    }
    if (row.batch.deadline > deadline) {
      deadline = row.batch.deadline;
      await run.amend({ latestDeadline: deadline });
    }
    if (isRowOf(batch, row) && row.state === 'reverted') {
      await recordRevert(run, batch, row);
    }
  }

  async function readRow(): Promise<RowView> {
    const answer = await attempt(async () => ({ row: await platform.getSettlement(key) }));
    const row = answer?.row;
    if (row !== undefined) {
      await attempt(() => recordRow(row));
    }
    const foreign = await findForeign(run);
    if (foreign !== undefined) {
      await updateRefusal(run, foreign);
      return 'foreign';
    }
    if (answer === undefined) {
      return 'unknown';
    }
    const own = row === undefined || pickForeign(run, row) !== undefined ? undefined : row;
    if (own !== undefined && (!isRowOf(batch, own) || own.state !== 'reverted')) {
      await updateRefusal(run, undefined);
      return 'out';
    }
    // A run that has posted nothing yet keeps the refusal that an earlier run stored.
    const known = hasPosted ? undefined : knownRefusal(run);
    await updateRefusal(run, toRefusal(own, postError) ?? known, waitsFor);
    return 'none';
  }

  async function post(): Promise<void> {
    resending.markTried();
    postError = undefined;
    hasPosted = true;
    await attempt(async () => {
      const phase = run.phase();
      if (phase.kind !== 'released') {
        return;
      }
      const request = createSettlementRequest(batch, phase, run.record(), run.deps.fingerprints);
      try {
        await recordRow(await platform.postSettlement(key, request));
      } catch (error) {
        postError = error;
        throw error;
      }
    });
    await abandonRefused(run, batch, postError);
    await run.passFaultPoint('settling.posted');
  }

  /**
   * Sends the same authorisation again, with a proof and an allowance that are valid now.
   * @returns whether it was sent
   */
  async function resend(): Promise<boolean> {
    // A store without the signature has nothing to send. A batch that cannot be collected now must not take a turn,
    // because others would wait for it.
    const isReady =
      run.phase().kind === 'released' &&
      (await canCollect(run)) &&
      (await attempt(() => renewReleasedProof(run, batch))) === 'current';
    if (!isReady) {
      waitsFor = 'settlement-refused';
      resending.markTried();
      return false;
    }
    if (!run.hold.claim()) {
      return false;
    }
    try {
      let step: Awaited<ReturnType<typeof grantAllowance>> | undefined;
      do {
        step = await attempt(() => grantAllowance(run, batch, 'once'));
      } while (step === 'look-again');
    } catch (error) {
      if (!(error instanceof VotePendingError)) {
        throw error;
      }
      // The same authorisation is sent once its new permit or approval is given.
      waitsFor = 'awaiting-approval';
      resending.markTried();
      return false;
    }
    waitsFor = 'settlement-refused';
    await post();
    return true;
  }

  /**
   * Other batches of the funder and token may go first while the platform says that nothing of this batch is out, and in any case
   * once it is abandoned: its authorisation was never sent, or the platform did not take it, and its withdrawal may wait for a vote until
   * the deadline. They wait while an approval of this batch may still change the allowance.
   */
  function shareTurn(): void {
    freeAccount(run);
    const isIdle = run.landing().refusal !== undefined || run.phase().kind === 'abandoned';
    if (isIdle && !mayChangeAllowance(run)) {
      run.hold.release();
    } else {
      run.hold.claim();
    }
  }

  return {
    post,
    async readChain() {
      const state = await attempt(() => chain.fetchNonceState(run.funder.address, nonce));
      mayBeUsed = state === undefined || state.pending;
      return state === undefined
        ? { kind: 'wait' }
        : decideSettlement({ batchRoot: batch.batchRoot, deadline, nonce: state });
    },
    async resendIfRefused() {
      const view = await readRow();
      const canResend =
        (view === 'none' || view === 'unknown') &&
        !mayBeUsed &&
        resending.isDue() &&
        !(await isPastDeadline(run, batch));
      if (!(canResend && (await resend()))) {
        shareTurn();
      }
    },
    async withdraw() {
      await run.announce('cancelling');
      await readRow();
      if (stopping.isDue()) {
        stopping.markTried();
        await attempt(() => stopApproval(run, batch));
      }
      shareTurn();
      if (mayBeUsed || !withdrawing.isDue()) {
        return;
      }
      withdrawing.markTried();
      try {
        await attempt(() => postVoid(run, batch));
      } catch (error) {
        if (!(error instanceof VotePendingError)) {
          throw error;
        }
      }
    },
  };
}

/** The refusal that an earlier run stored. A settlement on other terms is left out, because it is dead by now. */
function knownRefusal(run: Run): ErrorBody | undefined {
  const { refusal } = run.landing();
  return refusal?.code === settledElsewhere ? undefined : refusal;
}

async function isPastDeadline(run: Run, batch: DatedBatch): Promise<boolean> {
  try {
    return (await run.now()) > batch.deadline;
  } catch (error) {
    rethrowInterruption(error);
    return true;
  }
}

/** How long a chain may take to answer the balance of the funder. */
const readTimeoutMs = 3_000;

/** False: the funder holds less than the total. True too if the chain does not answer. */
async function canCollect(run: Run): Promise<boolean> {
  const { chain } = run.context;
  try {
    const balance = await withinTime(
      chain.fetchTokenBalance(run.token, run.funder.address),
      readTimeoutMs,
    );
    return balance >= run.total;
  } catch {
    return true;
  }
}

/** Proves the same manifest again when the chain no longer accepts the root of the stored proof. */
async function renewReleasedProof(run: Run, batch: DatedBatch): Promise<'current'> {
  if (!(await isProofCurrent(run))) {
    const proved = await withAccelerator(run, async () =>
      proveBatch(run, batch, await refetchEligibility(run)),
    );
    await run.amend({ proved, eligibilityLoss: undefined });
    await run.passFaultPoint('proving.after-store');
  }
  return 'current';
}

/** A wallet that left the list since the release ends the job, but only once the authorisation is dead. */
async function refetchEligibility(run: Run): Promise<Eligibility> {
  try {
    return await fetchEligibility(run);
  } catch (error) {
    if (isPoolError(error) && error.code === 'unregistered-recipient') {
      await run.amend({ eligibilityLoss: { code: error.code, message: error.message } });
    }
    throw error;
  }
}
