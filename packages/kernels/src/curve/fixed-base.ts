/**
 * Multiples of a group's generator with a table. A scalar is cut into signed digits of 11 bits, each in -2^10 … 2^10 - 1, except
 * the last, which is positive. For each of the 24 places, the table has the 2^10 multiples of the generator. A multiple is
 * therefore a sum of 24 points of the table. Wider digits need fewer additions, but their table does not fit into the
 * second-level cache, so they are not faster.
 *
 * Source: E. F. Brickell, D. M. Gordon, K. S. McCurley, D. B. Wilson, "Fast exponentiation with precomputation", EUROCRYPT 1992.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import { KernelsError } from '../runtime/errors.ts';
import { encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import {
  placePerThread,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { zkeyPointBytes } from '../zkey/zkey-format.ts';
import {
  computeMultiples,
  jobsBytes,
  multiplyPoints,
  scratchBytes,
  taskPoints,
} from './multiples.ts';
import { type Group, loadPoints, pointSize } from './points.ts';

const scalarBits = 256;
const digitBits = 11;
/** Number of digits. The last has 3 bits and the carry. */
const digitCount = Math.floor(scalarBits / digitBits) + 1;
/** Number of multiples in the table of a digit. */
const multiples = 2 ** (digitBits - 1);

const g2 = bn254.G2.Point.BASE.toAffine();
/** The generators that every BN254 library uses (EIP-197). */
const generators: Readonly<Record<Group, readonly bigint[]>> = {
  g1: [1n, 2n],
  g2: [g2.x.c0, g2.x.c1, g2.y.c0, g2.y.c1],
};

const places = Array.from({ length: digitCount }, (_, place) => place);

/** Added to a scalar so that its digits become positive: half of the range in every place except the last. */
const blindingOffset = places
  .slice(0, -1)
  .reduce((sum, place) => sum + (BigInt(multiples) << BigInt(digitBits * place)), 0n);

type Table = {
  /** Point number multiples·place + m - 1 is m·2^(11·place) times the generator. */
  readonly address: number;
  /** Address of the offset, 32 bytes. */
  readonly offset: number;
};

/** Writes the 2^(11·place) multiples of the generator into the first point of each place. */
async function placeBases(runtime: Runtime, group: Group, table: number): Promise<void> {
  const generator = generators[group].map((value) => bn254.fields.Fp.create(value << 256n));
  const bases = await multiplyPoints(
    runtime,
    group,
    encodeIntegers(places.flatMap(() => generator)),
    encodeIntegers(places.map((place) => 1n << BigInt(digitBits * place))),
  );
  const loaded = await loadPoints(runtime, group, digitCount, (start, count, into) => {
    into.set(
      bases.subarray(start * zkeyPointBytes[group], (start + count) * zkeyPointBytes[group]),
    );
    return Promise.resolve();
  });
  const bytes = pointSize[group];
  for (const place of places) {
    const base = runtime.memory.view(loaded.address + place * bytes, bytes);
    runtime.memory.view(table + place * multiples * bytes, bytes).set(base);
  }
  loaded.release();
}

async function createTable(runtime: Runtime, group: Group): Promise<Table> {
  const { memory, threads } = runtime;
  const bytes = pointSize[group];
  const block = memory.allocate(digitCount * multiples * bytes);
  const offset = memory.allocate(scalarBytes);
  try {
    encodeIntegers([blindingOffset], memory.view(offset.address, scalarBytes));
    await placeBases(runtime, group, block.address);
    await withBlocks(memory, async (allocate) => {
      const scratch = placePerThread(runtime, () => [
        allocate(jobsBytes).address,
        allocate(scratchBytes).address,
      ]);
      const doublings = Array.from({ length: digitBits - 1 }, (_, level) => 2 ** level);
      const tasks = places.map(
        (place): KernelTask =>
          (thread) => {
            const table = block.address + place * multiples * bytes;
            return doublings.flatMap((known) =>
              splitRange(known, taskPoints).map(
                ([first, count]) =>
                  [`${group}_extendTable`, table, known, first, count, ...scratch(thread)] as const,
              ),
            );
          },
      );
      await threads.run(tasks);
    });
  } catch (error) {
    block.release();
    offset.release();
    throw error;
  }
  return { address: block.address, offset: offset.address };
}

/** One table for each group and runtime, kept until the kernels are closed: 2 MB and 4 MB. */
const tables = new WeakMap<Runtime, Map<Group, Promise<Table>>>();

function ensureTable(runtime: Runtime, group: Group): Promise<Table> {
  const known = tables.get(runtime) ?? new Map<Group, Promise<Table>>();
  tables.set(runtime, known);
  const table = known.get(group) ?? createTable(runtime, group);
  known.set(group, table);
  table.catch(() => known.delete(group));
  return table;
}

/**
 * scalars[i] times the group's generator.
 * @param scalars - secret, 32 bytes little-endian each
 * @returns points in the proving key's format, zeros for infinity
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export async function multiplyGenerator(
  runtime: Runtime,
  group: Group,
  scalars: Uint8Array,
  options: TaskOptions = {},
): Promise<Uint8Array> {
  const count = scalars.length / scalarBytes;
  if (!Number.isInteger(count)) {
    throw new KernelsError(
      'input_refused',
      `there are ${scalars.length} bytes of scalars, not a positive multiple of 32`,
    );
  }
  if (count === 0) return new Uint8Array();
  const { address, offset } = await ensureTable(runtime, group);
  return computeMultiples(
    runtime,
    group,
    count,
    scalars,
    ({ sums, scalars: factors, digits, jobs, scratch, count: part }) => [
      ['fixed_recode', digits, factors, offset, part],
      ...places.map(
        (place) =>
          [
            `${group}_addDigits`,
            sums,
            address + place * multiples * pointSize[group],
            digits,
            digitBits * place,
            digitBits,
            place < digitCount - 1 ? multiples : 0,
            part,
            jobs,
            scratch,
          ] as const,
      ),
    ],
    options,
  );
}
