/**
 * Multiplies packed Baby Jubjub points by one secret scalar, on all threads (kernels: codegen/babyjubjub.ts).
 *
 * A packed point is 32 bytes (iden3's packing): y little-endian, bit 255 set if and only if x > (r-1)/2.
 *
 * Side channels: this module cuts the scalar into digits with BigInt, once per call, which is not constant-time. The kernels take
 * the same steps and read the same addresses for every scalar. Digits, intermediate points and products are erased from the
 * shared memory. Copies that the caller has, and copies of BigInts, stay until they are garbage-collected.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import type { Block } from '../runtime/memory.ts';
import { type Runtime, runTasks, type TaskOptions, withBlocks } from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';

/** Bytes of a packed point. */
export const packedPointBytes = 32;
/** The order of the subgroup. */
const subgroupOrder = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;
/** Pairs in one task: about 4 ms of work, enough to make the cost of the shared inversion negligible. */
export const pairsInTask = 32;
/** The result of `bj_scratchBytes(pairsInTask)`. A test compares the two. */
export const pointScratchBytes = 20_000;
const windowBits = 4n;
const digitCount = 63;
const digitBytes = 2;

/**
 * The scalar as 63 odd digits from -15 to 15 of weight 16^i, most significant first. Each is encoded as (|digit| - 1)/2 and its
 * sign. An even scalar is replaced by scalar + l, which is odd and gives the same multiple of a subgroup point.
 *
 * @param scalar - 32 bytes little-endian, 1 … l-1, secret
 * @throws KernelsError `input_refused`
 */
export function recodeScalar(scalar: Uint8Array): Uint8Array {
  const value = scalar.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  if (scalar.length !== 32 || value < 1n || value >= subgroupOrder) {
    throw new KernelsError(
      'input_refused',
      'the scalar must be 32 bytes little-endian, at least 1 and below the subgroup order',
    );
  }
  const digits = new Uint8Array(digitCount * digitBytes);
  const top = 1n << windowBits;
  let rest = value % 2n === 1n ? value : value + subgroupOrder;
  for (let place = digitCount - 1; place >= 0; place -= 1) {
    // Odd and centred. The rest stays odd. The last digit is the rest, below 16.
    const digit = place > 0 ? (rest % (2n * top)) - top : rest;
    const size = digit < 0n ? -digit : digit;
    digits[place * digitBytes] = Number((size - 1n) / 2n);
    digits[place * digitBytes + 1] = digit < 0n ? 1 : 0;
    rest = (rest - digit) >> windowBits;
  }
  return digits;
}

/** The calls for the pairs at `points`. They replace the points by their products and write one byte per point to `valid`. */
export function multiplyPointsCalls(places: {
  readonly points: number;
  readonly valid: number;
  readonly digits: number;
  readonly scratch: number;
  readonly pairs: number;
}): readonly KernelCall[] {
  const { points, valid, digits, scratch, pairs } = places;
  return [
    ['bj_unpack', points, valid, pairs, scratch],
    ['bj_multiplyAll', digits, pairs, scratch],
    ['bj_pack', points, valid, pairs, scratch],
  ];
}

/** The tasks of a batch of `count` items: the first item and the number of pairs of each. An odd last item has no partner. */
export function cutIntoTasks(
  count: number,
): readonly { readonly first: number; readonly pairs: number }[] {
  const items = 2 * pairsInTask;
  return Array.from({ length: Math.ceil(count / items) }, (_, task) => {
    const first = task * items;
    return { first, pairs: Math.ceil(Math.min(items, count - first) / 2) };
  });
}

/** The result for each point: `valid` is 1 for points of the subgroup, and 0 for refused points, whose product is zeros. */
export type PackedProducts = { readonly packed: Uint8Array; readonly valid: Uint8Array };

/**
 * scalar · point, for each point. Points are refused if y >= r, if they are off the curve or outside the subgroup, if they are
 * the identity, or if the sign is set at x = 0.
 *
 * @param points - packed, concatenated; untrusted
 * @param scalar - 32 bytes little-endian, 1 … l-1, secret
 * @throws KernelsError `input_refused`, and the errors of a run
 */
export async function multiplyPackedPoints(
  runtime: Runtime,
  points: Uint8Array,
  scalar: Uint8Array,
  options: TaskOptions = {},
): Promise<PackedProducts> {
  const { memory, threads } = runtime;
  const count = points.length / packedPointBytes;
  if (!Number.isInteger(count)) {
    throw new KernelsError('input_refused', 'packed points must be 32 bytes each');
  }
  const digits = recodeScalar(scalar);
  try {
    return await withBlocks(memory, async (allocate) => {
      const even = count + (count % 2);
      const table = allocate(even * packedPointBytes, { secret: true });
      const valid = allocate(even, { secret: true });
      const recoded = allocate(digits.length, { secret: true });
      const scratch = Array.from({ length: threads.count }, () =>
        allocate(pointScratchBytes, { secret: true }),
      );
      memory.view(table.address, table.bytes).fill(0).set(points);
      memory.view(recoded.address, recoded.bytes).set(digits);
      const tasks = cutIntoTasks(count).map(
        ({ first, pairs }) =>
          (thread: number) =>
            multiplyPointsCalls({
              points: table.address + first * packedPointBytes,
              valid: valid.address + first,
              digits: recoded.address,
              scratch: addressFor(scratch, thread),
              pairs,
            }),
      );
      await runTasks(runtime, tasks, options);
      return {
        packed: memory.view(table.address, points.length).slice(),
        valid: memory.view(valid.address, count).slice(),
      };
    });
  } finally {
    digits.fill(0);
  }
}

/** The scratch memory of a thread. */
export function addressFor(blocks: readonly Block[], thread: number): number {
  const block = blocks[thread];
  if (block === undefined) {
    throw new KernelsError('kernel_failed', 'this thread has no scratch memory');
  }
  return block.address;
}
