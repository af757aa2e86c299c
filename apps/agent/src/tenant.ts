/**
 * Whose agent this is: the platform's answer to bootstrap, asked at start and again until it comes.
 *
 * @module
 */
import { type Bootstrap, errorCodeOf, PoolError } from '@pool/core';
import type { AgentLog } from './agent-log.ts';

export type Tenant = {
  /** @throws PoolError 503 `platform_unavailable` while bootstrap has not succeeded */
  current(): Bootstrap;
  /** Resolves with the first answer. Never, when stopped before. */
  readonly ready: Promise<Bootstrap>;
  stop(): void;
};

const firstWaitMs = 500;
const longestWaitMs = 15_000;

export function startTenant(
  bootstrap: () => Promise<Bootstrap>,
  log: AgentLog,
  onReady: (answer: Bootstrap) => void,
): Tenant {
  let answer: Bootstrap | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let resolveReady: (value: Bootstrap) => void = () => undefined;
  const ready = new Promise<Bootstrap>((resolve) => {
    resolveReady = resolve;
  });

  async function ask(waitMs: number): Promise<void> {
    try {
      const received = await bootstrap();
      if (stopped) {
        return;
      }
      answer = received;
      log.info({ chain: received.chain }, 'bootstrap done');
      onReady(received);
      resolveReady(received);
    } catch (error) {
      log.warn({ code: errorCodeOf(error), retryInMs: waitMs }, 'bootstrap failed, trying again');
      if (!stopped) {
        timer = setTimeout(() => void ask(Math.min(2 * waitMs, longestWaitMs)), waitMs);
      }
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
