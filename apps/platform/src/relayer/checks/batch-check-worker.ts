/**
 * Thread that checks batches: tens of milliseconds of arithmetic for one of 256, which the serving thread need not do.
 *
 * @module
 */
import { createBatchArithmetic } from '@pool/notes';
import { serveThread } from '../../thread-calls.ts';
import { type BatchJob, type BatchVerdict, checkBatch } from './check-batch.ts';

// One thread for the kernels: more would take the cores that answer requests.
const arithmetic = createBatchArithmetic({ threads: 1 });

serveThread<BatchJob, BatchVerdict>(async (job) => checkBatch(job, await arithmetic));
