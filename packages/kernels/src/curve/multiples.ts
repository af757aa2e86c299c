/**
 * Multiples of many points by double-and-add in lockstep. Multiples of a generator: fixed-base.ts.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import {
  createTaskCounter,
  placePerThread,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';
import { zkeyPointBytes } from '../zkey/zkey-format.ts';
import { type Group, loadPoints, pointSize } from './points.ts';

/** Points per task, and scratch memory for their additions; see codegen/multiples.ts and codegen/add-pairs.ts. */
export const taskPoints = 1024;
export const jobsBytes = taskPoints * 12;
export const scratchBytes = 18 * 80 + (taskPoints / 2) * 240;
const digitsBytes = 40;
/** Points in memory at once. */
const chunkPoints = 65_536;
const scalarBits = 256;

export type Work = {
  readonly sums: number;
  readonly scalars: number;
  readonly jobs: number;
  readonly scratch: number;
  /** Scratch memory of 40 bytes per point. */
  readonly digits: number;
  /** First point of the task, within the whole. */
  readonly start: number;
  readonly count: number;
};

/** Computes `count` points. `describe` returns the additions of a task; the sums start at infinity. */
export async function computeMultiples(
  runtime: Runtime,
  group: Group,
  count: number,
  scalars: Uint8Array,
  describe: (work: Work) => readonly KernelCall[],
  { signal, onProgress }: TaskOptions,
): Promise<Uint8Array> {
  const { memory, threads } = runtime;
  const zkeyBytes = zkeyPointBytes[group];
  const output = new Uint8Array(count * zkeyBytes);
  const isCommon = scalars.length === scalarBytes && count > 1;
  const onTaskDone = createTaskCounter(Math.ceil(count / taskPoints), onProgress);
  await withBlocks(memory, async (allocate) => {
    const chunk = Math.min(count, chunkPoints);
    const secret = { secret: true };
    const sums = allocate(chunk * pointSize[group], secret).address;
    const results = allocate(chunk * zkeyBytes, secret).address;
    const factors = allocate(isCommon ? scalarBytes : chunk * scalarBytes, secret).address;
    const places = placePerThread(runtime, () => ({
      // One digit of each scalar decides which points are added.
      jobs: allocate(jobsBytes, secret).address,
      scratch: allocate(scratchBytes, secret).address,
      digits: allocate(taskPoints * digitsBytes, secret).address,
    }));
    for (const [start, size] of splitRange(count, chunk)) {
      const wanted = isCommon
        ? scalars
        : scalars.subarray(start * scalarBytes, (start + size) * scalarBytes);
      memory.view(factors, wanted.length).set(wanted);
      const tasks = splitRange(size, taskPoints).map(([first, part]) => (thread: number) => {
        const sum = sums + first * pointSize[group];
        const scalar = isCommon ? factors : factors + first * scalarBytes;
        const work = {
          ...places(thread),
          sums: sum,
          scalars: scalar,
          start: start + first,
          count: part,
        };
        return [
          [`${group}_clear`, sum, part] as const,
          ...describe(work),
          [`${group}_toZkey`, results + first * zkeyBytes, sum, part] as const,
        ];
      });
      await threads.run(tasks, { signal, onTaskDone });
      output.set(memory.view(results, size * zkeyBytes), start * zkeyBytes);
    }
  });
  return output;
}

/**
 * scalars[i]·points[i], or one scalar times every point. Scalars are secret and used as 256-bit integers, so that the points may
 * be any points on the curve. The time depends on the scalars.
 * @param points - in the proving key's format, zeros for infinity
 * @param scalars - 32 bytes little-endian each: one scalar, or one for each point
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export async function multiplyPoints(
  runtime: Runtime,
  group: Group,
  points: Uint8Array,
  scalars: Uint8Array,
  options: TaskOptions = {},
): Promise<Uint8Array> {
  const zkeyBytes = zkeyPointBytes[group];
  const count = points.length / zkeyBytes;
  const isCommon = scalars.length === scalarBytes;
  if (!Number.isInteger(count) || (!isCommon && scalars.length !== count * scalarBytes)) {
    throw new KernelsError(
      'input_refused',
      `${points.length} bytes of points (${zkeyBytes} each) do not match ${scalars.length} bytes of scalars: pass one scalar, or one for each point`,
    );
  }
  if (count === 0) return new Uint8Array();
  const table = await loadPoints(
    runtime,
    group,
    count,
    (start, size, into) => {
      into.set(points.subarray(start * zkeyBytes, (start + size) * zkeyBytes));
      return Promise.resolve();
    },
    { signal: options.signal },
  );
  const { address } = table;
  try {
    return await computeMultiples(
      runtime,
      group,
      count,
      scalars,
      ({ sums, scalars: factors, jobs, scratch, start, count: part }) =>
        Array.from({ length: scalarBits }, (_, index) => [
          `${group}_doubleAndAdd`,
          sums,
          address + start * pointSize[group],
          factors,
          isCommon && count > 1 ? 0 : scalarBytes,
          scalarBits - 1 - index,
          part,
          jobs,
          scratch,
        ]),
      options,
    );
  } finally {
    table.release();
  }
}
