/**
 * A process of the fleet: it takes one task after the other and answers with the proof. It keeps nothing.
 *
 * @module
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { CircuitName, Secret } from '@pool/core';
import type { Prover } from '@pool/prover';
import { traceTask } from '@pool/tracing';
import type { Log } from '@pool/wallet/node';
import * as v from 'valibot';
import { type ProofQueue, taskSchema } from './proof-queue.ts';
import { openInput } from './sealed-input.ts';

/** After a failure, so that another prover can take the next attempt. */
const pauseMs = 2_000;

/** After a failure that trying again does not help and the input did not cause: this machine would fail the next task too. */
const restMs = 10_000;

/**
 * Takes tasks until the queue is stopped. It asks every half second: a notification comes sooner, but not for a task that was given back,
 * and not over a connection that is half open.
 */
export async function startProverWorker(options: {
  readonly queue: ProofQueue;
  readonly prover: Pick<Prover<CircuitName>, 'prove'>;
  readonly identity: Secret;
  readonly log: Log;
}): Promise<void> {
  const { queue, prover, identity, log } = options;
  const by = `${hostname()}:${process.pid}`;
  await queue.boss.work(queue.name, { pollingIntervalSeconds: 0.5 }, async ([job]) => {
    if (job === undefined) {
      return undefined;
    }
    const startedAtMs = performance.now();
    const facts = () => ({
      task: job.id,
      seconds: Math.round(performance.now() - startedAtMs) / 1_000,
    });
    try {
      const { circuit, sealed } = v.parse(taskSchema, job.data);
      log.info({ task: job.id, circuit }, 'proving');
      const { proof } = await traceTask('proof', async () => {
        const input = (await openInput(identity, sealed)) as Readonly<Record<string, unknown>>;
        return await prover.prove({ circuit, input, signal: job.signal });
      });
      log.info(facts(), 'proved');
      return { proof, by };
    } catch (error) {
      const { code, retryable } = describeFailure(error);
      log.warn({ ...facts(), code }, 'made no proof');
      const { boss, name } = queue;
      await boss.complete(name, job, { code, by });
      await delay(retryable || code === 'witness_refused' ? pauseMs : restMs);
      return undefined;
    }
  });
}

/** The code alone, because the database keeps it: a message can quote what was opened. */
function describeFailure(error: unknown): { readonly code: string; readonly retryable: boolean } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? { code: error.code, retryable: 'retryable' in error && error.retryable === true }
    : { code: 'task_unreadable', retryable: false };
}
