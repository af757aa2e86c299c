/**
 * What has to hold before the settlement of a released batch is sent again (protocol §8).
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { withinTime } from '../within-time.ts';
import { type Eligibility, fetchEligibility } from './eligibility.ts';
import { isProofCurrent, proveBatch, withAccelerator } from './prove-batch.ts';
import type { DatedBatch } from './release-record.ts';
import type { Run } from './run.ts';

/** How long a chain may take to say what the funder has. */
const lookTimeoutMs = 3_000;

/** False: the funder holds less than the total. A chain that does not answer stops nothing. */
export async function canCollect(run: Run): Promise<boolean> {
  const { chain } = run.context;
  try {
    const balance = await withinTime(
      chain.fetchTokenBalance(run.token, run.funder.address),
      lookTimeoutMs,
    );
    return balance >= run.total;
  } catch {
    return true;
  }
}

/** A fresh proof of the same manifest when the chain no longer accepts the root of the one at hand. */
export async function renewReleasedProof(run: Run, batch: DatedBatch): Promise<'current'> {
  if (!(await isProofCurrent(run))) {
    const proved = await withAccelerator(run, async () =>
      proveBatch(run, batch, await refetchEligibility(run)),
    );
    await run.update({ proved, lostPlace: null });
    await run.reach('proving.after-store');
  }
  return 'current';
}

/** A wallet that lost its place since the release ends the job once the authorisation is dead. */
async function refetchEligibility(run: Run): Promise<Eligibility> {
  try {
    return await fetchEligibility(run);
  } catch (error) {
    if (isPoolError(error) && error.code === 'unregistered-recipient') {
      await run.update({ lostPlace: { code: error.code, message: error.message } });
    }
    throw error;
  }
}
