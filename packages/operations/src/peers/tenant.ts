/**
 * The employer of this agent and the settings that its platform vends: the answer to bootstrap. The agent asks at start until an
 * answer comes, and then once per minute. New answers apply to new requests; running jobs keep their chain, pool and
 * token, which are the agent's own settings. The agent refuses an answer that names another employer, at start and later
 * (docs/decisions/0008): until the platform names the right employer again, it accepts no request, and the jobs underway
 * wait in the store.
 *
 * @module
 */
import type { Bootstrap } from '@pool/api';
import { explainPlatformFailure, isPoolError, PoolError } from '@pool/core';
import type { Log } from '@pool/wallet/node';
import { createMismatch, type Tenancy } from './tenancy.ts';

export type Tenant = {
  /**
   * The newest answer of the platform.
   * @throws PoolError 503 `platform_unreachable`, `edge_token_refused` or `platform_invalid_response` while bootstrap has
   * not succeeded, `employer_mismatch` or
   * `tenancy_unreadable` while its answer is refused
   */
  current(): Bootstrap;
  /** The employer whose jobs can be read, also while no request is accepted. @throws PoolError as {@link Tenant.current} */
  employerId(): string;
  /** Why the platform's answer is refused. Undefined: it is not refused. */
  refusal(): PoolError | undefined;
  /** Resolves with the first answer; never, if stopped before it. */
  readonly ready: Promise<Bootstrap>;
  stop(): void;
};

export type TenantOptions = {
  readonly bootstrap: () => Promise<Bootstrap>;
  readonly tenancy: Pick<Tenancy, 'employerId' | 'admit'>;
  readonly log: Log;
  /** Called with every adopted answer, before it is in effect. */
  readonly onAnswer: (answer: Bootstrap) => void;
  /** Called with the first answer, and with the first answer after a refusal: work begins. */
  readonly onReady: (answer: Bootstrap) => void;
  /** Called when an answer is refused: work ends at its next safe point. */
  readonly onRefused: () => void;
  /** Pause between two requests. Default: a minute. */
  readonly refreshMs?: number;
};

const firstWaitMs = 500;
const longestWaitMs = 15_000;
const defaultRefreshMs = 60_000;

const notAnswered =
  'the platform has not answered bootstrap yet; check DISBURSE_PLATFORM_URL and DISBURSE_PLATFORM_TOKEN, then try again';

export function startTenant(options: TenantOptions): Tenant {
  const { tenancy, log, refreshMs = defaultRefreshMs } = options;
  let answer: Bootstrap | undefined;
  let refusal: PoolError | undefined;
  let failure: PoolError | undefined;
  let isWorking = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let resolveReady: (value: Bootstrap) => void = () => undefined;
  const ready = new Promise<Bootstrap>((resolve) => {
    resolveReady = resolve;
  });

  async function admit(employerId: string): Promise<void> {
    await tenancy.admit(employerId);
    // Jobs, keys and nonces belong to one employer: a process never changes its employer.
    if (answer !== undefined && answer.employerId !== employerId) {
      throw createMismatch('the employer of this directory was changed while the agent ran');
    }
  }

  function refuse(error: PoolError): void {
    refusal = error;
    isWorking = false;
    log.error({ code: error.code }, `bootstrap is refused: ${error.message}`);
    options.onRefused();
  }

  async function adopt(received: Bootstrap): Promise<void> {
    // Lower case, because the id is the scope of the jobs.
    const next = { ...received, employerId: received.employerId.toLowerCase() };
    try {
      await admit(next.employerId);
    } catch (error) {
      if (isPoolError(error) && !stopped) {
        refuse(error);
        return;
      }
      throw error;
    }
    if (stopped) {
      return;
    }
    options.onAnswer(next);
    if (!isWorking) {
      // A failure here is retried with the next answer: an agent that accepts jobs must also work on them.
      options.onReady(next);
      isWorking = true;
      log.info({ chain: next.chain }, 'bootstrap done');
    }
    answer = next;
    refusal = undefined;
    resolveReady(next);
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
        await adopt(received);
        askLater(refusal === undefined ? refreshMs : longestWaitMs, firstWaitMs);
      }
    } catch (error) {
      const retryInMs = isWorking ? refreshMs : waitMs;
      failure = explainPlatformFailure(error, 'bootstrap', notAnswered);
      const { code, retryable, details } = failure;
      log.warn(
        { code: details?.['reason'] ?? code, retryInMs },
        retryable
          ? 'bootstrap failed, will try again'
          : `bootstrap failed, will try again: ${failure.message}`,
      );
      askLater(retryInMs, Math.min(2 * waitMs, longestWaitMs));
    }
  }

  function current(): Bootstrap {
    if (refusal !== undefined) {
      throw refusal;
    }
    if (answer === undefined) {
      throw failure ?? new PoolError('platform_unreachable', notAnswered);
    }
    return answer;
  }

  void ask(firstWaitMs);
  return {
    ready,
    current,
    refusal: () => refusal,
    employerId() {
      const known =
        refusal === undefined ? undefined : (answer?.employerId ?? tenancy.employerId());
      return known ?? current().employerId;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
