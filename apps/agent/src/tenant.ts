/**
 * Whose agent this is, and what its platform vends: the answer to bootstrap, asked at start until it comes and
 * from then on again and again. New answers count for new requests; running jobs keep the chain, pool and
 * token they began with, which are the agent's own settings anyway.
 *
 * @module
 */
import { type Bootstrap, errorCodeOf, PoolError } from '@pool/core';
import type { AgentLog } from './agent-log.ts';

export type Tenant = {
  /** The newest answer. @throws PoolError 503 `platform_unavailable` while bootstrap has not succeeded */
  current(): Bootstrap;
  /** Resolves with the first answer. Never, when stopped before. */
  readonly ready: Promise<Bootstrap>;
  stop(): void;
};

export type TenantOptions = {
  readonly bootstrap: () => Promise<Bootstrap>;
  readonly log: AgentLog;
  /** Called with every answer that is adopted, before it counts. */
  readonly onAnswer: (answer: Bootstrap) => void;
  /** Called once, with the first. */
  readonly onReady: (answer: Bootstrap) => void;
  /** Pause between two questions. Default: a minute. */
  readonly refreshMs?: number;
};

const firstWaitMs = 500;
const longestWaitMs = 15_000;
const defaultRefreshMs = 60_000;

export function startTenant(options: TenantOptions): Tenant {
  const { log, refreshMs = defaultRefreshMs } = options;
  let answer: Bootstrap | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let resolveReady: (value: Bootstrap) => void = () => undefined;
  const ready = new Promise<Bootstrap>((resolve) => {
    resolveReady = resolve;
  });

  function adopt(received: Bootstrap): void {
    if (answer !== undefined && answer.employerId !== received.employerId) {
      // Jobs, keys and nonces belong to one employer: a process never changes hands.
      log.error({}, 'bootstrap names another employer: its answer is not taken until a restart');
      return;
    }
    const isFirst = answer === undefined;
    options.onAnswer(received);
    if (isFirst) {
      // What fails here is tried again with the next answer: an agent that takes jobs must also work on them.
      options.onReady(received);
      log.info({ chain: received.chain }, 'bootstrap done');
    }
    answer = received;
    resolveReady(received);
  }

  function askLater(waitMs: number, nextWaitMs: number): void {
    if (!stopped) {
      timer = setTimeout(() => void ask(nextWaitMs), waitMs);
    }
  }

  async function ask(waitMs: number): Promise<void> {
    try {
      const received = await options.bootstrap();
      if (!stopped) {
        adopt(received);
        askLater(refreshMs, firstWaitMs);
      }
    } catch (error) {
      const retryInMs = answer === undefined ? waitMs : refreshMs;
      log.warn({ code: errorCodeOf(error), retryInMs }, 'bootstrap failed, trying again');
      askLater(retryInMs, Math.min(2 * waitMs, longestWaitMs));
    }
  }

  void ask(firstWaitMs);
  return {
    ready,
    current() {
      if (answer === undefined) {
        throw new PoolError(
          'platform_unavailable',
          'the platform has not answered bootstrap yet; check DISBURSE_PLATFORM_URL and DISBURSE_PLATFORM_TOKEN, then try again',
          { status: 503, retryable: true },
        );
      }
      return answer;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
