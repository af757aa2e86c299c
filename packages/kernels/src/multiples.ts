/**
 * Multiples of many points: of a generator by a table, of given points by double-and-add in step.
 *
 * @module
 */
import { KernelsError } from './errors.ts';
import { COMPONENTS, type Group, POINT_BYTES, ZKEY_BYTES } from './groups.ts';
import { loadPoints, type PointTable } from './points.ts';
import {
  createTaskCounter,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from './runtime.ts';
import { SCALAR_BYTES } from './scalar-field.ts';
import type { KernelCall } from './thread-messages.ts';

/** Points of one task, and the space for their additions: codegen/multiples.ts, codegen/add-pairs.ts. */
const TASK_POINTS = 512;
const JOBS_BYTES = 1024 * 12;
const SCRATCH_BYTES = 18 * 80 + 512 * 240;
/** Points in memory at once. */
const CHUNK_POINTS = 65_536;
const SCALAR_BITS = 256;
const WINDOW_VALUES = 256;

const Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
/** Generators as every BN254 library has them (EIP-197). */
const GENERATORS: Readonly<Record<Group, readonly bigint[]>> = {
  g1: [1n, 2n],
  g2: [
    10857046999023057135944570762232829481370756359578518086990519993285655852781n,
    11559732032986387107991004021392285783925812861821192530917403151452391805634n,
    8495653923123431417604973247489272438418190587263600148770280649306958101930n,
    4082367875863433681332203403145435568316851327593401208105741076214120093531n,
  ],
};

const encodeInteger = (value: bigint): Uint8Array =>
  new Uint8Array(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse());

const concat = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

type Work = {
  readonly sums: number;
  readonly scalars: number;
  readonly jobs: number;
  readonly scratch: number;
  /** First point of the task, within the whole. */
  readonly start: number;
  readonly count: number;
};

/** Computes `count` points; `describe` says how the sums of a task, infinity at first, come to be. */
const computeMultiples = async (
  runtime: Runtime,
  group: Group,
  count: number,
  scalars: Uint8Array,
  describe: (work: Work) => readonly KernelCall[],
  { signal, onProgress }: TaskOptions,
): Promise<Uint8Array> => {
  const { memory, threads } = runtime;
  const zkeyBytes = ZKEY_BYTES[group];
  const output = new Uint8Array(count * zkeyBytes);
  const isCommon = scalars.length === SCALAR_BYTES && count > 1;
  const onTaskDone = createTaskCounter(Math.ceil(count / TASK_POINTS), onProgress);
  await withBlocks(memory, async (allocate) => {
    const chunk = Math.min(count, CHUNK_POINTS);
    const secret = { secret: true };
    const sums = allocate(chunk * POINT_BYTES[group], secret).address;
    const results = allocate(chunk * zkeyBytes, secret).address;
    const factors = allocate(isCommon ? SCALAR_BYTES : chunk * SCALAR_BYTES, secret).address;
    const places = Array.from({ length: threads.count }, () => ({
      // Which points are added is a digit of each scalar.
      jobs: allocate(JOBS_BYTES, secret).address,
      scratch: allocate(SCRATCH_BYTES, secret).address,
    }));
    for (const [start, size] of splitRange(count, chunk)) {
      const wanted = isCommon
        ? scalars
        : scalars.subarray(start * SCALAR_BYTES, (start + size) * SCALAR_BYTES);
      memory.view(factors, wanted.length).set(wanted);
      const tasks = splitRange(size, TASK_POINTS).map(([first, part]) => (thread: number) => {
        const place = places[thread];
        if (place === undefined) throw new RangeError('there is no such thread');
        const sum = sums + first * POINT_BYTES[group];
        const scalar = isCommon ? factors : factors + first * SCALAR_BYTES;
        const work = { ...place, sums: sum, scalars: scalar, start: start + first, count: part };
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
};

/**
 * scalars[i]·points[i], or one scalar times every point. Scalars are secret and used as 256-bit integers, so that the points may be
 * any on the curve. Time depends on the scalars.
 * @param points - in the proving key's format, zeros for infinity
 * @param scalars - 32 bytes little-endian: one, or as many as points
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export const multiplyPoints = async (
  runtime: Runtime,
  group: Group,
  points: Uint8Array,
  scalars: Uint8Array,
  options: TaskOptions = {},
  bits = SCALAR_BITS,
): Promise<Uint8Array> => {
  const zkeyBytes = ZKEY_BYTES[group];
  const count = points.length / zkeyBytes;
  const isCommon = scalars.length === SCALAR_BYTES;
  if (!Number.isInteger(count) || (!isCommon && scalars.length !== count * SCALAR_BYTES)) {
    throw new KernelsError(
      'input_refused',
      `${points.length} bytes of points (${zkeyBytes} each) and ${scalars.length} bytes of scalars do not fit together: give one scalar, or one for each point`,
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
        Array.from({ length: bits }, (_, index) => [
          `${group}_doubleAndAdd`,
          sums,
          address + start * POINT_BYTES[group],
          factors,
          isCommon && count > 1 ? 0 : SCALAR_BYTES,
          bits - 1 - index,
          part,
          jobs,
          scratch,
        ]),
      options,
    );
  } finally {
    table.release();
  }
};

/** d·2^(8w) times the generator, for each byte d of each window w. */
const createTable = async (runtime: Runtime, group: Group): Promise<PointTable> => {
  const radix = 1n << 256n;
  const generator = concat(GENERATORS[group].map((value) => encodeInteger((value * radix) % Q)));
  if (generator.length !== 64 * COMPONENTS[group]) throw new RangeError('generator length');
  const windows = Array.from({ length: SCALAR_BYTES }, (_, window) => window);
  const bases = await multiplyPoints(
    runtime,
    group,
    concat(windows.map(() => generator)),
    concat(windows.map((window) => encodeInteger(1n << BigInt(8 * window)))),
  );
  const zkeyBytes = ZKEY_BYTES[group];
  const values = Array.from({ length: WINDOW_VALUES }, (_, value) => value);
  const entries = await multiplyPoints(
    runtime,
    group,
    concat(
      windows.flatMap((window) => {
        const base = bases.subarray(window * zkeyBytes, (window + 1) * zkeyBytes);
        return values.map(() => base);
      }),
    ),
    concat(windows.flatMap(() => values.map((value) => encodeInteger(BigInt(value))))),
    {},
    8,
  );
  const count = windows.length * WINDOW_VALUES;
  return loadPoints(runtime, group, count, (start, size, into) => {
    into.set(entries.subarray(start * zkeyBytes, (start + size) * zkeyBytes));
    return Promise.resolve();
  });
};

/** One table for each group and runtime, kept until the kernels are closed: 0.7 and 1.3 MB. */
const tables = new WeakMap<Runtime, Map<Group, Promise<PointTable>>>();

const ensureTable = (runtime: Runtime, group: Group): Promise<PointTable> => {
  const known = tables.get(runtime) ?? new Map<Group, Promise<PointTable>>();
  tables.set(runtime, known);
  const table = known.get(group) ?? createTable(runtime, group);
  known.set(group, table);
  table.catch(() => known.delete(group));
  return table;
};

/**
 * scalars[i] times the group's generator.
 * @param scalars - secret, 32 bytes little-endian each
 * @returns points in the proving key's format, zeros for infinity
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export const multiplyGenerator = async (
  runtime: Runtime,
  group: Group,
  scalars: Uint8Array,
  options: TaskOptions = {},
): Promise<Uint8Array> => {
  const count = scalars.length / SCALAR_BYTES;
  if (!Number.isInteger(count)) {
    throw new KernelsError('input_refused', `${scalars.length} bytes are no scalars of 32 bytes`);
  }
  if (count === 0) return new Uint8Array();
  const { address } = await ensureTable(runtime, group);
  return computeMultiples(
    runtime,
    group,
    count,
    scalars,
    ({ sums, scalars: factors, jobs, scratch, count: part }) =>
      Array.from({ length: SCALAR_BYTES }, (_, window) => [
        `${group}_addFromTable`,
        sums,
        address,
        factors,
        window,
        part,
        jobs,
        scratch,
      ]),
    options,
  );
};
