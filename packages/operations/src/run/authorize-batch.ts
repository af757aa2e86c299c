/**
 * From a proved batch to a signed authorisation that may leave (protocol §3, §8): wait for the turn of this batch, choose
 * and store its deadline, check the funder's money, sign, give the pool the allowance.
 *
 * The signer is asked under the lock, so the time in the queue does not count against the deadline of the batch.
 *
 * @module
 */
import { PoolError, parseEvmAddress } from '@pool/core';
import { assertCollectable } from './assert-collectable.ts';
import { isTooLateToRelease } from './batch-deadline.ts';
import { assertNotCancelled } from './cancellation.ts';
import { assertNotForeign } from './foreign-settlement.ts';
import { grantAllowance } from './grant-allowance.ts';
import type { Batch } from './plan-batch.ts';
import { renewStaleProof } from './prove-batch.ts';
import { type DatedBatch, ensureRelease } from './release-record.ts';
import type { Run } from './run.ts';

/** @throws PoolError why the batch cannot be paid now. Nothing of it has left then */
export async function authorizeBatch(run: Run, batch: Batch): Promise<DatedBatch> {
  if (run.funder.needsVote) {
    // Such a signer would be asked before the lock, and a batch that cannot be collected afterwards would be voided.
    throw new PoolError(
      'signer_unsupported',
      'the funder signer needs a vote, which this version does not wait for; use a signer that answers at once',
    );
  }
  await awaitTurn(run);
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
  await run.within('approving-allowance', async () => {
    await assertNotCancelled(run);
    await grantAllowance(run, dated);
  });
  await assertInTime(run, dated);
  await assertNotCancelled(run);
  return dated;
}

/** One batch of a chain, token and funder at a time, so that two batches do not count on the same money. */
async function awaitTurn(run: Run): Promise<void> {
  if (run.hold.isTaken()) {
    await run.announce('awaiting-turn');
  }
  await run.hold.acquire();
}

/**
 * A batch that cannot land in time never leaves. A second deadline would be a second attempt, which no key has
 * (docs/decisions/0006, §4): the job fails, also when its first authorisation was only written down.
 */
async function assertInTime(run: Run, batch: DatedBatch): Promise<void> {
  const nowSeconds = await run.retry(() => run.now());
  if (isTooLateToRelease(nowSeconds, batch.deadline, run.deps.batchDeadlineSeconds)) {
    throw new PoolError(
      'settlement_expired',
      'the authorisation expired before it left this agent, and nothing was paid; resubmit under a new Idempotency-Key',
    );
  }
}

async function sign(run: Run, batch: DatedBatch): Promise<void> {
  if (run.phase().kind === 'signed') {
    return;
  }
  const { manifest, plan, deadline } = batch;
  const signature = await run.retry(() =>
    run.funder.signAuthorization(
      {
        chainId: manifest.chainId,
        pool: parseEvmAddress(manifest.pool),
        authorization: {
          funder: parseEvmAddress(manifest.funder),
          token: parseEvmAddress(manifest.token),
          total: plan.total,
          batchRoot: plan.batchRoot,
          batchNonce: plan.batchNonce,
          sealedNotesHash: plan.sealedNotesHash,
          deadline: BigInt(deadline),
        },
      },
      run.signal,
    ),
  );
  await run.passFaultPoint('signing.signed');
  await run.update({ signature });
  await run.passFaultPoint('signing.after-store');
}
