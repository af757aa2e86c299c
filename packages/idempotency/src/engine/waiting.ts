/**
 * How a job waits for the outside world: a call is repeated through an outage, a refused request is sent again after longer and longer
 * pauses, and an authorisation has a deadline that bounds every wait (docs/protocol.md, "Late landing").
 *
 * @module
 */
import { isPoolError, type PoolError } from '@pool/core';
import { rethrowInterruption } from './interruption.ts';

export type EngineClock = {
  nowMs(): number;
  /** Measures pauses and patience: it does not step when the clock of the machine is set. */
  steadyMs(): number;
  /** Rejects when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
};

export type RetryOptions = {
  readonly clock: EngineClock;
  /** How long one call may keep failing. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly onRetry: (error: PoolError) => void;
};

/** Tries again while the error is retryable, for `patienceMs`. @throws InterruptedRunError when the run ends meanwhile */
export async function retryWork<T>(
  { clock, patienceMs, signal, onRetry }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = clock.steadyMs() + patienceMs;
  for (let waitMs = 250; ; waitMs = Math.min(2 * waitMs, 10_000)) {
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error);
      if (!isPoolError(error) || !error.retryable || signal.aborted) {
        throw error;
      }
      if (clock.steadyMs() >= giveUpAtMs) {
        throw error;
      }
      onRetry(error);
    }
    await clock.sleep(waitMs, signal);
  }
}

/** When to send a refused request again. */
export type Pacer = {
  isDue(): boolean;
  /** Starts the next pause, twice as long as the one before, from 2 s to a minute. */
  markTried(): void;
};

export function createPacer({ steadyMs }: Pick<EngineClock, 'steadyMs'>, pollMs: number): Pacer {
  let dueAtMs = 0;
  let waitMs = Math.max(2_000, pollMs);
  return {
    isDue: () => steadyMs() >= dueAtMs,
    markTried() {
      dueAtMs = steadyMs() + waitMs;
      waitMs = Math.min(2 * waitMs, 60_000);
    },
  };
}

const roundingSeconds = 900;

/**
 * The deadline of an authorisation in Unix seconds. Rounded up to a quarter of an hour, so that it does not reveal when the manifest was
 * made. Shorter windows (tests) are not rounded.
 *
 * @param nowSeconds - the later of our clock and the chain's newest block
 */
export function computeDeadline(nowSeconds: number, windowSeconds: number): number {
  const deadline = nowSeconds + windowSeconds;
  return windowSeconds < roundingSeconds
    ? deadline
    : Math.ceil(deadline / roundingSeconds) * roundingSeconds;
}

/** True when too little time is left for an authorisation to leave: it would hardly land, and hold its money until it is dead. */
export function isTooLateToLeave(
  nowSeconds: number,
  deadline: number,
  windowSeconds: number,
): boolean {
  return nowSeconds >= deadline - Math.min(60, Math.floor(windowSeconds / 10));
}
