/**
 * The checks of batches and spends in a thread of their own, as the serving thread calls it. Without a verdict, nothing is
 * accepted.
 *
 * @module
 */
import type { Delivery, SpendRequest } from '@pool/api';
import { type EvmChainSettings, PoolError } from '@pool/core';
import type { SpendForm } from './check-form.ts';
import type { BatchJob, ProofInputs, SpendJob, Verdict } from './check-inputs.ts';
import { createThreadCalls, type ThreadCalls } from './thread-calls.ts';

type PoolPlace = Pick<EvmChainSettings, 'chainId' | 'pool'>;

export type BatchChecker = ReturnType<typeof createBatchChecker>;

/** A batch of 256 takes about 30 ms; the first one waits for the thread to start. */
const timeoutMs = 10_000;

/** Starts the thread. @param thread - for tests only */
export function createBatchChecker(
  thread: ThreadCalls<BatchJob | SpendJob, Verdict> = createThreadCalls(programUrl(), timeoutMs),
) {
  thread.start();
  return { ...createChecks((job) => thread.call(job)), close: () => thread.close() };
}

/** @param work - gives the verdict about a job, in a thread or, in tests, at once */
export function createChecks(work: (job: BatchJob | SpendJob) => Promise<Verdict>) {
  async function ask(job: BatchJob | SpendJob): Promise<ProofInputs> {
    const what = job.kind === 'batch' ? 'settlement' : 'spend';
    const verdict = await work(job).catch((cause: unknown) => {
      throw new PoolError(
        'verifier_unavailable',
        `the ${what} was not checked: the thread that does it failed; try again shortly`,
        { cause },
      );
    });
    if (verdict.kind === 'refused') {
      throw new PoolError(`invalid_${what}`, verdict.message);
    }
    return verdict.inputs;
  }

  return {
    /**
     * @returns the public inputs that the proof must have
     * @throws PoolError `invalid_settlement` (400), `verifier_unavailable` (503, retryable)
     */
    check: (
      { batch, sealedNotes }: Pick<Delivery, 'batch' | 'sealedNotes'>,
      { chainId, pool }: PoolPlace,
    ) =>
      ask({
        ...{ kind: 'batch', batch, chainId, pool },
        encryptionPublicKeys: listKeys(sealedNotes),
        sealed: sealedNotes.map(({ sealed }) => sealed),
      }),
    /** The same for a spend that `assertSpendForm` has passed. @throws PoolError `invalid_spend`, `verifier_unavailable` */
    checkSpend: (
      { spend, sealedNotes }: Pick<SpendRequest, 'spend' | 'sealedNotes'>,
      form: SpendForm,
      { chainId, pool }: PoolPlace,
    ) =>
      ask({
        ...{ kind: 'spend', spend, ...form, chainId, pool },
        encryptionPublicKeys: listKeys(sealedNotes),
      }),
  };
}

function listKeys(sealedNotes: Delivery['sealedNotes']): string[] {
  return sealedNotes.map(({ encryptionPublicKey }) => encryptionPublicKey);
}

/** TypeScript in the repository, JavaScript once the platform is built. */
function programUrl(): URL {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new URL(`./batch-check-worker${extension}`, import.meta.url);
}
