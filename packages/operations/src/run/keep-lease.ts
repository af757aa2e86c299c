/**
 * Keeps one lease while its job is worked on. How long the lease is still held is counted on a clock that does not step:
 * the wall clock, by which other processes judge a lease, may jump. When it does, they may take the job over; the fence
 * of the store then shuts this worker out, and the next renewal tells it.
 *
 * @module
 */
import type { FencedName, JobStore } from '@pool/idempotency';

/** Renewals in the life of one lease, so that one that fails can be tried again. */
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
  /** When the lease was asked for, on that clock. */
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
      // A busy store is asked again at the next turn, as long as the lease lasts.
      if (monotonicMs() >= heldUntilMs) {
        onLost();
      }
    }
  }

  const timer = setInterval(() => void renew(), Math.max(1, Math.floor(ttlMs / renewalsPerLease)));
  return { end: () => clearInterval(timer) };
}
