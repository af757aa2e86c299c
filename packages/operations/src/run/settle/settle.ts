/**
 * Release, watch, resend or withdraw: from a signed authorisation to an outcome that the chain has finalised (protocol
 * §8, "Late landing"). Only {@link decideSettlement} can end the job here. A released authorisation may land until it is
 * dead, independently of the answers of platform, gate and relayer.
 *
 * A refusal of platform and relayer decides nothing about the job. It is shown while the job waits, it lets other batches of the funder go
 * first, and it explains an end without a payment.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import { type ErrorBody, isPoolError } from '@pool/core';
import { waitAtMost } from '@pool/evm-sender';
import {
  createPacer,
  InterruptedRunError,
  type Pacer,
  rethrowInterruption,
  toErrorBody,
} from '@pool/idempotency/engine';
import {
  createSettlementRequest,
  type DatedBatch,
  keepDelivery,
  loadDated,
} from '../batch/batch.ts';
import {
  decideSettlement,
  findForeign,
  isOwn,
  type Outcome,
  recordForeign,
  settledElsewhere,
} from '../batch/decide-settlement.ts';
import { renewReleasedProof } from '../batch/prove-batch.ts';
import type { Run } from '../job/run.ts';
import { grantAllowance, stopApproval } from '../sign/allowance.ts';
import { freeAccount } from '../sign/approval.ts';
import { askOnce, orVoting } from '../sign/ask-signer.ts';
import { abandonRefused, postVoid } from '../sign/give-up.ts';

/** The longest pause between two readings of a batch that is in a block. */
const maxFinalityPauseMs = 15_000;

/** How long a chain may take to answer the balance of the funder. */
const readTimeoutMs = 3_000;

/** The platform may refuse for hours. The batch is sent again later, and other batches need not wait for it. */
const budgetCode = 'gas_budget_exceeded';

const unknownRevert: ErrorBody = {
  code: 'reverted',
  message: 'The transaction reverted; no node tells why.',
};

/** What one run knows of the batch that it watches. */
type Watch = {
  readonly run: Run;
  readonly batch: DatedBatch;
  /** Paces the posts, the withdrawals, and the questions for an approval. */
  readonly resending: Pacer;
  readonly withdrawing: Pacer;
  readonly stopping: Pacer;
  /** The answer of the platform to the last post. Undefined: this run has posted nothing. */
  posted: { readonly error?: unknown } | undefined;
  /** What the batch needs before it can be sent again. */
  waitsFor: 'settlement-refused' | 'awaiting-approval';
  /** The newest block has the batch, or its withdrawal, and it is not final. */
  isIncluded: boolean;
};

/**
 * @returns what the chain has finalised
 * @throws InterruptedRunError only
 */
export async function settleBatch(run: Run): Promise<Outcome> {
  const batch = await loadDated(run);
  if (batch === undefined) {
    throw new InterruptedRunError(
      'the manifest or the release record of a released batch is missing from the job store',
    );
  }
  const { clock, pollMs } = run.deps;
  const watch: Watch = {
    ...{ run, batch, posted: undefined, waitsFor: 'settlement-refused', isIncluded: false },
    resending: createPacer(clock, pollMs),
    withdrawing: createPacer(clock, pollMs),
    stopping: createPacer(clock, pollMs),
  };
  if (!letsOthersGo(watch)) {
    // Queues before any batch that has not left yet. The chain is read meanwhile.
    run.hold.claim();
  }
  return run.within('settling', () => watchBatch(watch));
}

async function watchBatch(watch: Watch): Promise<Outcome> {
  const { run, batch } = watch;
  await keepDelivery(run, batch);
  if (run.phase.kind === 'signed') {
    // Stored before it is sent: after a crash the job must not be reported as failed.
    await run.move('released', { releasedAtMs: run.deps.clock.nowMs() });
    await post(watch);
  }
  for (let pauseMs = run.deps.pollMs; ; ) {
    const decision = await attempt(run, () => readChain(watch));
    if (decision !== undefined && decision.kind !== 'wait') {
      await run.passFaultPoint('settling.observed');
      return decision;
    }
    watch.isIncluded = decision?.isPending ?? watch.isIncluded;
    // The nonce is used and not final, or not known: sending again could only spend another allowance.
    const mayBeUsed = watch.isIncluded || decision === undefined;
    const isGivenUp = run.phase.kind === 'abandoned' || (await run.isCancelled());
    if (isGivenUp) {
      await withdraw(watch, mayBeUsed);
    } else if (watch.isIncluded) {
      await awaitFinality(watch);
    } else {
      await resendIfRefused(watch, mayBeUsed);
    }
    pauseMs = watch.isIncluded ? Math.min(pauseMs * 1.2, maxFinalityPauseMs) : run.deps.pollMs;
    await run.pause(pauseMs);
  }
}

/**
 * The block has taken the money and the allowance, so the next batch counts on what is left. If the chain drops the block, this batch
 * queues again.
 */
async function awaitFinality(watch: Watch): Promise<void> {
  const { run } = watch;
  shareTurn(watch);
  if (run.landing.refusal !== undefined) {
    await run.amend({ refusal: undefined });
  }
  await run.announce('awaiting-finality');
}

/** The latest deadline counts of any authorisation known under this nonce. Another agent may have signed one, or this one before its store was restored. */
async function readChain({ run, batch }: Watch) {
  const nonce = await run.context.chain.fetchNonceState(run.funder.address, run.batchNonce);
  const deadline = Math.max(batch.deadline, run.landing.latestDeadline ?? 0);
  const decision = decideSettlement({ batchRoot: batch.batchRoot, deadline, nonce });
  return { ...decision, isPending: nonce.pending };
}

/** Keeps an error of the outside world from ending the watch. The last one is stored for the message of `settlement_expired`. */
async function attempt<T>(run: Run, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    rethrowInterruption(error, run.signal);
    const body = toErrorBody(error);
    if (run.landing.lastRefusal?.code !== body.code) {
      run.announceRetry(error);
      await run.amend({ lastRefusal: body });
    }
    return undefined;
  }
}

/** Stores what the platform shows of this key. */
async function recordRow({ run, batch }: Watch, row: SettlementRecord): Promise<void> {
  if (!isOwn(run, row)) {
    return recordForeign(run, row);
  }
  if (row.batch.deadline > Math.max(batch.deadline, run.landing.latestDeadline ?? 0)) {
    await run.amend({ latestDeadline: row.batch.deadline });
  }
  if (row.batch.batchRoot === batch.batchRoot && row.state === 'reverted') {
    await recordRevert(run, row);
  }
}

/**
 * Reads the platform's settlement under this key.
 * @returns whether the batch may be sent again: no transaction with its nonce is pending, and no settlement on other terms is alive, as far
 *   as the platform answers
 */
async function readRow(watch: Watch): Promise<boolean> {
  const { run, batch } = watch;
  const answer = await attempt(run, async () => ({
    row: await run.deps.platform.getSettlement(run.record.key),
  }));
  const row = answer?.row;
  if (row !== undefined) {
    await attempt(run, () => recordRow(watch, row));
  }
  const foreign = await findForeign(run);
  const own = row !== undefined && isOwn(run, row) ? row : undefined;
  const isOut =
    own !== undefined && (own.batch.batchRoot !== batch.batchRoot || own.state !== 'reverted');
  if (foreign !== undefined) {
    await updateRefusal(run, foreign);
  } else if (answer !== undefined) {
    await updateRefusal(run, isOut ? undefined : findRefusal(watch, own), watch.waitsFor);
  }
  return foreign === undefined && !isOut;
}

/** Why no transaction of the platform with this batch is pending. Undefined: nothing says so. */
function findRefusal(
  { run, posted }: Watch,
  own: SettlementRecord | undefined,
): ErrorBody | undefined {
  if (own !== undefined) {
    return own.error ?? unknownRevert;
  }
  // A run that has posted nothing yet keeps the refusal that an earlier run stored. One on other terms is dead by now.
  const { refusal } = run.landing;
  const known = posted !== undefined || refusal?.code === settledElsewhere ? undefined : refusal;
  const error = posted?.error;
  const isRefusal =
    isPoolError(error) &&
    (error.code === budgetCode || (!error.retryable && error.status >= 400 && error.status < 500));
  return isRefusal ? { code: error.code, message: error.message } : known;
}

/** Sends the settlement to the platform. */
async function post(watch: Watch): Promise<void> {
  const { run, batch, resending } = watch;
  resending.markTried();
  watch.posted = {};
  await attempt(run, async () => {
    if (run.phase.kind === 'released') {
      const request = createSettlementRequest(run, batch, run.phase);
      const posting = run.deps.platform.postSettlement(run.record.key, request);
      await posting
        .then((row) => recordRow(watch, row))
        .catch((error: unknown) => {
          watch.posted = { error };
          throw error;
        });
    }
  });
  await abandonRefused(run, batch, watch.posted.error);
  await run.passFaultPoint('settling.posted');
}

/** @param mayBeUsed - the nonce is used and not final, or not known: sending again could only spend another allowance */
async function resendIfRefused(watch: Watch, mayBeUsed: boolean): Promise<void> {
  const { run, batch, resending } = watch;
  const isFree = await readRow(watch);
  const isDue = isFree && !mayBeUsed && resending.isDue() && !(await isPastDeadline(run, batch));
  if (isDue && (await prepareResend(watch))) {
    await post(watch);
  } else {
    shareTurn(watch);
  }
}

/** @returns whether the same authorisation may be sent again, with a proof and an allowance that are valid now */
async function prepareResend(watch: Watch): Promise<boolean> {
  const { run, batch, resending } = watch;
  // A store without the signature has nothing to send. A batch that cannot be collected now must not take a turn,
  // because others would wait for it.
  const isReady =
    run.phase.kind === 'released' &&
    (await canCollect(run)) &&
    (await attempt(run, () => renewReleasedProof(run))) === 'current';
  if (isReady && !run.hold.claim()) {
    return false;
  }
  let step: 'granted' | 'look-again' | 'voting' | undefined;
  do {
    const grant = () => orVoting(grantAllowance(askOnce(run, batch)));
    step = isReady ? await attempt(run, grant) : undefined;
  } while (step === 'look-again');
  // The same authorisation is sent once its new permit or approval is given.
  watch.waitsFor = step === 'voting' ? 'awaiting-approval' : 'settlement-refused';
  const isGranted = isReady && step !== 'voting';
  if (!isGranted) {
    resending.markTried();
  }
  return isGranted;
}

/** Sends the funder's withdrawal and nothing else. */
async function withdraw(watch: Watch, mayBeUsed: boolean): Promise<void> {
  const { run, batch, stopping, withdrawing } = watch;
  await run.announce('cancelling');
  await readRow(watch);
  if (stopping.isDue()) {
    stopping.markTried();
    await attempt(run, () => stopApproval(run, batch));
  }
  shareTurn(watch);
  if (!mayBeUsed && withdrawing.isDue()) {
    withdrawing.markTried();
    await attempt(run, () => orVoting(postVoid(run, batch)));
  }
}

/**
 * Other batches of the funder and token may go once a block has this one, while the platform says that nothing of it is out, and in any
 * case once it is abandoned: its authorisation was never sent, or the platform did not take it, and its withdrawal may wait for a vote
 * until the deadline. They wait while an approval of this batch may still change the allowance.
 */
function letsOthersGo({ run: { landing, phase, mayChangeAllowance }, isIncluded }: Watch): boolean {
  const isOut = landing.refusal === undefined && phase.kind !== 'abandoned';
  return (isIncluded || !isOut) && !mayChangeAllowance;
}

function shareTurn(watch: Watch): void {
  const { run } = watch;
  freeAccount(run);
  if (letsOthersGo(watch)) {
    if (watch.isIncluded) {
      run.hold.leave();
    } else {
      run.hold.release();
    }
  } else {
    run.hold.claim();
  }
}

/**
 * Stores and announces a refusal if it is new.
 * @param refusal - undefined: there is none now
 * @param waitsFor - the stage while there is one
 */
async function updateRefusal(
  run: Run,
  refusal: ErrorBody | undefined,
  waitsFor: Watch['waitsFor'] = 'settlement-refused',
): Promise<void> {
  if (refusal?.code !== run.landing.refusal?.code) {
    await run.amend({
      refusal: refusal === undefined ? undefined : { code: refusal.code, message: refusal.message },
    });
    if (refusal !== undefined) {
      run.deps.onEvent({ kind: 'refused', stage: run.record.stage, code: refusal.code });
    }
  }
  if (run.record.stage !== 'cancelling') {
    await run.announce(refusal === undefined ? 'settling' : waitsFor);
  }
}

/** A mined revert later decides between `partial` and `failed`, so it is stored once the chain confirms it. */
async function recordRevert(run: Run, row: SettlementRecord): Promise<void> {
  const { error, txHash } = row;
  if (error !== undefined && run.landing.lastRefusal?.code !== error.code) {
    await run.amend({ lastRefusal: { code: error.code, message: error.message } });
  }
  if (txHash === undefined || run.landing.revert?.txHash === txHash) {
    return;
  }
  const { chain } = run.context;
  const receipt = await chain.fetchReceipt(txHash);
  if (receipt?.reverted !== true || !receipt.final) {
    return;
  }
  // The row may name any reverted transaction. Only one that carried this batch makes the job `partial`.
  const carried = await chain.fetchCarriedBatch(txHash);
  const { batchRoot, batchNonce } = row.batch;
  if (carried?.batchRoot === batchRoot && carried.batchNonce === batchNonce) {
    const seen = await chain.fetchRevertReason(txHash).catch(() => undefined);
    const isTold = seen !== undefined && seen.code !== 'reverted';
    await run.amend({
      revert: { txHash, error: isTold ? seen : (error ?? seen ?? unknownRevert) },
    });
  }
}

async function isPastDeadline(run: Run, batch: DatedBatch): Promise<boolean> {
  const now = await run.now().catch(rethrowInterruption);
  return now === undefined || now > batch.deadline;
}

/** False: the funder holds less than the total. True too if the chain does not answer. */
async function canCollect({ context, token, funder, total }: Run): Promise<boolean> {
  const balance = context.chain.fetchTokenBalance(token, funder.address);
  return await waitAtMost(balance, readTimeoutMs).then(
    (held) => held >= total,
    () => true,
  );
}
