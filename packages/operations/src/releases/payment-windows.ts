/**
 * When a batch that was prepared ahead may be paid: not before its time, not without its release before a deadline, and not late. The window
 * of a key is stored before its job exists and never changes, so it counts for every agent on the store and after every restart.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import * as v from 'valibot';

const instant = v.pipe(v.number(), v.integer());

const windowSchema = v.strictObject({
  /** The occurrence that the key belongs to. No other one sends or withdraws it. */
  owner: v.string(),
  /** Without its release before then the batch is not paid. Milliseconds since the epoch. */
  releaseByMs: instant,
  /** Released or not, it is not signed before then. */
  payAtMs: instant,
  /** It is not signed after then. */
  payByMs: instant,
});
export type PaymentWindow = v.InferOutput<typeof windowSchema>;

export type StoredWindow = PaymentWindow & {
  /** Its schedule does not want the payment any more, so it is not signed, whether the job is cancelled yet or not. */
  readonly isWithdrawn: boolean;
};

export type PaymentWindows = {
  /** @throws PoolError `store_damaged` */
  find(key: string): Promise<StoredWindow | undefined>;
  /** Stores the window of a key. The first one counts. @returns the one that counts */
  put(key: string, window: PaymentWindow, nowMs: number): Promise<StoredWindow>;
  /** For good. The key has a window. */
  withdraw(key: string): Promise<void>;
};

/** A scope of the agent's own, which no list of jobs contains. */
const scope = ':payment-windows';

/** Name of the write-once value. */
const withdrawnName = 'withdrawn';

export function createPaymentWindows(
  store: Pick<JobStore, 'claim' | 'get' | 'ask' | 'getValue'>,
): PaymentWindows {
  async function read(key: string, payload: string): Promise<StoredWindow> {
    const isWithdrawn = (await store.getValue(scope, key, withdrawnName)) !== undefined;
    return { ...parseWindow(payload), isWithdrawn };
  }

  return {
    async find(key) {
      const found = await store.get(scope, key);
      return found === undefined ? undefined : await read(key, found.payload);
    },
    async put(key, window, nowMs) {
      const payload = JSON.stringify(window);
      const name = { scope, key, fingerprint: key, state: 'set' };
      const { job } = await store.claim({ ...name, payload, nowMs });
      return await read(key, job.payload);
    },
    async withdraw(key) {
      await store.ask({ scope, key, name: withdrawnName, value: 'true' });
    },
  };
}

function parseWindow(text: string): PaymentWindow {
  try {
    return v.parse(windowSchema, JSON.parse(text));
  } catch (cause) {
    throw new PoolError(
      'store_damaged',
      'the job store is damaged: the time of a scheduled payment cannot be read. Restore it from a backup; nothing of it is signed until then',
      { cause },
    );
  }
}
