/**
 * The runner of the jobs of one employer, with the ports that the agent's parts give it.
 *
 * @module
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ProductionKeys } from '@pool/circuits';
import type { CircuitName } from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import type { JobWorker } from '@pool/idempotency/engine';
import {
  createProverPort,
  type Fingerprinter,
  type JobRunnerOptions,
  type PaidKeys,
  type ReleaseDeps,
  startJobRunner,
} from '@pool/operations';
import { createScheduledWindows } from '@pool/pay-run';
import type { Prover } from '@pool/prover';
import type { ComputeQueue, KeyLock } from '@pool/wallet';
import { systemClock } from '@pool/wallet/node';
import type { AgentFaultPoint, Config } from '../../config/config.ts';
import type { AgentParts } from '../agent-parts.ts';

export function startRunner(input: {
  readonly config: Config;
  readonly parts: AgentParts;
  readonly store: JobStore;
  readonly scope: string;
  readonly fingerprints: Fingerprinter;
  readonly prover: Pick<Prover<CircuitName>, 'prove' | 'verify'>;
  readonly keys: ProductionKeys | undefined;
  readonly paidKeys: PaidKeys;
  readonly computeQueue: ComputeQueue;
  readonly releases: ReleaseDeps | undefined;
  readonly locks: KeyLock;
  readonly turns: KeyLock;
  readonly onFaultPoint: (point: AgentFaultPoint) => Promise<void>;
  readonly onEvent: JobRunnerOptions['onEvent'];
}): JobWorker {
  const { config, parts } = input;
  const mode = config.prover === 'mock' ? 'mock' : 'real';
  return startJobRunner({
    store: input.store,
    scope: input.scope,
    clock: systemClock,
    workerId: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    // A job mostly waits. Without a fleet, proofs are made one after the other, whatever the concurrency.
    concurrency: 64,
    leaseTtlMs: 6_000,
    idleMs: 500,
    onEvent: input.onEvent,
    deps: {
      findChain: (key) => parts.contexts.get(key),
      platform: parts.edge,
      paidKeys: input.paidKeys,
      fingerprints: input.fingerprints,
      // A getter, read at the start of each job: bootstrap can vend another gate meanwhile.
      get gate() {
        return parts.gates.port();
      },
      prover: createProverPort(input.prover, mode, input.keys?.readVerificationKey),
      makesProofsAtOnce: config.fleet !== undefined,
      funder: parts.funder,
      releases: input.releases,
      windows: createScheduledWindows(input.store),
      locks: input.locks,
      turns: input.turns,
      computeQueue: input.computeQueue,
      randomBytes: (length) => randomBytes(length),
      batchDeadlineSeconds: config.batchDeadlineSeconds,
      voteLimitSeconds: config.voteLimitSeconds,
      pollMs: 1_000,
      patienceMs: 5 * 60_000,
      onFaultPoint: input.onFaultPoint,
    },
  });
}

/**
 * Ends the process at a named point, so that tests can show that a restart pays exactly once. The configuration allows
 * it only under `NODE_ENV=test`.
 *
 * @returns a function to call at each point; at the chosen point it does not return
 */
export function createFaultHandler(
  chosen: AgentFaultPoint | undefined,
): (point: AgentFaultPoint) => Promise<void> {
  return async (point) => {
    if (point === chosen) {
      // SIGKILL: no flush, no handler and no release of the lease runs after this.
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    }
  };
}
