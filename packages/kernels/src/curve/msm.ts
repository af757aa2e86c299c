/**
 * Multi-scalar multiplication: the sum of scalar·point over a table, with signed windows (codegen/msm.ts describes the method).
 * Source: N. Pippenger, "On the evaluation of powers and related problems", FOCS 1976 (buckets).
 *
 * A task is one window of one part of the points. Zero digits cost almost nothing, so small scalars (of either sign) only cost
 * time in their lowest windows. All scalars equal to one end up in one bucket, which is summed as a tree.
 *
 * @module
 */

import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bn254 } from '@noble/curves/bn254.js';
import { KernelsError } from '../runtime/errors.ts';
import { decodeInteger, encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import {
  createTaskCounter,
  placePerThread,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelTask } from '../runtime/threads.ts';
import type { ScalarVector } from '../scalars/scalars.ts';
import { zkeyPointBytes } from '../zkey/zkey-format.ts';
import { type Group, type PointTable, pointSize } from './points.ts';

// The last steps of a multi-scalar multiplication: a few hundred doublings and additions of points.

const { Fp } = bn254.fields;
const zkeyRadix = Fp.create(1n << 256n);

/** A sum of 2^weight·point: points as canonical little-endian coordinates, zeros for infinity. */
type Term = { readonly weight: number; readonly bytes: Uint8Array };

/** The coordinates of an affine sum, or none for infinity. */
function addUp<T>(
  Point: WeierstrassPointCons<T>,
  terms: readonly Term[],
  decode: (numbers: readonly bigint[]) => { readonly x: T; readonly y: T },
): { x: T; y: T } | undefined {
  const byWeight = new Map<number, WeierstrassPoint<T>>();
  for (const { weight, bytes } of terms) {
    if (bytes.every((byte) => byte === 0)) continue;
    const numbers = Array.from({ length: bytes.length / 32 }, (_, at) => decodeInteger(bytes, at));
    const point = Point.fromAffine(decode(numbers));
    byWeight.set(weight, byWeight.get(weight)?.add(point) ?? point);
  }
  let sum = Point.ZERO;
  for (let weight = Math.max(0, ...byWeight.keys()); weight >= 0; weight--) {
    sum = sum.double().add(byWeight.get(weight) ?? Point.ZERO);
  }
  return sum.is0() ? undefined : sum.toAffine();
}

function addInG1(terms: readonly Term[]): readonly bigint[] {
  const sum = addUp(bn254.G1.Point, terms, ([x = 0n, y = 0n]) => ({ x, y }));
  return sum === undefined ? [] : [sum.x, sum.y];
}

function addInG2(terms: readonly Term[]): readonly bigint[] {
  const sum = addUp(bn254.G2.Point, terms, ([a = 0n, b = 0n, c = 0n, d = 0n]) => ({
    x: { c0: a, c1: b },
    y: { c0: c, c1: d },
  }));
  return sum === undefined ? [] : [sum.x.c0, sum.x.c1, sum.y.c0, sum.y.c1];
}

/**
 * The sum of 2^weight·point over the terms.
 * @returns the point in the proving key's format, zeros for infinity
 */
function sumWeighted(group: Group, terms: readonly Term[]): Uint8Array {
  const coordinates = group === 'g1' ? addInG1(terms) : addInG2(terms);
  const output = new Uint8Array(zkeyPointBytes[group]);
  encodeIntegers(
    coordinates.map((value) => Fp.mul(value, zkeyRadix)),
    output,
  );
  return output;
}

/** Additions per kernel call, and bytes of their lists; see codegen/msm.ts and codegen/add-pairs.ts. */
const jobsPerCall = 1024;
const jobBytes = 12;
const pairBytes = 80;
const scratchBytes = 18 * pairBytes + (jobsPerCall / 2) * 3 * pairBytes;
const stateBytes = 64;
/** Bits of the largest |scalar| plus one. All windows together must cover them. */
const scalarBits = 254;
const maximumWindowBits = 16;
/** Maximum number of points in one part. It bounds the memory of a thread. */
const maximumPart = 131_072;
const taskScalars = 8192;

type Plan = { readonly bits: number; readonly windows: number; readonly parts: number };

/** Number of additions in total: each point once per window, and two for each bucket. */
function estimateAdditions(points: number, bits: number, parts: number): number {
  return Math.ceil(scalarBits / bits) * (points + parts * (2 ** bits + 300));
}

/** The window size and the parts with the fewest additions that still give enough tasks for the threads. */
function decidePlan(count: number, large: number, threads: number): Plan {
  const needed = Math.ceil(count / maximumPart);
  const candidates = Array.from({ length: maximumWindowBits - 2 }, (_, index) => {
    const bits = index + 3;
    const windows = Math.ceil(scalarBits / bits);
    // If the tasks are not a multiple of the threads, some threads are idle at the end. Shorter parts are used as long as that
    // pays.
    const options = [1, 2, 3, 4].map((factor) => {
      const parts = Math.max(needed, factor);
      const rounds = Math.ceil((windows * parts) / threads);
      return { parts, cost: rounds * (estimateAdditions(large, bits, parts) / (windows * parts)) };
    });
    const best = options.reduce((left, right) => (right.cost < left.cost ? right : left));
    return { bits, windows, ...best };
  });
  return candidates.reduce((left, right) => (right.cost < left.cost ? right : left));
}

/** The share of scalars above 64 bits, of either sign, estimated from a sample. */
function estimateLarge(scalars: Uint8Array, count: number): number {
  const words = new Uint32Array(scalars.buffer, scalars.byteOffset, scalars.byteLength / 4);
  const step = Math.max(1, Math.floor(count / 4096));
  let sampled = 0;
  let large = 0;
  for (let index = 0; index < count; index += step) {
    const top = words[index * 8 + 7];
    const next = words[index * 8 + 6];
    // The modulus begins with these two words, so scalars just below it are small negative ones.
    const isSmall = (top === 0 && next === 0) || (top === 0x30644e72 && next === 0xe131a029);
    sampled += 1;
    if (!isSmall) large += 1;
  }
  return Math.ceil((large / sampled) * count);
}

/** H of codegen/msm.ts. */
function encodeOffset({ bits, windows }: Plan): Uint8Array {
  let offset = 0n;
  for (let window = 0; window < windows - 1; window++)
    offset += 1n << BigInt(bits * window + bits - 1);
  return encodeIntegers([offset]);
}

/** The memory of one thread. */
type Place = {
  readonly refs: number;
  readonly keys: number;
  readonly buckets: number;
  readonly jobs: number;
  readonly scratch: number;
  readonly work: number;
};

function allocatePlace(
  allocate: (bytes: number) => { readonly address: number },
  group: Group,
  part: number,
  bits: number,
): Place {
  const entries = Math.max(part, 2 ** bits) + 64;
  // Sums of the points themselves (half), one for each pair of buckets, and one for each of the halved sums.
  const points = Math.ceil(part / 2) + 2 * 2 ** bits + 64;
  return {
    refs: allocate(4 * entries).address,
    keys: allocate(4 * entries).address,
    buckets: allocate(4 * (2 ** bits + 64)).address,
    jobs: allocate(jobsPerCall * jobBytes).address,
    scratch: allocate(scratchBytes).address,
    work: allocate(points * pointSize[group]).address,
  };
}

/** Number of calls that is certain to finish a window: every stage's full batches, and a partial one for each of its rounds. */
function countSteps(part: number, bits: number): number {
  const rounds = Math.ceil(Math.log2(part + 1)) + 2;
  const sums = Math.ceil(part / jobsPerCall) + rounds;
  const halving = Math.ceil(2 ** bits / jobsPerCall) + bits + 2;
  const last = Math.ceil(2 ** bits / jobsPerCall) + bits + 3;
  return sums + halving + last;
}

/**
 * The sum over the table of scalars[firstScalar + i]·points[i].
 * @returns one affine point in the proving key's format, zeros for infinity
 * @throws KernelsError `input_refused` if there are too few scalars; `out_of_memory`, `kernel_failed`; the signal's reason
 */
export async function computeMsm(
  runtime: Runtime,
  points: PointTable,
  scalars: ScalarVector,
  options: TaskOptions & { readonly firstScalar?: number | undefined } = {},
): Promise<Uint8Array> {
  const { signal, onProgress, firstScalar = 0 } = options;
  const { memory, threads } = runtime;
  const { count, group } = points;
  if (firstScalar < 0 || firstScalar + count > scalars.count) {
    throw new KernelsError(
      'input_refused',
      `${count} points from scalar ${firstScalar} on need more scalars than the ${scalars.count} in the vector`,
    );
  }
  const source = scalars.address + firstScalar * scalarBytes;
  const table = points.address;
  const large = estimateLarge(memory.view(source, count * scalarBytes), count);
  const plan = decidePlan(count, large, threads.count);
  const { bits, windows } = plan;
  const part = Math.ceil(count / plan.parts);
  const ranges = splitRange(count, part);
  const preparation = splitRange(count, taskScalars);
  const onTaskDone = createTaskCounter(preparation.length + windows * ranges.length, onProgress);
  const outputBytes = (bits + 1) * zkeyPointBytes[group];

  return withBlocks(memory, async (allocate) => {
    const secret = (bytes: number) => allocate(bytes, { secret: true });
    const prepared = secret(count * scalarBytes).address;
    const offset = secret(scalarBytes).address;
    memory.view(offset, scalarBytes).set(encodeOffset(plan));
    const places = placePerThread(runtime, () => {
      const place = allocatePlace(secret, group, part, bits);
      memory.view(place.buckets, 4 * (2 ** bits + 64)).fill(0);
      return place;
    });
    const sums = secret((bits + 1) * pointSize[group] * threads.count).address;
    const states = secret(stateBytes * windows * ranges.length).address;
    const outputs = secret(outputBytes * windows * ranges.length).address;

    await threads.run(
      preparation.map(
        ([first, size]) =>
          [
            [
              'msm_prepare',
              prepared + first * scalarBytes,
              source + first * scalarBytes,
              table + first * pointSize[group],
              pointSize[group],
              size,
              offset,
            ],
          ] as const,
      ),
      { signal, onTaskDone },
    );
    const steps = countSteps(part, bits);
    const tasks = Array.from({ length: windows }, (_, window) => window).flatMap((window) =>
      ranges.map(
        ([first, size], index): KernelTask =>
          (thread) => {
            const place = places(thread);
            const { buckets, work } = place;
            // Each task has its own list: it is written while the thread may still run another task.
            const state = states + (window * ranges.length + index) * stateBytes;
            const isLast = window === windows - 1;
            const width = 2 ** bits;
            memory
              .view(state, stateBytes)
              .set(
                new Uint8Array(
                  Uint32Array.of(
                    place.refs,
                    place.keys,
                    0,
                    0,
                    0,
                    0,
                    work,
                    work,
                    0,
                    width,
                    0,
                    buckets,
                    0,
                    place.jobs,
                    place.scratch,
                    0,
                  ).buffer,
                ),
              );
            const sum = sums + thread * (bits + 1) * pointSize[group];
            const output = outputs + (window * ranges.length + index) * outputBytes;
            return [
              [
                'msm_sort',
                state,
                prepared + first * scalarBytes,
                table + first * pointSize[group],
                pointSize[group],
                size,
                bits * window,
                Math.min(bits, 255 - bits * window),
                isLast ? 0 : 2 ** (bits - 1),
                buckets,
                width,
              ],
              ...Array.from({ length: steps }, () => [`${group}_step`, state] as const),
              [`${group}_finish`, state, sum, bits + 1, width],
              ['q_toCanonical', output, sum, ((bits + 1) * zkeyPointBytes[group]) / scalarBytes],
            ];
          },
      ),
    );
    await threads.run(tasks, { signal, onTaskDone });
    const size = zkeyPointBytes[group];
    return sumWeighted(
      group,
      tasks.flatMap((_, task) =>
        Array.from({ length: bits + 1 }, (_unused, bit) => ({
          weight: bits * Math.floor(task / ranges.length) + bit,
          bytes: memory.view(outputs + task * outputBytes + bit * size, size),
        })),
      ),
    );
  });
}
