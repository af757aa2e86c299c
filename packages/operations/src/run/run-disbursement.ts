/**
 * The disbursement pipeline (ARCHITECTURE.md): eligibility, allowance, proving, waiting for its turn, signing,
 * approving-allowance, settling. Every step is stored before and after, so a run may end anywhere and the next one
 * continues from the phase of the record ({@link Phase}, with its transitions). In every case the contract receives one
 * `fund()` per key.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { InterruptedRunError, rethrowInterruption, toErrorBody } from '@pool/idempotency/engine';
import { observeAllowance } from '../check/preflight.ts';
import { authorizeBatch } from './authorize-batch.ts';
import { ensureBatch, loadBatch, loadDated, storeRelease } from './batch/batch.ts';
import { decideSettlement } from './batch/decide-settlement.ts';
import { isUnderNonce, judgeRow } from './batch/foreign-settlement.ts';
import { fetchEligibility, proveFirst } from './batch/prove-batch.ts';
import { assertSameRequest } from './job/body-fingerprint.ts';
import { hasEnded, hasLeft } from './job/phases.ts';
import { releaseName } from './job/record.ts';
import {
  createRun,
  type DisbursementDeps,
  type OpenDisbursement,
  openDisbursement,
  type Run,
  type RunBase,
  type RunInput,
} from './job/run.ts';
import {
  concludeChanged,
  configurationChanged,
  findChangedManifest,
} from './settle/changed-configuration.ts';
import { conclude, type Ending } from './settle/conclude.ts';
import { settleBatch } from './settle/settle.ts';
import { mayBeSigned } from './sign/ask-signer.ts';
import { abandonBatch } from './sign/give-up.ts';

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
  const job = openDisbursement(input, deps);
  const base = resolveBase(input, deps);
  if (base instanceof PoolError) {
    return failUnroutable(job, deps, base);
  }
  const run = createRun(job, input.signal, base, deps);
  try {
    await run.passFaultPoint('started');
    await advance(run);
  } finally {
    run.approvalHold.end();
    run.hold.end();
  }
}

/** @returns why the settings do not have what the job needs, if they do not */
function resolveBase(
  { record: { chain, tokenSymbol } }: RunInput,
  { findChain, funder }: DisbursementDeps,
): RunBase | PoolError {
  const context = findChain(chain);
  const token = context?.settings.tokens[tokenSymbol]?.address;
  if (context === undefined) {
    return new PoolError('invalid-chain', `chain ${chain} is not routable any more`);
  }
  if (funder === undefined) {
    return new PoolError('invalid-chain', 'no funder signer is configured for this chain');
  }
  return token === undefined
    ? new PoolError('invalid-token', `token ${tokenSymbol} is no longer configured for this chain`)
    : { context, funder, token };
}

/**
 * The settings no longer have what the job needs. The job fails if this store released nothing of it and the platform has
 * no settlement under its key, neither of another agent nor of this one before its store was restored. Otherwise it waits
 * for the settings.
 */
async function failUnroutable(
  { record: { key }, phase, finish, block }: OpenDisbursement,
  { platform }: DisbursementDeps,
  { code, message }: PoolError,
): Promise<void> {
  const mayBeOut =
    hasLeft(phase) ||
    mayBeSigned(phase) ||
    ('approvals' in phase && phase.approvals.length > 0) ||
    (await platform.getSettlement(key).catch(() => 'unknown')) !== undefined;
  await (mayBeOut
    ? block(
        {
          code: configurationChanged,
          message: `this job may be underway, and the settings no longer cover it: ${message}. Restore them and start the agent again to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`,
        },
        'configuration-changed',
      )
    : finish('failed', { error: { code, message } }));
}

/** Ends the stages before the release: it is known what became of the key. */
class EndingError extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.kind);
    this.ending = ending;
  }
}

/** Takes the job from its phase to its end. */
async function advance(run: Run): Promise<void> {
  const changed = await findChangedManifest(run);
  if (changed !== undefined) {
    return concludeChanged(run, changed);
  }
  if (run.record.blocked !== undefined) {
    await run.note({ blocked: undefined });
  }
  try {
    if (!hasLeft(run.phase)) {
      await prepareRelease(run);
    }
  } catch (error) {
    rethrowInterruption(error, run.signal);
    const ending = error instanceof EndingError ? error.ending : await giveUp(run, error);
    if (ending !== undefined) {
      return conclude(run, ending);
    }
  }
  const batch = await loadDated(run);
  if (batch === undefined) {
    throw new InterruptedRunError(
      'the manifest or the release record of a released batch is missing from the job store',
    );
  }
  const isRefused = run.landing.refusal !== undefined || run.phase.kind === 'abandoned';
  if (!isRefused || run.mayChangeAllowance) {
    // Queues before any batch that has not left yet. The chain is read meanwhile.
    run.hold.claim();
  }
  await conclude(run, await run.within('settling', () => settleBatch(run, batch)));
}

/** Nothing of the job has left this process: proves and signs its batch. @throws why it does not leave */
async function prepareRelease(run: Run): Promise<void> {
  // Nothing of a cancelled job is sent, so it needs no turn.
  await run.assertNotCancelled();
  // A job that may have an allowance or a deadline takes the lock before any job that has neither. During a vote, and before it, a batch
  // has no claim to the lock.
  const isDated = (await run.getValue(releaseName)) !== undefined;
  const isSignedNow = !run.funder.needsVote || run.phase.kind === 'signed';
  if (run.given.approvals.length > 0 || (isDated && isSignedNow)) {
    await run.awaitTurn();
  }
  await reconcile(run);
  if (hasLeft(run.phase)) {
    return;
  }
  // The row may be on other terms (chain, pool, funder), under which this key may have been paid.
  const { key, requestDigest } = run.record;
  await run.retry(() => assertSameRequest(key, requestDigest, run.deps));
  if (run.phase.kind === 'accepted') {
    const eligibility = await run.within('eligibility', async () => {
      const found = await run.retry(() => fetchEligibility(run));
      await run.passFaultPoint('eligibility.confirmed');
      return found;
    });
    if (run.record.allowanceState === undefined) {
      // For the result only: it is reported as it was seen before proving.
      await run.within('allowance', async () => {
        const { context, token, funder, total } = run;
        const target = { chain: context.chain, token, funder: funder.address, total };
        await run.note({ allowanceState: await observeAllowance(target) });
        await run.passFaultPoint('allowance.observed');
      });
    }
    await proveFirst(run, eligibility);
  }
  await authorizeBatch(run, await ensureBatch(run));
}

/**
 * Finds an earlier use of the key, by this agent or another one. Asked before anything is proved, and before a job without a release
 * fails. If the authorisation of this job is out, although the record did not say so, the job is in a phase that says so then.
 * @throws EndingError when the key is used
 */
async function reconcile(run: Run): Promise<void> {
  const { funder, batchNonce } = run;
  const batch = await loadBatch(run);
  for (;;) {
    const nonce = await run.chain.fetchNonceState(funder.address, batchNonce);
    const row = await run.platform.getSettlement(run.record.key);
    const isOwn = row !== undefined && isUnderNonce(row, funder.address, batchNonce);
    const live = isOwn ? row.batch : undefined;
    const deadline = live?.deadline;
    const decision = decideSettlement({ batchRoot: batch?.batchRoot, deadline, nonce });
    const isFinal = decision.kind === 'settled' || decision.kind === 'settled-elsewhere';
    if (!isFinal && !isOwn && row !== undefined && !nonce.pending) {
      // A settlement on other terms has paid the key, or may.
      const error = await judgeRow(run, row);
      if (error !== undefined) {
        throw new EndingError({ kind: 'unpaid', error });
      }
    }
    if (decision.kind !== 'wait') {
      throw new EndingError(decision);
    }
    if (live !== undefined && batch !== undefined && live.batchRoot === batch.batchRoot) {
      // The store was restored from a backup. The authorisation that left counts, and the late-landing rule applies.
      await storeRelease(run, batch, live.deadline);
      const releasedAtMs = run.deps.clock.nowMs();
      return run.move(run.phase.kind === 'signed' ? 'released' : 'recovered', { releasedAtMs });
    }
    if (!nonce.pending && live === undefined) {
      return;
    }
    await run.pause();
  }
}

/**
 * Nothing of the batch has left, and it is not paid. But `failed` promises that the key has no effect on chain, and another agent, or this
 * one before its store was restored, may have sent it. Chain and platform must both show that it is unpaid. The job waits until they
 * answer, because a job that fails and is paid after all would be paid twice.
 * @returns undefined: the authorisation may land, and is watched
 */
async function giveUp(run: Run, error: unknown): Promise<Ending | undefined> {
  if (isPoolError(error) && error.retryable && mayBeSigned(run.phase)) {
    // A vote of hours is not thrown away because of an outage. The deadline of the batch bounds the wait.
    throw new InterruptedRunError('an outage while the batch waits to leave', { cause: error });
  }
  const unpaid: Ending = { kind: 'unpaid', error: toErrorBody(error) };
  if (await abandonBatch(run, unpaid.error)) {
    return undefined;
  }
  try {
    await reconcile(run);
  } catch (cause) {
    if (cause instanceof EndingError) {
      return cause.ending.kind === 'dead' ? unpaid : cause.ending;
    }
    rethrowInterruption(cause);
    throw new InterruptedRunError('chain and platform must say that nothing was paid', { cause });
  }
  return hasLeft(run.phase) ? undefined : unpaid;
}
