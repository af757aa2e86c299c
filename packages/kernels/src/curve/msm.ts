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
import { decodeCoordinates } from '../zkey/zkey-points.ts';
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

/** The sum of points in the proving key's format, which it also has. */
export function addSums(group: Group, sums: readonly Uint8Array[]): Uint8Array {
  return sumWeighted(
    group,
    sums.map((sum) => ({ weight: 0, bytes: encodeIntegers(decodeCoordinates(sum)) })),
  );
}

/** Additions per kernel call, and bytes of their lists; see codegen/msm.ts and codegen/add-pairs.ts. */
const jobsPerCall = 1024;
const jobBytes = 12;
const pairBytes = 80;
const scratchBytes = 18 * pairBytes + (jobsPerCall / 2) * 3 * pairBytes;
const stateBytes = 64;
/** Bits of the largest |scalar| plus one. All windows together must cover them. */
const scalarBits = 254;
const minimumWindowBits = 3;
const maximumWindowBits = 16;
/** Maximum number of points in one part. It bounds the memory of a thread. */
const maximumPart = 131_072;
const taskScalars = 8192;

/** A window: its lowest bit, and its width. */
type Window = { readonly start: number; readonly bits: number };

type Plan = { readonly windows: readonly Window[]; readonly parts: number };

/** Windows that cover all bits exactly: one bit less halves the buckets of a window. */
function divideBits(count: number): Window[] {
  return Array.from({ length: count }, (_, window) => {
    const start = Math.ceil((scalarBits * window) / count);
    return { start, bits: Math.ceil((scalarBits * (window + 1)) / count) - start };
  });
}

/** Number of additions in total: each point once per window, and two for each bucket. */
function estimateAdditions(points: number, windows: readonly Window[], parts: number): number {
  return windows.reduce((sum, { bits }) => sum + points + parts * (2 ** bits + 300), 0);
}

/** The window size and the parts with the fewest additions that still give enough tasks for the threads. */
function decidePlan(count: number, large: number, threads: number): Plan {
  const needed = Math.ceil(count / maximumPart);
  const [fewest, most] = [maximumWindowBits, minimumWindowBits].map((bits) =>
    Math.ceil(scalarBits / bits),
  ) as [number, number];
  const candidates = Array.from({ length: most - fewest + 1 }, (_, index) => {
    const windows = divideBits(fewest + index);
    // If the tasks are not a multiple of the threads, some threads are idle at the end. Shorter parts are used as long as that
    // pays.
    const options = [1, 2, 3, 4].map((factor) => {
      const parts = Math.max(needed, factor);
      const tasks = windows.length * parts;
      const rounds = Math.ceil(tasks / threads);
      return { parts, cost: rounds * (estimateAdditions(large, windows, parts) / tasks) };
    });
    const best = options.reduce((left, right) => (right.cost < left.cost ? right : left));
    return { windows, ...best };
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
function encodeOffset({ windows }: Plan): Uint8Array {
  const halves = windows.slice(0, -1).map(({ start, bits }) => 1n << BigInt(start + bits - 1));
  return encodeIntegers([halves.reduce((sum, half) => sum + half, 0n)]);
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

/** A table of points, and the scalars for them: scalars[firstScalar + i] for point i. */
export type MsmTerm = {
  readonly points: PointTable;
  readonly scalars: ScalarVector;
  readonly firstScalar?: number | undefined;
};

/** The points `first` to `first + size - 1` of all tables one after another, of which `before` come before the second table. */
type Part = {
  readonly first: number;
  readonly size: number;
  readonly points: number;
  readonly before: number;
};

/** @throws KernelsError `input_refused` for too few scalars, or tables of different groups */
export function requireTerms([first, second]: readonly [MsmTerm, MsmTerm?]): void {
  for (const { points, scalars, firstScalar = 0 } of second ? [first, second] : [first]) {
    if (firstScalar < 0 || firstScalar + points.count > scalars.count) {
      throw new KernelsError(
        'input_refused',
        `${points.count} points from scalar ${firstScalar} on need more scalars than the ${scalars.count} in the vector`,
      );
    }
  }
  if (second !== undefined && second.points.group !== first.points.group)
    throw new KernelsError('input_refused', 'the two tables have points of different groups');
}

/**
 * The sum over the table of scalars[firstScalar + i]·points[i].
 * @returns one affine point in the proving key's format, zeros for infinity
 * @throws KernelsError `input_refused` if there are too few scalars; `out_of_memory`, `kernel_failed`; the signal's reason
 */
export function computeMsm(
  runtime: Runtime,
  points: PointTable,
  scalars: ScalarVector,
  { firstScalar, ...options }: TaskOptions & { readonly firstScalar?: number | undefined } = {},
): Promise<Uint8Array> {
  return computeJointMsm(runtime, [{ points, scalars, firstScalar }], options);
}

/**
 * The sum of one or two terms, as `computeMsm` computes one. Two terms share their buckets: quicker than two sums.
 * @throws as `computeMsm`; KernelsError `input_refused` also for tables of different groups
 */
export async function computeJointMsm(
  runtime: Runtime,
  terms: readonly [MsmTerm, MsmTerm?],
  { signal, onProgress }: TaskOptions = {},
): Promise<Uint8Array> {
  requireTerms(terms);
  const { memory, threads } = runtime;
  const { group } = terms[0].points;
  const pointBytes = pointSize[group];
  const tables = terms
    .filter((term) => term !== undefined)
    .map(({ points, scalars, firstScalar = 0 }) => ({
      points: points.address,
      count: points.count,
      scalars: scalars.address + firstScalar * scalarBytes,
    }));
  const count = tables.reduce((sum, table) => sum + table.count, 0);
  const large = tables.reduce(
    (sum, table) =>
      sum + estimateLarge(memory.view(table.scalars, table.count * scalarBytes), table.count),
    0,
  );
  const plan = decidePlan(count, large, threads.count);
  const { windows } = plan;
  const part = Math.ceil(count / plan.parts);
  const [{ points: firstTable, count: inFirst }, second] = tables as [
    (typeof tables)[number],
    (typeof tables)[number]?,
  ];
  /** What the address of a point grows by from the first table to the second one. */
  const jump = second === undefined ? 0 : second.points - firstTable - inFirst * pointBytes;
  const parts = splitRange(count, part).map(([first, size]): Part => {
    const points = firstTable + first * pointBytes + (first < inFirst ? 0 : jump);
    return { first, size, points, before: Math.max(0, inFirst - first) };
  });
  const preparation = tables.flatMap((table, index) =>
    splitRange(table.count, taskScalars).map(([first, size]) => ({
      to: (index === 0 ? 0 : inFirst) + first,
      scalars: table.scalars + first * scalarBytes,
      points: table.points + first * pointBytes,
      size,
    })),
  );
  const onTaskDone = createTaskCounter(
    preparation.length + windows.length * parts.length,
    onProgress,
  );
  const widest = Math.max(...windows.map(({ bits }) => bits));
  const outputBytes = (widest + 1) * zkeyPointBytes[group];

  return withBlocks(memory, async (allocate) => {
    const secret = (bytes: number) => allocate(bytes, { secret: true });
    const prepared = secret(count * scalarBytes).address;
    const offset = secret(scalarBytes).address;
    memory.view(offset, scalarBytes).set(encodeOffset(plan));
    const places = placePerThread(runtime, () => {
      const place = allocatePlace(secret, group, part, widest);
      memory.view(place.buckets, 4 * (2 ** widest + 64)).fill(0);
      return place;
    });
    const sums = secret((widest + 1) * pointBytes * threads.count).address;
    const states = secret(stateBytes * windows.length * parts.length).address;
    const outputs = secret(outputBytes * windows.length * parts.length).address;

    await threads.run(
      preparation.map(
        ({ to, scalars, points, size }) =>
          [
            ['msm_prepare', prepared + to * scalarBytes, scalars, points, pointBytes, size, offset],
          ] as const,
      ),
      { signal, onTaskDone },
    );
    const jobs = windows.flatMap((window) => parts.map((range) => ({ window, range })));
    const tasks = jobs.map(
      ({ window: { start, bits }, range }, index): KernelTask =>
        (thread) => {
          const place = places(thread);
          const { buckets, work } = place;
          // Each task has its own list: it is written while the thread may still run another task.
          const state = states + index * stateBytes;
          const isLast = start + bits === scalarBits;
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
          const sum = sums + thread * (widest + 1) * pointBytes;
          return [
            [
              'msm_sort',
              state,
              prepared + range.first * scalarBytes,
              range.points,
              pointBytes,
              range.size,
              range.before,
              jump,
              start,
              bits,
              isLast ? 0 : 2 ** (bits - 1),
              buckets,
              width,
            ],
            ...Array.from(
              { length: countSteps(part, bits) },
              () => [`${group}_step`, state] as const,
            ),
            [`${group}_finish`, state, sum, bits + 1, width],
            [
              'q_toCanonical',
              outputs + index * outputBytes,
              sum,
              ((bits + 1) * zkeyPointBytes[group]) / scalarBytes,
            ],
          ];
        },
    );
    await threads.run(tasks, { signal, onTaskDone });
    const size = zkeyPointBytes[group];
    return sumWeighted(
      group,
      jobs.flatMap(({ window: { start, bits } }, index) =>
        Array.from({ length: bits + 1 }, (_, bit) => ({
          weight: start + bit,
          bytes: memory.view(outputs + index * outputBytes + bit * size, size),
        })),
      ),
    );
  });
}
