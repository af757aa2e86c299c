/**
 * The conditions under which the settlement of a released batch is sent again (protocol §8).
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { withinTime } from '../../within-time.ts';
import { type Eligibility, fetchEligibility } from '../batch/eligibility.ts';
import { isProofCurrent, proveBatch, withAccelerator } from '../batch/prove-batch.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import type { Run } from '../job/run.ts';

/** How long a chain may take to answer the balance of the funder. */
const readTimeoutMs = 3_000;

/** False: the funder holds less than the total. True too if the chain does not answer. */
export async function canCollect(run: Run): Promise<boolean> {
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
export async function renewReleasedProof(run: Run, batch: DatedBatch): Promise<'current'> {
  if (!(await isProofCurrent(run))) {
    const proved = await withAccelerator(run, async () =>
      proveBatch(run, batch, await refetchEligibility(run)),
    );
    await run.update({ proved, eligibilityLoss: undefined });
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
      await run.update({ eligibilityLoss: { code: error.code, message: error.message } });
    }
    throw error;
  }
}
