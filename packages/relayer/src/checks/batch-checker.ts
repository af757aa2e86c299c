/**
 * The checks of batches and spends in a thread of their own, as the serving thread calls it. Without a verdict, nothing is
 * accepted.
 *
 * @module
 */
import type { Delivery, SpendRequest } from '@pool/api';
import { type EvmChainSettings, PoolError } from '@pool/core';
import type { BatchJob, BatchVerdict, ProofInputs } from './check-batch.ts';
import type { SpendJob } from './check-spend.ts';
import type { SpendForm } from './check-spend-form.ts';
import { createThreadCalls, type ThreadCalls } from './thread-calls.ts';

type PoolPlace = Pick<EvmChainSettings, 'chainId' | 'pool'>;

export type BatchChecker = {
  /**
   * @returns the public inputs that the proof must have
   * @throws PoolError `invalid_settlement` (400), `verifier_unavailable` (503, retryable)
   */
  check(
    delivery: Pick<Delivery, 'batch' | 'sealedNotes'>,
    settings: PoolPlace,
  ): Promise<ProofInputs>;
  /** The same for a spend that `assertSpendForm` has passed. @throws PoolError `invalid_spend`, `verifier_unavailable` */
  checkSpend(
    request: Pick<SpendRequest, 'spend' | 'sealedNotes'>,
    form: SpendForm,
    settings: PoolPlace,
  ): Promise<ProofInputs>;
  close(): Promise<void>;
};

/** A batch of 256 takes about 30 ms; the first one waits for the thread to start. */
const timeoutMs = 10_000;

/** Starts the thread. @param thread - for tests only */
export function createBatchChecker(
  thread: ThreadCalls<BatchJob | SpendJob, BatchVerdict> = createThreadCalls(
    programUrl(),
    timeoutMs,
  ),
): BatchChecker {
  thread.start();
  return { ...createChecks((job) => thread.call(job)), close: () => thread.close() };
}

/** @param work - gives the verdict about a job, in a thread or, in tests, at once */
export function createChecks(
  work: (job: BatchJob | SpendJob) => Promise<BatchVerdict>,
): Pick<BatchChecker, 'check' | 'checkSpend'> {
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
    check: ({ batch, sealedNotes }, { chainId, pool }) =>
      ask({
        ...{ kind: 'batch', batch, chainId, pool },
        encryptionPublicKeys: listKeys(sealedNotes),
        sealed: sealedNotes.map(({ sealed }) => sealed),
      }),
    checkSpend: ({ spend, sealedNotes }, form, { chainId, pool }) =>
      ask({
        kind: 'spend',
        spend,
        ...form,
        encryptionPublicKeys: listKeys(sealedNotes),
        chainId,
        pool,
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
