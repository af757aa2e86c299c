/**
 * Erases old personal data (docs/decisions/0007) at the start and every hour. A job that cannot be erased is
 * reported in the log and in the metrics, and does not prevent the erasure of others.
 *
 * @module
 */
import { deriveTraceId, errorCodeOf, PoolError, parseHex32 } from '@pool/core';
import type { EraseInput, JobStore, StoredJob } from '@pool/idempotency';
import { eraseEach } from '@pool/idempotency/engine';
import { createPace, giveWay, openBatch, type PaidBatch } from '@pool/wallet';
import type { Log } from '@pool/wallet/node';
import { computeOpeningsLimit, type OpeningsStore } from '@pool/wallet/node';
import { deliveryName, hasNotesOnChain } from './batch/batch.ts';
import { type EndPhase, hasEnded } from './job/phases.ts';
import {
  type DisbursementRecord,
  deserializeManifest,
  deserializeRecord,
  manifestName,
  releaseName,
  serializeRecord,
} from './job/record.ts';

// Retention (docs/decisions/0007): some days after a job ended, its recipients and the seed of its batch are erased.
// Key, fingerprint and result stay, so that the key stays used and the job can still be read.

/** Errors that concern the store as a whole, and not one job. */
const storeOutages: readonly string[] = [
  'store_busy',
  'store_closed',
  'disk_full',
  'database_unavailable',
];

const dayMs = 86_400_000;

/** A job that could not be erased. Its data are still there. */
type ErasureFailure = {
  readonly scope: string;
  readonly key: string;
  readonly code: string;
};

type ErasurePass = {
  readonly erased: number;
  readonly failed: readonly ErasureFailure[];
};

/**
 * Erases every job whose retention has ended. Each job is tried once. A job that cannot be erased is skipped and listed.
 * @param keepOpenings - stores what proves a paid batch later. It ends before recipients and seed are erased, and a job whose openings
 *   cannot be kept is not erased
 * @throws StoreError when the store does not answer
 */
export async function eraseExpired(
  store: JobStore,
  retentionDays: number,
  nowMs: number,
  keepOpenings: (batch: PaidBatch) => Promise<void> = async () => undefined,
): Promise<ErasurePass> {
  const failed: ErasureFailure[] = [];
  const updatedBeforeMs = nowMs - retentionDays * dayMs;
  const erased = await eraseEach<StoredJob>(
    (page) => store.listErasable({ states: ['done', 'failed'], updatedBeforeMs, ...page }),
    async (job) => {
      const { scope, key } = job;
      const code = await eraseJob(store, job, keepOpenings);
      if (code !== undefined) {
        failed.push({ scope, key, code });
      }
      // Each erasure waits for the disk, on the thread that serves the routes.
      await giveWay();
      return code === undefined;
    },
  );
  return { erased, failed };
}

/** @returns the code of the error that prevented it; undefined: the job was erased */
async function eraseJob(
  store: JobStore,
  job: StoredJob,
  keepOpenings: (batch: PaidBatch) => Promise<void>,
): Promise<string | undefined> {
  try {
    const record = deserializeRecord(job.payload);
    const paid = await readPaidBatch(store, job, record);
    if (paid !== undefined) {
      await keepOpenings(paid);
    }
    await store.erase(decideErasure(job, record));
    return undefined;
  } catch (error) {
    const code = errorCodeOf(error) ?? 'internal_error';
    if (storeOutages.includes(code)) {
      throw error;
    }
    return code;
  }
}

/**
 * A batch with notes on chain, as long as its manifest and seed are there.
 * @param record - of the job; undefined: it cannot be read
 */
export async function readPaidBatch(
  store: Pick<JobStore, 'getValue'>,
  { scope, key, updatedAtMs }: StoredJob,
  record: DisbursementRecord | undefined,
): Promise<PaidBatch | undefined> {
  const phase = record?.phase;
  const txHash = phase?.kind === 'completed' ? phase.result.batches[0]?.txHash : undefined;
  if (txHash === undefined) {
    return undefined;
  }
  const text = await store.getValue(scope, key, manifestName);
  return text === undefined
    ? undefined
    : {
        ...deserializeManifest(text),
        jobKey: key,
        txHash: parseHex32(txHash),
        paidAtMs: updatedAtMs,
      };
}

function decideErasure(job: StoredJob, record: DisbursementRecord): EraseInput {
  // The sealed notes of a paid batch stay: a recipient may need them once more (docs/decisions/0009).
  const delivery = hasNotesOnChain(record) ? [] : [deliveryName];
  return {
    scope: job.scope,
    key: job.key,
    // The release record too: anyone who knows the recipients could guess amounts from its digest of the manifest.
    names: [manifestName, releaseName, ...delivery],
    payload: serializeRecord(eraseFields(record)),
  };
}

/** Key, fingerprint and outcome stay, and what the log said of the job. The result lists the skipped recipients, if there is one. */
function eraseFields(record: DisbursementRecord): DisbursementRecord {
  const { phase } = record;
  if (!hasEnded(phase)) {
    throw new PoolError('job_unreadable', 'the stored job has ended without an outcome');
  }
  return { ...record, recipients: [], skipped: [], phase: withoutPast(phase) };
}

/** Without the phase before the end, and so without proof, signatures and approvals. */
function withoutPast({ before, ...phase }: EndPhase): EndPhase {
  return phase;
}

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
      await openings.eraseBefore(computeOpeningsLimit(nowMs(), disclosureYears));
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
