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
import { assertNotForeign } from './batch/foreign-settlement.ts';
import { renewStaleProof } from './batch/prove-batch.ts';
import { type DatedBatch, ensureRelease } from './batch/release-record.ts';
import { assertNotCancelled } from './job/cancellation.ts';
import type { Batch } from './job/plan-batch.ts';
import type { Run } from './job/run.ts';
import {
  askSigner,
  createAuthorizationRequest,
  mayBeSigned,
  requireSigned,
} from './sign/ask-signer.ts';
import { grantAllowance } from './sign/grant-allowance.ts';

/** @throws PoolError why the batch cannot be paid now. Nothing of it has left then */
export async function authorizeBatch(run: Run, batch: Batch): Promise<DatedBatch> {
  if (!mayBeSigned(run.phase())) {
    // A pool with another verifier could take the money for good.
    await run.retry(() => run.context.chain.requirePool());
  }
  const dated = run.funder.needsVote
    ? await authorizeByVote(run, batch)
    : await authorizeNow(run, batch);
  await assertInTime(run, dated);
  await assertNotCancelled(run);
  return dated;
}

async function authorizeNow(run: Run, batch: Batch): Promise<DatedBatch> {
  await run.awaitTurn();
  await renewStaleProof(run, batch);
  const dated = await run.within('signing', async () => {
    await assertNotCancelled(run);
    await assertNotForeign(run);
    const chosen = await ensureRelease(run, batch);
    await assertInTime(run, chosen);
    await assertCollectable(run);
    await sign(run, chosen);
    return chosen;
  });
  await approve(run, dated);
  return dated;
}

async function authorizeByVote(run: Run, batch: Batch): Promise<DatedBatch> {
  const dated = await run.within('signing', async () => {
    await assertNotCancelled(run);
    await assertNotForeign(run);
    const chosen = await ensureRelease(run, batch);
    await assertInTime(run, chosen);
    if (!mayBeSigned(run.phase())) {
      // Nobody is asked to approve a batch that cannot be paid now.
      await assertCollectable(run);
    }
    await sign(run, chosen);
    return chosen;
  });
  for (;;) {
    await run.awaitTurn();
    await renewStaleProof(run, batch);
    await run.within('signing', async () => {
      await assertNotCancelled(run);
      await assertNotForeign(run);
      await assertInTime(run, dated);
      await assertCollectable(run);
    });
    if ((await approve(run, dated)) === 'granted') {
      return dated;
    }
    // A vote can last for hours, and the lock may have been free: another batch may have taken the money.
  }
}

function approve(run: Run, dated: DatedBatch): ReturnType<typeof grantAllowance> {
  return run.within('approving-allowance', async () => {
    await assertNotCancelled(run);
    return grantAllowance(run, dated, {
      deadline: dated.deadline,
      check: () => assertNotCancelled(run),
    });
  });
}

/**
 * A batch that cannot land in time never leaves. A second deadline would be a second attempt, which no key has
 * (docs/decisions/0007): the job fails, also when its first authorisation was only written down.
 */
async function assertInTime(run: Run, batch: DatedBatch): Promise<void> {
  const nowSeconds = await run.retry(() => run.now());
  if (isTooLateToLeave(nowSeconds, batch.deadline, run.deps.batchDeadlineSeconds)) {
    throw new PoolError(
      'settlement_expired',
      run.funder.needsVote && (run.hold.hasWaited() || run.approvalHold.hasWaited())
        ? 'the deadline of the batch came while it waited for its turn behind other batches of this chain, token and funder, and nothing was paid. The deadline includes the queue: send fewer of these batches at once, or raise DISBURSE_VOTE_LIMIT_SECONDS here, PLATFORM_VOTE_LIMIT_SECONDS at the platform, and APPROVE_VOTE_LIMIT_SECONDS and deadline.maxSeconds of the policy at the gate; then resubmit under a new Idempotency-Key'
        : 'the authorisation expired before it left this agent, and nothing was paid; resubmit under a new Idempotency-Key',
    );
  }
}

async function sign(run: Run, batch: DatedBatch): Promise<void> {
  if (run.phase().kind === 'signed') {
    return;
  }
  const given = await askSigner(run, createAuthorizationRequest(batch), {
    deadline: batch.deadline,
    check: () => assertNotCancelled(run),
  });
  const signature = requireSigned(given);
  if (run.funder.needsVote) {
    // A vote can end after the deadline. Such a signature is not stored: it is of no use.
    await assertInTime(run, batch);
  }
  await run.move('signed', { signature, approvals: [] });
}

/**
 * Checks the funder's money before its key signs: an authorisation that is out and cannot land delays its batch until it is withdrawn or
 * expires. Reads the balance of the funder, and its coin if an approval transaction is needed. A chain that does not answer prevents
 * nothing: the contract decides.
 * @throws PoolError `insufficient_balance`, `insufficient_gas`
 */
async function assertCollectable(run: Run): Promise<void> {
  const token = run.context.settings.tokens[run.record().tokenSymbol];
  if (token === undefined) {
    return;
  }
  const { findings } = await observeFunds(
    { context: run.context, token, total: assertAmount(run.total) },
    run.funder.address,
  );
  const defect = findings.find(
    ({ code }) => code === 'insufficient_balance' || code === 'insufficient_gas',
  );
  if (defect !== undefined) {
    const what =
      run.phase().kind === 'signed'
        ? 'the signed batch was not sent, and nothing was paid'
        : 'nothing was signed and nothing was paid';
    throw new PoolError(
      defect.code,
      `${defect.message}; ${what}: resubmit under a new Idempotency-Key once it is there`,
    );
  }
}
