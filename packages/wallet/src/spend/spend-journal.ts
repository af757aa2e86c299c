/**
 * Which spend an Idempotency-Key stands for. In memory, the keys are forgotten when the agent stops, as the service specifies. In a
 * durable store (`DISBURSE_SPEND_JOURNAL`), a key reaches the same spend after a restart.
 *
 * The journal only names spends of the archive. A spend is archived first, then its name is written here, and only then it is signed.
 * So a key without a spend has never sent anything.
 *
 * @module
 */
import { type Hex32, parseHex32 } from '@pool/core';
import type { JobStore } from '@pool/idempotency';

export type SpendJournal = {
  /** Undefined: the key was never used. Otherwise the fingerprint of its request. */
  findFingerprint(key: string): Promise<string | undefined>;
  /** Uses the key for a request. @returns the fingerprint that the key has now: that of its first request */
  claim(key: string, fingerprint: string): Promise<string>;
  /**
   * @param attempt - from 1. The next attempt exists only if the spend of the one before was abandoned
   * @returns the outRoot of the spend
   */
  findSpend(key: string, attempt: number): Promise<Hex32 | undefined>;
  /** Names the spend of an attempt unless it has one. @returns the spend of the attempt: the first write wins */
  bindSpend(key: string, attempt: number, outRoot: Hex32): Promise<Hex32>;
};

/** State of a key in the store. No worker leases it. */
const keyState = 'spend';

/**
 * @param store - a store for spends only, or one that nothing else uses under `scope`
 * @param scope - names the holder
 */
export function createSpendJournal(
  store: JobStore,
  scope: string,
  nowMs: () => number,
): SpendJournal {
  const nameOf = (attempt: number): string => `spend/${attempt}`;
  return {
    async findFingerprint(key) {
      return (await store.get(scope, key))?.fingerprint;
    },
    async claim(key, fingerprint) {
      const { job } = await store.claim({
        scope,
        key,
        fingerprint,
        state: keyState,
        payload: '{}',
        nowMs: nowMs(),
      });
      return job.fingerprint;
    },
    async findSpend(key, attempt) {
      const outRoot = await store.getValue(scope, key, nameOf(attempt));
      return outRoot === undefined ? undefined : parseHex32(outRoot);
    },
    async bindSpend(key, attempt, outRoot) {
      return parseHex32(await store.ask({ scope, key, name: nameOf(attempt), value: outRoot }));
    },
  };
}
