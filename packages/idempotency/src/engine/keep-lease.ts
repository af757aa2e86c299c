/**
 * Keeps one lease while its job runs. The remaining time of the lease is measured on a clock that does not step. Other
 * processes judge a lease by the wall clock, which may jump. If they take the job over after a jump, the fence of the store
 * refuses the writes of this worker, and its next renewal fails.
 *
 * @module
 */
import type { FencedName, JobStore } from '../job-store.ts';

/** Renewals in the life of one lease, so that a failed one can be tried again. */
export const renewalsPerLease = 3;

export type HeldLease = {
  /** Stops renewing. The lease stays as it is. */
  end(): void;
};

export function keepLease(input: {
  readonly store: Pick<JobStore, 'renew'>;
  readonly fenced: FencedName;
  readonly ttlMs: number;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly monotonicMs: () => number;
  /** When the lease was requested, on that clock. */
  readonly takenAtMs: number;
  /** The job was taken over, or the lease ran out before it could be renewed. */
  readonly onLost: () => void;
}): HeldLease {
  const { store, fenced, ttlMs, nowMs, monotonicMs, onLost } = input;
  let heldUntilMs = input.takenAtMs + ttlMs;

  async function renew(): Promise<void> {
    const askedAtMs = monotonicMs();
    try {
      if (await store.renew({ ...fenced, ttlMs, nowMs: nowMs() })) {
        heldUntilMs = askedAtMs + ttlMs;
        return;
      }
      onLost();
    } catch {
      // A busy store is asked again at the next renewal, as long as the lease lasts.
      if (monotonicMs() >= heldUntilMs) {
        onLost();
      }
    }
  }

  const timer = setInterval(() => void renew(), Math.max(1, Math.floor(ttlMs / renewalsPerLease)));
  return { end: () => clearInterval(timer) };
}
