/**
 * Worker thread of the dev setup: takes chunks of one shared job until none is left.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { GroupName } from './affine-groups.ts';
import { createFixedBase, pointBytes } from './fixed-base.ts';
import { ELEMENT_BYTES } from './scalars.ts';

/** A job: `count` scalars in, as many points out, both in shared memory; `next` hands out the chunks. */
export type PointsJob = {
  readonly group: GroupName;
  readonly windowBits: number;
  readonly count: number;
  readonly chunk: number;
  readonly scalars: SharedArrayBuffer;
  readonly output: SharedArrayBuffer;
  readonly next: SharedArrayBuffer;
};

const work = async (job: PointsJob, onChunk: (points: number) => void): Promise<void> => {
  const multiply = await createFixedBase(job.group, job.windowBits);
  const next = new Int32Array(job.next);
  const size = pointBytes(job.group);
  for (;;) {
    const first = Atomics.add(next, 0, 1) * job.chunk;
    if (first >= job.count) {
      return;
    }
    const points = Math.min(job.chunk, job.count - first);
    multiply(
      new Uint8Array(job.scalars, first * ELEMENT_BYTES, points * ELEMENT_BYTES),
      new Uint8Array(job.output, first * size, points * size),
    );
    onChunk(points);
  }
};

if (parentPort !== null) {
  const port = parentPort;
  await work(workerData as PointsJob, (points) => {
    port.postMessage(points);
  });
}
