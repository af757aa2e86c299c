/**
 * Thread that checks batches and spends: arithmetic of tens of milliseconds, off the serving thread.
 *
 * @module
 */
import { createBatchArithmetic } from '@pool/notes';
import { type BatchJob, type BatchVerdict, checkBatch } from './check-batch.ts';
import { checkSpend, type SpendJob } from './check-spend.ts';
import { serveThread } from './thread-calls.ts';

// One thread for the kernels: more would take the cores that answer requests.
const arithmetic = createBatchArithmetic({ threads: 1 });

serveThread<BatchJob | SpendJob, BatchVerdict>(async (job) =>
  job.kind === 'batch'
    ? await checkBatch(job, await arithmetic)
    : await checkSpend(job, await arithmetic),
);
