/**
 * {@link checkBatch} in a thread of its own, as the serving thread calls it. Without a verdict, nothing is accepted.
 *
 * @module
 */
import type { Delivery } from '@pool/api';
import { type EvmChainSettings, PoolError } from '@pool/core';
import { createThreadCalls, type ThreadCalls } from '../../thread-calls.ts';
import type { BatchJob, BatchVerdict, ProofInputs } from './check-batch.ts';

export type BatchChecker = {
  /**
   * @returns the public inputs that the proof must have
   * @throws PoolError `invalid_settlement` (400), `verifier_unavailable` (503, retryable)
   */
  check(
    delivery: Pick<Delivery, 'batch' | 'sealedNotes'>,
    settings: Pick<EvmChainSettings, 'chainId' | 'pool'>,
  ): Promise<ProofInputs>;
  close(): Promise<void>;
};

/** A batch of 256 takes about 30 ms; the first one waits for the thread to start. */
const timeoutMs = 10_000;

/** Starts the thread. @param thread - for tests only */
export function createBatchChecker(
  thread: ThreadCalls<BatchJob, BatchVerdict> = createThreadCalls(programUrl(), timeoutMs),
): BatchChecker {
  thread.start();
  return {
    async check({ batch, sealedNotes }, { chainId, pool }) {
      const encryptionPublicKeys = sealedNotes.map((note) => note.encryptionPublicKey);
      const job = { batch, encryptionPublicKeys, chainId, pool };
      const verdict = await thread.call(job).catch((cause: unknown) => {
        throw new PoolError(
          'verifier_unavailable',
          'the settlement was not checked: the thread that does it failed; try again shortly',
          { cause },
        );
      });
      if (verdict.kind === 'refused') {
        throw new PoolError('invalid_settlement', verdict.message);
      }
      return verdict.inputs;
    },
    close: () => thread.close(),
  };
}

/** TypeScript in the repository, JavaScript once the platform is built. */
function programUrl(): URL {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new URL(`./batch-check-worker${extension}`, import.meta.url);
}
