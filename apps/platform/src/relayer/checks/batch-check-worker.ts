/**
 * Thread that checks batches: arithmetic of tens of milliseconds for 256 slots, off the serving thread.
 *
 * @module
 */
import { createBatchArithmetic } from '@pool/notes';
import { serveThread } from '../../thread-calls.ts';
import { type BatchJob, type BatchVerdict, checkBatch } from './check-batch.ts';

// One thread for the kernels: more would take the cores that answer requests.
const arithmetic = createBatchArithmetic({ threads: 1 });

serveThread<BatchJob, BatchVerdict>(async (job) => checkBatch(job, await arithmetic));
