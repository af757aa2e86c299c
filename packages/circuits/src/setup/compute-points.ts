/**
 * Multiples of a generator on all cores, through worker threads over shared memory.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { GroupName } from './affine-groups.ts';
import { chooseWindowBits, pointBytes } from './fixed-base.ts';
import { moduleBeside } from './module-beside.ts';
import type { PointsJob } from './points-worker.ts';
import { ELEMENT_BYTES } from './scalars.ts';

const CHUNK = 2048;

export type ComputePointsOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of points done so far. */
  readonly onProgress?: ((done: number) => void) | undefined;
};

const runWorker = (job: PointsJob, options: ComputePointsOptions, onPoints: (n: number) => void) =>
  new Promise<void>((resolve, reject) => {
    const worker = new Worker(moduleBeside(import.meta.url, 'points-worker'), { workerData: job });
    const abort = () => {
      const reason: unknown = options.signal?.reason;
      reject(reason instanceof Error ? reason : new Error('aborted'));
      void worker.terminate();
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    worker.on('message', onPoints);
    worker.on('error', reject);
    worker.on('exit', (code) => {
      options.signal?.removeEventListener('abort', abort);
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(`a setup worker ended with code ${code}`));
      }
    });
  });

/**
 * scalars[i] * generator, for all i.
 * @param scalars 32 bytes little-endian each, below r
 * @returns points as a `.zkey` stores them, one after the other
 */
export const computePoints = async (
  group: GroupName,
  scalars: Uint8Array,
  options: ComputePointsOptions = {},
): Promise<Uint8Array> => {
  options.signal?.throwIfAborted();
  const count = scalars.length / ELEMENT_BYTES;
  const output = new SharedArrayBuffer(count * pointBytes(group));
  const chunks = Math.ceil(count / CHUNK);
  const shared = new SharedArrayBuffer(scalars.length);
  new Uint8Array(shared).set(scalars);
  const workers = Math.max(1, Math.min(chunks, availableParallelism()));
  const job: PointsJob = {
    group,
    windowBits: chooseWindowBits(count / workers),
    count,
    chunk: CHUNK,
    scalars: shared,
    output,
    next: new SharedArrayBuffer(4),
  };
  let done = 0;
  const onPoints = (points: number) => {
    done += points;
    options.onProgress?.(done);
  };
  await Promise.all(Array.from({ length: workers }, () => runWorker(job, options, onPoints)));
  return new Uint8Array(output);
};

export const generatorMultiplier = {
  multiplyGenerator: (
    group: 'g1' | 'g2',
    scalars: Uint8Array,
    options: {
      signal?: AbortSignal | undefined;
      onProgress?: ((f: number) => void) | undefined;
    } = {},
  ): Promise<Uint8Array> =>
    computePoints(group === 'g1' ? 'G1' : 'G2', scalars, {
      signal: options.signal,
      onProgress: (done) => options.onProgress?.((done * ELEMENT_BYTES) / scalars.length),
    }),
};
