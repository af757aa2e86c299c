/**
 * Erases old personal data (docs/decisions/0007) at the start and every hour. A job that cannot be erased is
 * reported in the log and in the metrics, and does not prevent the erasure of others.
 *
 * @module
 */
import { deriveTraceId, errorCodeOf } from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import { createPace, openBatch, type PaidBatch } from '@pool/wallet';
import type { Log } from '@pool/wallet/node';
import { computeOpeningsLimit, type OpeningsStore } from '@pool/wallet/node';
import { eraseExpired } from './erase-expired.ts';

const pauseMs = 3_600_000;

export type Retention = {
  /** One pass. Never throws. */
  erase(): Promise<void>;
  /** Number of jobs that the last complete pass could not erase; their recipients and amounts remain. */
  failedJobs(): number;
  stop(): void;
};

export function startRetention(input: {
  readonly store: JobStore;
  readonly days: number;
  readonly log: Log;
  readonly nowMs: () => number;
  /** Where the openings of paid batches are kept, before their recipients are erased. */
  readonly openings: Pick<OpeningsStore, 'keep' | 'eraseBefore'>;
  /** Years after a payment until its openings are erased. */
  readonly disclosureYears: number;
}): Retention {
  const { store, days, log, nowMs, openings, disclosureYears } = input;
  let failedJobs = 0;

  async function erase(): Promise<void> {
    try {
      const keep = async (batch: PaidBatch): Promise<void> =>
        openings.keep(await openBatch(batch, createPace()));
      const { erased, failed } = await eraseExpired(store, days, nowMs(), keep);
      openings.eraseBefore(computeOpeningsLimit(nowMs(), disclosureYears));
      failedJobs = failed.length;
      if (erased > 0) {
        log.info({ erased }, 'recipients and seeds of old jobs erased');
      }
      for (const { key, code } of failed) {
        log.error(
          { trace: deriveTraceId(key), code },
          'an old job could not be erased; its recipients and amounts are still in the job store',
        );
      }
    } catch (error) {
      log.warn({ code: errorCodeOf(error) }, 'retention failed, next attempt in an hour');
    }
  }

  void erase();
  const timer = setInterval(() => void erase(), pauseMs);
  return {
    erase,
    failedJobs: () => failedJobs,
    stop: () => clearInterval(timer),
  };
}
