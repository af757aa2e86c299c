/**
 * The disbursement pipeline (ARCHITECTURE.md): eligibility, allowance, proving, waiting for its turn, signing,
 * approving-allowance, settling. Every step is stored before and after, so a run may end anywhere and the next one
 * continues from the phase of the record ({@link Phase}, with its transitions). In every case the contract receives one
 * `fund()` per key.
 *
 * @module
 */
import { type ErrorBody, isPoolError, PoolError } from '@pool/core';
import {
  BlockedRunError,
  InterruptedRunError,
  movePhase,
  rethrowInterruption,
} from '@pool/idempotency/engine';
import { observeAllowance } from '../check/observe-allowance.ts';
import { authorizeBatch } from './authorize-batch.ts';
import { computeJobNonce, ensureBatch, loadBatch } from './batch/batch.ts';
import { decideSettlement, type Outcome } from './batch/decide-settlement.ts';
import { type Eligibility, fetchEligibility } from './batch/eligibility.ts';
import { judgeRow } from './batch/foreign-settlement.ts';
import {
  assertRealProver,
  currentEligibility,
  proveBatch,
  withAccelerator,
} from './batch/prove-batch.ts';
import { type DatedBatch, loadDated, storeRelease } from './batch/release-record.ts';
import { isUnderNonce } from './batch/settlement-request.ts';
import { assertSameRequest } from './job/body-fingerprint.ts';
import { assertNotCancelled } from './job/cancellation.ts';
import { disbursementPhases, hasEnded, hasLeft, type Phase } from './job/phases.ts';
import type { Batch } from './job/plan-batch.ts';
import { cancellationName, releaseName, serializeRecord } from './job/record.ts';
import {
  createRun,
  type DisbursementDeps,
  findTokenAddress,
  type Run,
  type RunBase,
  type RunInput,
} from './job/run.ts';
import {
  concludeChanged,
  configurationChanged,
  findChangedManifest,
} from './settle/changed-configuration.ts';
import { concludeFailed, concludeRun } from './settle/conclude.ts';
import { settleBatch } from './settle/settle.ts';
import { abandonBatch } from './sign/abandon-batch.ts';
import { mayBeSigned } from './sign/ask-signer.ts';
import { mayChangeAllowance } from './sign/pending-approval.ts';

/**
 * Works on one leased job until it is `done` or `failed`.
 *
 * @example
 * await runDisbursement({ record: deserializeRecord(job.payload), journal, signal: shutdown.signal }, deps);
 *
 * @throws InterruptedRunError when it stopped without an outcome. Lease the job again to continue
 */
export async function runDisbursement(input: RunInput, deps: DisbursementDeps): Promise<void> {
  const { phase } = input.record;
  if (hasEnded(phase)) {
    throw new InterruptedRunError(`the job has ended: it is ${phase.kind}`);
  }
  let base: RunBase;
  try {
    base = resolveBase(input, deps);
  } catch (error) {
    return failUnroutable(input, deps, error);
  }
  const run = createRun(input, phase, base, deps);
  try {
    await run.passFaultPoint('started');
    await advance(run);
  } finally {
    run.approvalHold.end();
    run.hold.end();
  }
}

function resolveBase(input: RunInput, deps: DisbursementDeps): RunBase {
  const { record } = input;
  const context = deps.findChain(record.chain);
  if (context === undefined) {
    throw new PoolError('invalid-chain', `chain ${record.chain} is not routable any more`);
  }
  if (deps.funder === undefined) {
    throw new PoolError('invalid-chain', 'no funder signer is configured for this chain');
  }
  return { context, funder: deps.funder, token: findTokenAddress(context, record.tokenSymbol) };
}

/**
 * The settings no longer have what the job needs. The job fails if this store released nothing of it and the platform has
 * no settlement under its key, neither of another agent nor of this one before its store was restored. Otherwise it waits
 * for the settings.
 */
async function failUnroutable(
  { record, journal }: RunInput,
  { platform, onEvent }: DisbursementDeps,
  cause: unknown,
): Promise<void> {
  const mayBeOut =
    hasLeft(record.phase) ||
    mayBeSigned(record.phase) ||
    ('approvals' in record.phase && record.phase.approvals.length > 0) ||
    (await platform.getSettlement(record.key).catch(() => 'unknown')) !== undefined;
  const error = toErrorBody(cause);
  if (mayBeOut) {
    return blockUnroutable(record, journal, error);
  }
  const phase = movePhase<Phase>(disbursementPhases, record.phase, 'failed', {
    error,
    before: record.phase,
  });
  const failed = { ...record, stage: undefined, blocked: undefined, phase };
  await journal.save('failed', serializeRecord(failed));
  onEvent({ kind: 'outcome', state: 'failed', code: error.code });
}

/** @throws BlockedRunError */
async function blockUnroutable(
  record: RunInput['record'],
  journal: RunInput['journal'],
  cause: ErrorBody,
): Promise<never> {
  const error: ErrorBody = {
    code: configurationChanged,
    message: `this job may be underway, and the settings no longer cover it: ${cause.message}. Restore them and start the agent again to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`,
  };
  const isCancelled = (await journal.getValue(cancellationName)) !== undefined;
  const known = record.blocked;
  if (known?.message !== error.message || known.isCancelled !== isCancelled) {
    const blocked = { ...error, isCancelled };
    const stage = 'configuration-changed';
    await journal.save('submitted', serializeRecord({ ...record, stage, blocked }));
  }
  throw new BlockedRunError(error);
}

/** Takes the job from its phase to its end. */
async function advance(run: Run): Promise<void> {
  const changed = await findChangedManifest(run);
  if (changed !== undefined) {
    return concludeChanged(run, changed);
  }
  if (run.record().blocked !== undefined) {
    await run.note({ blocked: undefined });
  }
  await (hasLeft(run.phase()) ? finishReleased(run) : payUnreleased(run));
}

/** Nothing of the job has left this process: proves, signs and releases its batch, or ends the job. */
async function payUnreleased(run: Run): Promise<void> {
  let batch: DatedBatch | undefined;
  try {
    // Nothing of a cancelled job is sent, so it needs no turn.
    await assertNotCancelled(run);
    // A job that may have an allowance or a deadline takes the lock before any job that has neither.
    if (await isUnderway(run)) {
      await run.awaitTurn();
    }
    const prepared = await prepareBatch(run);
    if (prepared.kind === 'outcome') {
      return await concludeRun(run, prepared.batch, prepared.outcome);
    }
    if (prepared.kind === 'foreign') {
      return await concludeFailed(run, prepared.error);
    }
    if (prepared.kind === 'ready') {
      batch = await authorizeBatch(run, prepared.batch);
    }
  } catch (error) {
    rethrowInterruption(error, run.signal);
    return giveUp(run, error);
  }
  await finishReleased(run, batch);
}

/** During a vote, and before it, a batch has no claim to the lock. */
async function isUnderway(run: Run): Promise<boolean> {
  const isReleaseStored = (await run.journal.getValue(releaseName)) !== undefined;
  return (
    run.given().approvals.length > 0 ||
    (isReleaseStored && (!run.funder.needsVote || run.phase().kind === 'signed'))
  );
}

/** Nothing of the batch has left, and it is not paid. */
async function giveUp(run: Run, error: unknown): Promise<void> {
  if (isPoolError(error) && error.retryable && mayBeSigned(run.phase())) {
    // A vote of hours is not thrown away because of an outage. The deadline of the batch bounds the wait.
    throw new InterruptedRunError('an outage while the batch waits to leave', { cause: error });
  }
  const body = toErrorBody(error);
  const abandoned = await abandonBatch(run, body);
  return abandoned === undefined ? concludeUnreleased(run, body) : finishReleased(run, abandoned);
}

/**
 * Nothing of this run has left, but `failed` promises that the key has no effect on chain, and another agent, or this one
 * before its store was restored, may have sent it. Chain and platform must both show that it is unpaid. The job waits until
 * they answer, because a job that fails and is paid after all would be paid twice.
 */
async function concludeUnreleased(run: Run, error: ErrorBody): Promise<void> {
  let earlier: EarlierUse | undefined;
  try {
    earlier = await reconcile(run);
  } catch (cause) {
    rethrowInterruption(cause);
    throw new InterruptedRunError('chain and platform must say that nothing was paid', { cause });
  }
  if (earlier === undefined || (earlier.kind === 'outcome' && earlier.outcome.kind === 'dead')) {
    return concludeFailed(run, error);
  }
  if (earlier.kind === 'foreign') {
    return concludeFailed(run, earlier.error);
  }
  return earlier.kind === 'outcome'
    ? concludeRun(run, earlier.batch, earlier.outcome)
    : finishReleased(run);
}

/** An earlier use of this key, by this agent or another one. */
type EarlierUse =
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly batch: Batch | undefined }
  /** A settlement on other terms has paid the key, or may. */
  | { readonly kind: 'foreign'; readonly error: ErrorBody }
  /** The authorisation of this job is out, although the record did not say so. */
  | { readonly kind: 'released' };

type Prepared = EarlierUse | { readonly kind: 'ready'; readonly batch: Batch };

/** Everything up to a proof. Nothing is signed. */
async function prepareBatch(run: Run): Promise<Prepared> {
  const earlier = await reconcile(run);
  if (earlier !== undefined) {
    return earlier;
  }
  // The row may be on other terms (chain, pool, funder), under which this key may have been paid.
  const { key, requestDigest } = run.record();
  await run.retry(() => assertSameRequest(key, requestDigest, run.deps));
  if (run.phase().kind !== 'accepted') {
    return { kind: 'ready', batch: await ensureBatch(run) };
  }
  const eligibility = await confirmEligibility(run);
  await readAllowanceOnce(run);
  return { kind: 'ready', batch: await prove(run, eligibility) };
}

/**
 * Finds an earlier use of the key. Asked before anything is proved, and before a job without a release fails.
 * @returns undefined: the key is unused
 */
async function reconcile(run: Run): Promise<EarlierUse | undefined> {
  const { platform, pollMs } = run.deps;
  const { key, employerId } = run.record();
  const nonce = computeJobNonce(run, employerId, key);
  const batch = await loadBatch(run);
  for (;;) {
    const state = await run.retry(() =>
      run.context.chain.fetchNonceState(run.funder.address, nonce),
    );
    const row = await run.retry(() => platform.getSettlement(key));
    const live =
      row !== undefined && isUnderNonce(row, run.funder.address, nonce) ? row.batch : undefined;
    const deadline = live?.deadline;
    const decision = decideSettlement({ batchRoot: batch?.batchRoot, deadline, nonce: state });
    if (decision.kind === 'settled' || decision.kind === 'settled-elsewhere') {
      return { kind: 'outcome', outcome: decision, batch };
    }
    const error = state.pending ? undefined : await judgeRow(run, row, run.retry);
    if (error !== undefined) {
      return { kind: 'foreign', error };
    }
    if (decision.kind === 'dead') {
      return { kind: 'outcome', outcome: decision, batch };
    }
    if (live !== undefined && batch !== undefined && live.batchRoot === batch.batchRoot) {
      // The store was restored from a backup. The authorisation that left counts, and the late-landing rule applies.
      await storeRelease(run, batch, live.deadline);
      const releasedAtMs = run.deps.clock.nowMs();
      await run.move(run.phase().kind === 'signed' ? 'released' : 'recovered', { releasedAtMs });
      return { kind: 'released' };
    }
    if (!state.pending && live === undefined) {
      return undefined;
    }
    await run.pause(pollMs);
  }
}

async function confirmEligibility(run: Run): Promise<Eligibility> {
  return run.within('eligibility', async () => {
    const eligibility = await run.retry(() => fetchEligibility(run));
    await run.passFaultPoint('eligibility.confirmed');
    return eligibility;
  });
}

/** For the result only: it is reported as it was seen before proving. */
async function readAllowanceOnce(run: Run): Promise<void> {
  if (run.record().allowanceState !== undefined) {
    return;
  }
  await run.within('allowance', async () => {
    const allowanceState = await observeAllowance({
      chain: run.context.chain,
      token: run.token,
      funder: run.funder.address,
      total: run.total,
    });
    await run.note({ allowanceState });
    await run.passFaultPoint('allowance.observed');
  });
}

async function prove(run: Run, eligibility: Eligibility): Promise<Batch> {
  assertRealProver(run);
  return run.within('proving', () =>
    withAccelerator(run, async () => {
      const batch = await ensureBatch(run);
      const proved = await proveBatch(run, batch, await currentEligibility(run, eligibility));
      await run.move('proved', { proved, votes: [] });
      return batch;
    }),
  );
}

/** @param ready - the batch that this run has just signed. Default: the one that is stored */
async function finishReleased(run: Run, ready?: DatedBatch): Promise<void> {
  const batch = ready ?? (await loadDated(run));
  if (batch === undefined) {
    throw new InterruptedRunError(
      'the manifest or the release record of a released batch is missing from the job store',
    );
  }
  const isRefused = run.landing().refusal !== undefined || run.phase().kind === 'abandoned';
  if (!isRefused || mayChangeAllowance(run)) {
    // Queues before any batch that has not left yet. The chain is read meanwhile.
    run.hold.claim();
  }
  const outcome = await run.within('settling', () => settleBatch(run, batch));
  await concludeRun(run, batch, outcome);
}

function toErrorBody(error: unknown): ErrorBody {
  return isPoolError(error)
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'an unexpected error; see the log of the agent' };
}
