/**
 * Thread that checks batches and spends: arithmetic of tens of milliseconds, off the serving thread.
 *
 * @module
 */
import { createBatchArithmetic } from '@pool/notes';
import { type BatchJob, checkInputs, type SpendJob, type Verdict } from './check-inputs.ts';
import { serveThread } from './thread-calls.ts';

// One thread for the kernels: more would take the cores that answer requests.
const arithmetic = createBatchArithmetic({ threads: 1 });

serveThread<BatchJob | SpendJob, Verdict>(async (job) => checkInputs(job, await arithmetic));
