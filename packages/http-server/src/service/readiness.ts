/**
 * Whether a process should be sent requests: its database answers, the RPC of each chain does, no index has halted, and it is not about
 * to stop. It is read from what the workers saw; a probe causes no work.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import type { HttpServer } from '../http-server.ts';
import type { Log } from './log.ts';

export type Check = () => PoolError | undefined;

export type Readiness = {
  /** Why the process is not ready. Undefined: it is. */
  readonly find: Check;
  /** From here on it is not ready: a load balancer sends its requests to another process, or waits. */
  drain(): void;
};

export function createReadiness(checks: readonly Check[]): Readiness {
  let isDraining = false;
  return {
    find() {
      if (isDraining) {
        return new PoolError('stopping', 'this process is about to stop; send requests elsewhere');
      }
      for (const check of checks) {
        const problem = check();
        if (problem !== undefined) {
          return problem;
        }
      }
      return undefined;
    },
    drain() {
      isDraining = true;
    },
  };
}

/** @param isAnswering - whether the database answers, as this process saw it within the last seconds */
export function createDatabaseCheck(isAnswering: () => boolean): Check {
  return () =>
    isAnswering()
      ? undefined
      : new PoolError('database_unavailable', 'the database does not answer; try again');
}

/** What the worker of a chain saw last. */
export type ChainWatch = {
  /** The RPC answered all questions of a pass. */
  noteAnswer(): void;
  /** Since then, or since the start. */
  readSilentMs(): number;
  readonly check: Check;
};

/** A node that is being restarted should not take the process out of service. */
const maxSilentMs = 60_000;

export function createChainWatch(chain: string, nowMs: () => number): ChainWatch {
  let answeredAtMs = nowMs();
  const readSilentMs = (): number => Math.max(0, nowMs() - answeredAtMs);
  return {
    noteAnswer() {
      answeredAtMs = nowMs();
    },
    readSilentMs,
    check() {
      const silentMs = readSilentMs();
      return silentMs < maxSilentMs
        ? undefined
        : new PoolError(
            'chain_unreachable',
            `chain ${chain}: its RPC has not answered all questions for ${Math.round(silentMs / 1_000)} s; check the RPC and the log`,
          );
    },
  };
}

/**
 * The time before the listener closes: `/readyz` answers 503, and everything else is answered as before, so that a load balancer has
 * stopped sending requests when connections are refused.
 */
export async function drain(
  readiness: Readiness,
  server: Pick<HttpServer, 'drain'>,
  drainMs: number,
  log: Pick<Log, 'info'>,
): Promise<void> {
  readiness.drain();
  server.drain();
  if (drainMs > 0) {
    log.info({ drainMs }, 'stopping: not ready any more, still answering');
    await delay(drainMs);
  }
}
