/**
 * From a proved batch to a signed authorisation that may leave (protocol §3, §8): choose and store its deadline, check the funder's
 * money, sign, give the pool the allowance.
 *
 * A signer that answers at once is asked under the lock of the chain, token and funder, so the time in the queue does not count
 * against the deadline. A signer that needs a vote is asked without it, because a vote of hours must not block other batches
 * (docs/decisions/0015). After the vote the batch waits for its turn, and its money, allowance and proof are checked again.
 *
 * @module
 */
import { assertAmount, PoolError } from '@pool/core';
import { isTooLateToLeave } from '@pool/idempotency/engine';
import { observeFunds } from '../check/preflight.ts';
import { type DatedBatch, ensureRelease } from './batch/batch.ts';
import { assertNotForeign } from './batch/foreign-settlement.ts';
import { renewStaleProof } from './batch/prove-batch.ts';
import type { Batch } from './job/record.ts';
import type { Run } from './job/run.ts';
import { grantAllowance } from './sign/allowance.ts';
import { askForSignature, createAuthorizationRequest, mayBeSigned } from './sign/ask-signer.ts';

/** @throws PoolError why the batch cannot be paid now. Nothing of it has left then */
export async function authorizeBatch(run: Run, batch: Batch): Promise<void> {
  const isAsked = mayBeSigned(run.phase);
  if (!isAsked) {
    // A pool with another verifier could take the money for good.
    await run.chain.requirePool();
  }
  if (run.funder.needsVote) {
    // Nobody is asked to approve a batch that cannot be paid now.
    await signInTime(run, batch, !isAsked);
  }
  for (;;) {
    await run.awaitTurn();
    await renewStaleProof(run, batch);
    const dated = await signInTime(run, batch, true);
    const step = await run.within('approving-allowance', async () => {
      await run.assertNotCancelled();
      return grantAllowance(asking(run, dated));
    });
    if (step === 'granted') {
      await assertInTime(run, dated);
      return run.assertNotCancelled();
    }
    // A vote can last for hours, and the lock may have been free: another batch may have taken the money.
  }
}

function asking(run: Run, batch: DatedBatch) {
  return { run, batch, wait: { deadline: batch.deadline, check: run.assertNotCancelled } };
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
      const request = createAuthorizationRequest(dated);
      const signature = await askForSignature(asking(run, dated), request);
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
async function assertCollectable({ context, record, total, funder, phase }: Run): Promise<void> {
  const token = context.settings.tokens[record.tokenSymbol];
  if (token === undefined) {
    return;
  }
  const target = { context, token, total: assertAmount(total) };
  const { findings } = await observeFunds(target, funder.address);
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
