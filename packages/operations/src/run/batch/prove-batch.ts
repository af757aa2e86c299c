/**
 * From plan and eligibility to a proof. The agent verifies the proof against public inputs that it computed itself, before
 * anything is signed.
 *
 * @module
 */
import { fieldToHex, PoolError, parseField } from '@pool/core';
import { computeFundPublicInputs, stepFundWitnessInput } from '@pool/notes';
import { computeInTurns } from '@pool/wallet';
import type { RecordedProof } from '../job/phases.ts';
import type { Batch } from '../job/plan-batch.ts';
import type { Run } from '../job/run.ts';
import { type Eligibility, fetchEligibility } from './eligibility.ts';

/** @throws PoolError `prover_mock`, `proof_invalid`, and errors of the prover */
export async function proveBatch(
  run: Run,
  batch: Batch,
  eligibility: Eligibility,
): Promise<RecordedProof> {
  const { prover } = run.deps;
  assertRealProver(run);
  const { plan, manifest } = batch;
  const eligibilityRoot = parseField(eligibility.root);
  const input = await computeInTurns(
    stepFundWitnessInput(plan, eligibilityRoot, eligibility.paths),
    run.pace,
  );
  const proved = await run.retry(() =>
    prover.prove(manifest.size, input, {
      signal: run.signal,
      onProgress: (fraction) => run.progress(fraction),
    }),
  );
  const { digest, z, y } = computeFundPublicInputs({ ...plan, eligibilityRoot });
  const expected = [digest, z, y];
  const isOurs =
    proved.publicSignals.length === expected.length &&
    proved.publicSignals.every((signal, index) => signal === expected[index]);
  if (!isOurs || !(await prover.verify(manifest.size, proved))) {
    throw new PoolError(
      'proof_invalid',
      'the proof did not verify here, so nothing was signed; check the prover artifacts',
    );
  }
  return { eligibilityRoot: eligibility.root, digest: fieldToHex(digest), proof: proved.proof };
}

/** True while the chain accepts the root that the stored proof was made for. */
export async function isProofCurrent(run: Run): Promise<boolean> {
  const phase = run.phase();
  return (
    'proved' in phase &&
    (await run.context.chain.isEligibilityRootAccepted(phase.proved.eligibilityRoot))
  );
}

/**
 * Proves the same manifest again when the chain no longer accepts the root of its proof, because the batch waited long for
 * its turn.
 * @throws PoolError `unregistered-recipient` when a wallet has left the list meanwhile
 */
export async function renewStaleProof(run: Run, batch: Batch): Promise<void> {
  if (await run.retry(() => isProofCurrent(run))) {
    return;
  }
  await run.within('proving', () =>
    withAccelerator(run, async () => {
      const eligibility = await run.retry(() => fetchEligibility(run));
      await run.amend({ proved: await proveBatch(run, batch, eligibility) });
      await run.passFaultPoint('proving.after-store');
    }),
  );
}

/** The eligibility that was confirmed before, or a new one if the root changed while the job waited to prove. */
export async function currentEligibility(run: Run, confirmed: Eligibility): Promise<Eligibility> {
  const isCurrent = await run.retry(() =>
    run.context.chain.isEligibilityRootAccepted(confirmed.root),
  );
  return isCurrent ? confirmed : run.retry(() => fetchEligibility(run));
}

/** One proof per accelerator at a time. */
export async function withAccelerator<T>(run: Run, work: () => Promise<T>): Promise<T> {
  const release = await run.acquire('accelerator');
  try {
    return await work();
  } finally {
    release();
  }
}

/** @throws PoolError `prover_mock` */
export function assertRealProver(run: Run): void {
  if (run.deps.prover.mode === 'mock') {
    throw new PoolError(
      'prover_mock',
      'DISBURSE_PROVER=mock proves nothing: unset it to pay; checks and dry runs work with it',
    );
  }
}
