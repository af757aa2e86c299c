/**
 * From plan to proof. The place of each recipient in the eligibility tree comes from the gate: its paths are checked against their root,
 * and the root against the chain, which is the authority. The agent verifies the proof against public inputs that it computed itself,
 * before anything is signed.
 *
 * @module
 */
import {
  fieldToHex,
  type Hex32,
  hexToBigint,
  isField,
  isPoolError,
  PoolError,
  parseField,
} from '@pool/core';
import {
  computeFundPublicInputs,
  computeWalletId,
  stepFundWitnessInput,
  type VerifiedPath,
  verifyEligibilityPath,
} from '@pool/notes';
import { computeInTurns } from '@pool/wallet';
import type { RecordedProof } from '../job/phases.ts';
import type { Batch } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { ensureBatch } from './batch.ts';

export type Eligibility = {
  readonly root: Hex32;
  /** By wallet id. Confidential as a whole: it is the roster. */
  readonly paths: ReadonlyMap<string, VerifiedPath>;
};

/**
 * @throws PoolError `unregistered-recipient` when a wallet is no longer on the list; retryable
 *   `gate_invalid_response` for a path that does not lead to the gate's root; retryable
 *   `eligibility_root_unknown` while the chain does not know that root
 */
export async function fetchEligibility(run: Run): Promise<Eligibility> {
  const { gate } = run.deps;
  if (gate === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      'this deployment has no pool-gate, so no recipient can be paid',
    );
  }
  const ids = new Map<Hex32, number>();
  for (const { walletPub, requestIndex } of run.record.recipients) {
    ids.set(fieldToHex(computeWalletId(walletPub)), requestIndex);
    await run.pace();
  }
  const answer = await gate.paths([...ids.keys()]);
  const root = hexToBigint(answer.root);
  const served = new Map(answer.paths.map((path) => [path.walletId, path]));
  const missing = new Set(answer.missing);
  const paths = new Map<string, VerifiedPath>();
  for (const [id, requestIndex] of ids) {
    if (missing.has(id)) {
      throw new PoolError(
        'unregistered-recipient',
        `recipients[${requestIndex}]: the wallet is no longer on the eligibility list`,
      );
    }
    const path = served.get(id);
    const verified =
      path !== undefined && isField(root)
        ? verifyEligibilityPath(root, parseField(id), path)
        : undefined;
    if (verified === undefined) {
      throw new PoolError(
        'gate_invalid_response',
        'the pool-gate served a path that does not lead to its own root',
      );
    }
    paths.set(id, verified);
    await run.pace();
  }
  if (!(await run.context.chain.isEligibilityRootAccepted(answer.root))) {
    throw new PoolError(
      'eligibility_root_unknown',
      "the chain does not accept the pool-gate's current root; wait for the gate to publish it",
    );
  }
  return { root: answer.root, paths };
}

/** The first proof of a batch, under the eligibility that was confirmed before, or a new one if the root changed in the queue. */
export async function proveFirst(run: Run, confirmed: Eligibility): Promise<void> {
  await run.within('proving', () =>
    proveUnder(run, async () =>
      (await run.chain.isEligibilityRootAccepted(confirmed.root))
        ? confirmed
        : run.retry(() => fetchEligibility(run)),
    ),
  );
}

/**
 * Proves the same manifest again when the chain no longer accepts the root of its proof, because the batch waited long for its turn.
 * @throws PoolError `unregistered-recipient` when a wallet has left the list meanwhile
 */
export async function renewStaleProof(run: Run): Promise<void> {
  if (!(await run.retry(() => isProofCurrent(run)))) {
    await run.within('proving', () =>
      proveUnder(run, () => run.retry(() => fetchEligibility(run))),
    );
  }
}

/** The same for a released batch. A wallet that left the list since ends the job, but only once the authorisation is dead. */
export async function renewReleasedProof(run: Run): Promise<'current'> {
  try {
    if (!(await isProofCurrent(run))) {
      await proveUnder(run, () => fetchEligibility(run));
    }
    return 'current';
  } catch (error) {
    if (isPoolError(error) && error.code === 'unregistered-recipient') {
      await run.amend({ eligibilityLoss: { code: error.code, message: error.message } });
    }
    throw error;
  }
}

/** True while the chain accepts the root that the stored proof was made for. */
async function isProofCurrent({ phase, context }: Run): Promise<boolean> {
  return (
    'proved' in phase &&
    (await context.chain.isEligibilityRootAccepted(phase.proved.eligibilityRoot))
  );
}

/** Proves the batch and stores the proof. One proof per accelerator at a time. @throws PoolError `prover_mock` */
async function proveUnder(run: Run, fetch: () => Promise<Eligibility>): Promise<void> {
  const { locks, prover, makesProofsAtOnce = false } = run.deps;
  if (prover.mode === 'mock') {
    throw new PoolError(
      'prover_mock',
      'DISBURSE_PROVER=mock proves nothing: unset it to pay; checks and dry runs work with it',
    );
  }
  const release = makesProofsAtOnce
    ? () => undefined
    : await run.orStop(locks.acquire('accelerator', run.signal));
  try {
    const batch = await ensureBatch(run);
    const proved = await proveBatch(run, batch, await fetch());
    await (run.phase.kind === 'accepted'
      ? run.move('proved', { proved, votes: [] })
      : run.amend({ proved, eligibilityLoss: undefined }, { after: 'proving.after-store' }));
  } finally {
    release();
  }
}

/** @throws PoolError `proof_invalid`, and errors of the prover */
async function proveBatch(
  run: Run,
  { plan, manifest }: Batch,
  eligibility: Eligibility,
): Promise<RecordedProof> {
  const { prover, onEvent } = run.deps;
  const eligibilityRoot = parseField(eligibility.root);
  const input = await computeInTurns(
    stepFundWitnessInput(plan, eligibilityRoot, eligibility.paths),
    run.pace,
  );
  const onProgress = (fraction: number): void => {
    const { stage } = run.record;
    if (stage !== undefined) {
      onEvent({ kind: 'progress', stage, fraction });
    }
  };
  const { signal } = run;
  const proved = await run.retry(() => prover.prove(manifest.size, input, { signal, onProgress }));
  const { digest, z, y } = computeFundPublicInputs({ ...plan, eligibilityRoot });
  const isOurs = proved.publicSignals.join() === [digest, z, y].join();
  if (!isOurs || !(await prover.verify(manifest.size, proved))) {
    throw new PoolError(
      'proof_invalid',
      'the proof did not verify here, so nothing was signed; check the prover artifacts',
    );
  }
  return { eligibilityRoot: eligibility.root, digest: fieldToHex(digest), proof: proved.proof };
}
