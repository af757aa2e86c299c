/**
 * From a proved batch to a signed authorisation that may leave (protocol §3, §8): wait for the turn of this batch,
 * choose its deadline and write it down, look at the money, sign, let the pool take the total.
 *
 * A signer that answers at once is asked under the lock, so that a queue of any length costs no batch its deadline.
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

/** @throws PoolError why the batch cannot be paid now; then nothing of it has left */
export async function authorizeBatch(run: Run, batch: Batch): Promise<DatedBatch> {
  if (run.funder.needsVote) {
    // Such a signer is asked before the lock is taken, and what then cannot be collected is voided.
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

/** One batch of a chain, token and funder at a time: two must not count on the same money. */
async function awaitTurn(run: Run): Promise<void> {
  if (run.hold.isTaken()) {
    await run.announce('awaiting-turn');
  }
  await run.hold.acquire();
}

/**
 * One that cannot land in time never leaves. A second deadline would be a second attempt, which no key has
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
  if (run.record().signature !== undefined) {
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
  await run.reach('signing.signed');
  await run.update({ signature });
  await run.reach('signing.after-store');
}
