/**
 * The disbursement pipeline (ARCHITECTURE.md): eligibility, allowance, proving, waiting for its turn, signing,
 * approving-allowance, settling. Every step is stored before and after, so a run may end anywhere and the next one
 * continues from the phase of the record ({@link Phase}, with its transitions). In every case the contract receives one
 * `fund()` per key.
 *
 * @module
 */
import { assertAmount, isPoolError, PoolError } from '@pool/core';
import {
  InterruptedRunError,
  isTooLateToLeave,
  openJob,
  rethrowInterruption,
  toErrorBody,
} from '@pool/idempotency/engine';
import { observeAllowance, observeFunds } from '../check/preflight.ts';
import {
  type DatedBatch,
  ensureBatch,
  ensureRelease,
  listDifferences,
  loadBatch,
  loadManifest,
  storeRelease,
} from './batch/batch.ts';
import { assertNotForeign, readUse } from './batch/decide-settlement.ts';
import { fetchEligibility, proveFirst, renewStaleProof } from './batch/prove-batch.ts';
import { assertSameRequest } from './job/body-fingerprint.ts';
import { disbursementPhases, hasEnded, hasLeft } from './job/phases.ts';
import { type Batch, releaseName } from './job/record.ts';
import {
  createRun,
  type DisbursementDeps,
  type DisbursementTypes,
  peopleStages,
  type Run,
  type RunInput,
} from './job/run.ts';
import {
  conclude,
  concludeChanged,
  type Ending,
  failUnroutable,
  resolveBase,
} from './settle/conclude.ts';
import { settleBatch } from './settle/settle.ts';
import { grantAllowance } from './sign/allowance.ts';
import { askForSignature, createAuthorizationRequest, mayBeSigned } from './sign/ask-signer.ts';
import { assertWindowOpen, awaitRelease } from './sign/await-release.ts';
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
  const job = openJob<DisbursementTypes>(disbursementPhases, input, { ...deps, peopleStages });
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

/** Takes the job from its phase to its end. */
async function advance(run: Run): Promise<void> {
  const seeded = await loadManifest(run);
  if (seeded !== undefined && listDifferences(run, seeded.manifest).length > 0) {
    return concludeChanged(run, seeded);
  }
  if (run.record.blocked !== undefined) {
    await run.note({ blocked: undefined });
  }
  const ending = hasLeft(run.phase)
    ? undefined
    : await prepareRelease(run).catch((error: unknown) => giveUp(run, error));
  await conclude(run, ending ?? (await settleBatch(run)));
}

/**
 * Nothing of the job has left this process: proves and signs its batch.
 * @returns what became of the key before. Undefined: the batch may leave
 * @throws why it does not leave
 */
async function prepareRelease(run: Run): Promise<Ending | undefined> {
  // Nothing of a cancelled job is sent, so it needs no turn.
  await run.assertNotCancelled();
  // A job that may have an allowance or a deadline takes the lock before any job that has neither. During a vote, and before it, a batch
  // has no claim to the lock.
  const isDated = (await run.getValue(releaseName)) !== undefined;
  const isSignedNow = !run.funder.needsVote || run.phase.kind === 'signed';
  if (run.given.approvals.length > 0 || (isDated && isSignedNow)) {
    await run.awaitTurn();
  }
  const ending = await reconcile(run);
  if (ending !== undefined || hasLeft(run.phase)) {
    return ending;
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
  await authorizeBatch(run);
  return undefined;
}

/**
 * From a proved batch to a signed authorisation that may leave (protocol §3, §8): chooses and stores its deadline, checks the funder's
 * money, signs, gives the pool the allowance.
 *
 * A signer that answers at once is asked under the lock of the chain, token and funder, so the time in the queue does not count
 * against the deadline. A signer that needs a vote is asked without it, because a vote of hours must not block other batches
 * (docs/decisions/0015). After the vote the batch waits for its turn, and its money, allowance and proof are checked again.
 *
 * @throws PoolError why the batch cannot be paid now. Nothing of it has left then
 */
async function authorizeBatch(run: Run): Promise<void> {
  const batch = await ensureBatch(run);
  const isAsked = mayBeSigned(run.phase);
  if (!isAsked) {
    // A pool with another verifier could take the money for good.
    await run.chain.requirePool();
    await awaitRelease(run, batch);
  }
  if (run.funder.needsVote) {
    // Nobody is asked to approve a batch that cannot be paid now.
    await signInTime(run, batch, !isAsked);
  }
  for (;;) {
    await run.awaitTurn();
    await renewStaleProof(run);
    const dated = await signInTime(run, batch, true);
    const step = await run.within('approving-allowance', async () => {
      await run.assertNotCancelled();
      return grantAllowance({ run, batch: dated, check: run.assertNotCancelled });
    });
    if (step === 'granted') {
      await assertInTime(run, dated);
      return run.assertNotCancelled();
    }
    // A vote can last for hours, and the lock may have been free: another batch may have taken the money.
  }
}

async function signInTime(run: Run, batch: Batch, checksMoney: boolean): Promise<DatedBatch> {
  return run.within('signing', async () => {
    await run.assertNotCancelled();
    await assertNotForeign(run);
    const dated = await ensureRelease(run, batch);
    await assertInTime(run, dated);
    if (checksMoney) {
      await assertCollectable(run);
    }
    if (run.phase.kind !== 'signed') {
      if (!mayBeSigned(run.phase)) {
        // It waited for its turn since, and a person may have denied it meanwhile.
        await awaitRelease(run, batch, true);
      }
      const request = createAuthorizationRequest(dated);
      const signature = await askForSignature(
        { run, batch: dated, check: run.assertNotCancelled },
        request,
      );
      if (run.funder.needsVote) {
        // A vote can end after the deadline. Such a signature is not stored: it is of no use.
        await assertInTime(run, dated);
      }
      await run.move('signed', { signature, approvals: [] });
    }
    return dated;
  });
}

/**
 * A batch that cannot land in time never leaves. A second deadline would be a second attempt, which no key has
 * (docs/decisions/0007): the job fails, also when its first authorisation was only written down.
 */
async function assertInTime(run: Run, { deadline }: DatedBatch): Promise<void> {
  await assertWindowOpen(run);
  if (isTooLateToLeave(await run.retry(run.now), deadline, run.deps.batchDeadlineSeconds)) {
    throw new PoolError(
      'settlement_expired',
      run.funder.needsVote && (run.hold.hasWaited() || run.approvalHold.hasWaited())
        ? 'the deadline of the batch came while it waited for its turn behind other batches of this chain, token and funder, and nothing was paid. The deadline includes the queue: send fewer of these batches at once, or raise DISBURSE_VOTE_LIMIT_SECONDS here, PLATFORM_VOTE_LIMIT_SECONDS at the platform, and APPROVE_VOTE_LIMIT_SECONDS and deadline.maxSeconds of the policy at the gate; then resubmit under a new Idempotency-Key'
        : 'the authorisation expired before it left this agent, and nothing was paid; resubmit under a new Idempotency-Key',
    );
  }
}

/**
 * Checks the funder's money before its key signs: an authorisation that is out and cannot land delays its batch until it is withdrawn or
 * expires. Reads the balance of the funder, and its coin if an approval transaction is needed. A chain that does not answer prevents
 * nothing: the contract decides.
 * @throws PoolError `insufficient_balance`, `insufficient_gas`
 */
async function assertCollectable(run: Run): Promise<void> {
  const { context, tokenSettings, total, funder, phase } = run;
  const target = { context, token: tokenSettings, total: assertAmount(total) };
  const { findings } = await observeFunds(target, funder.address, funder.approvesOutside);
  const defect = findings.find(({ code }) => code.startsWith('insufficient_'));
  if (defect !== undefined) {
    const what =
      phase.kind === 'signed'
        ? 'the signed batch was not sent, and nothing was paid'
        : 'nothing was signed and nothing was paid';
    throw new PoolError(
      defect.code,
      `${defect.message}; ${what}: resubmit under a new Idempotency-Key once it is there`,
    );
  }
}

/**
 * Finds an earlier use of the key, by this agent or another one. Asked before anything is proved, and before a job without a release
 * fails. If the authorisation of this job is out, although the record did not say so, the job is in a phase that says so then.
 * @returns undefined: the key is not used, or the authorisation of this job is out
 */
async function reconcile(run: Run): Promise<Ending | undefined> {
  const batch = await loadBatch(run);
  const { funder, batchNonce } = run;
  const under = { funder: funder.address, batchNonce, batchRoot: batch?.batchRoot, deadlines: [] };
  for (;;) {
    const { nonce, decision, own, other } = await readUse(run, under);
    if (other !== undefined) {
      return { kind: 'unpaid', error: other };
    }
    if (decision.kind !== 'wait') {
      return decision;
    }
    if (batch !== undefined && own?.batch.batchRoot === batch.batchRoot) {
      // The store was restored from a backup. The authorisation that left counts, and the late-landing rule applies.
      await storeRelease(run, batch, own.batch.deadline);
      const releasedAtMs = run.deps.clock.nowMs();
      await run.move(run.phase.kind === 'signed' ? 'released' : 'recovered', { releasedAtMs });
      return undefined;
    }
    if (!nonce.pending && own === undefined) {
      return undefined;
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
  rethrowInterruption(error, run.signal);
  if (isPoolError(error) && error.retryable && mayBeSigned(run.phase)) {
    // A vote of hours is not thrown away because of an outage. The deadline of the batch bounds the wait.
    throw new InterruptedRunError('an outage while the batch waits to leave', { cause: error });
  }
  const unpaid: Ending = { kind: 'unpaid', error: toErrorBody(error) };
  if (await abandonBatch(run, unpaid.error)) {
    return undefined;
  }
  const ending = await reconcile(run).catch((cause: unknown) => {
    rethrowInterruption(cause);
    throw new InterruptedRunError('chain and platform must say that nothing was paid', { cause });
  });
  if (hasLeft(run.phase)) {
    return undefined;
  }
  return ending === undefined || ending.kind === 'dead' ? unpaid : ending;
}
