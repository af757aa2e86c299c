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
import {
  placePerThread,
  type Runtime,
  runTasks,
  splitPairs,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import { tagBytes } from '../runtime/scan-kernel.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';

// Trial decryption of many sealed boxes with one key. A box is sealed to a Baby Jubjub key. It consists of the sender's ephemeral
// point and a ciphertext under XChaCha20-Poly1305 with a zero nonce and the key HKDF-SHA256(packed scalar·point, salt, info).
// Sources: RFC 5869 (HKDF), RFC 8439 (ChaCha20-Poly1305), draft-irtf-cfrg-xchacha-03 (XChaCha20).

type SealedBoxes = {
  /** The ephemeral points, packed in 32 bytes each; untrusted. */
  readonly points: Uint8Array;
  /** One salt per box, all of the same length. */
  readonly salts: Uint8Array;
  /** HKDF's info, equal for all boxes. */
  readonly info: Uint8Array;
  /** Ciphertexts with tags, all of the same length; untrusted. */
  readonly boxes: Uint8Array;
};

type OpenedBoxes = {
  /** One byte per box: 1 if it was opened, 0 if not. */
  readonly opened: Uint8Array;
  /** Plaintexts of equal length, concatenated; zeros for boxes that were not opened. Confidential. */
  readonly plaintexts: Uint8Array;
};

/** Bytes of one item if `bytes` contains `count` items. */
function divide(what: string, bytes: Uint8Array, count: number): number {
  const each = count === 0 ? 0 : bytes.length / count;
  if (!Number.isInteger(each)) {
    throw new KernelsError(
      'input_refused',
      `there must be one ${what} per point, all of the same length`,
    );
  }
  return each;
}

/**
 * Opens the boxes that the scalar can open. A box whose point is refused (see multiplyPackedPoints) is not opened.
 *
 * @param scalar - 32 bytes little-endian, 1 … l-1, secret
 * @throws KernelsError `input_refused`, and the errors of a run
 */
export function openSealedBoxes(
  runtime: Runtime,
  input: SealedBoxes,
  scalar: Uint8Array,
  options: TaskOptions = {},
): Promise<OpenedBoxes> {
  const { memory } = runtime;
  return multiplyInTasks(runtime, input.points, scalar, options, (count, load) => {
    const saltBytes = divide('salt', input.salts, count);
    const boxBytes = divide('box', input.boxes, count);
    if (count > 0 && boxBytes < tagBytes) {
      throw new KernelsError('input_refused', 'a box must have at least a tag of 16 bytes');
    }
    const plainBytes = Math.max(0, boxBytes - tagBytes);
    const [salts, info, boxes] = [load(input.salts), load(input.info), load(input.boxes)];
    const plain = load(new Uint8Array(0), count * plainBytes);
    return {
      finish: ({ first, items, points, valid }) => [
        [
          'boxes_open',
          ...[items, points, valid],
          ...[salts + first * saltBytes, saltBytes, info, input.info.length],
          ...[boxes + first * boxBytes, boxBytes, plain + first * plainBytes],
        ],
      ],
      collect: ({ valid }) => ({
        opened: memory.view(valid, count).slice(),
        plaintexts: memory.view(plain, count * plainBytes).slice(),
      }),
    };
  });
}

/** Bytes of a packed point. */
const packedPointBytes = 32;
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

/** Copies bytes into memory that is erased at the end, zeros behind them up to `room`, and returns their address. */
export type Load = (bytes: Uint8Array, room?: number) => number;

/** Some of the points: the first one's number, how many, and the addresses of the products and of a byte for each. */
export type MultipliedPoints = {
  readonly first: number;
  readonly items: number;
  readonly points: number;
  readonly valid: number;
};

/**
 * scalar · point for packed points, in tasks on all threads.
 * @param prepare - loads what else the tasks need: `finish` lists the calls that follow the products of a task, `collect` copies
 *   the results at the end
 * @throws KernelsError `input_refused`, and the errors of a run
 */
async function multiplyInTasks<T>(
  runtime: Runtime,
  packed: Uint8Array,
  scalar: Uint8Array,
  options: TaskOptions,
  prepare: (
    count: number,
    load: Load,
  ) => {
    readonly finish?: (task: MultipliedPoints) => readonly KernelCall[];
    readonly collect: (all: Pick<MultipliedPoints, 'points' | 'valid'>) => T;
  },
): Promise<T> {
  const { memory } = runtime;
  const count = packed.length / packedPointBytes;
  if (!Number.isInteger(count)) {
    throw new KernelsError('input_refused', 'packed points must be 32 bytes each');
  }
  const digits = recodeScalar(scalar);
  try {
    return await withBlocks(memory, async (allocate) => {
      const load: Load = (bytes, room = bytes.length) => {
        const { address } = allocate(room, { secret: true });
        memory.view(address, room).fill(0).set(bytes);
        return address;
      };
      const { finish, collect } = prepare(count, load);
      const even = count + (count % 2);
      const points = load(packed, even * packedPointBytes);
      const valid = load(new Uint8Array(0), even);
      const recoded = load(digits);
      const scratch = placePerThread(
        runtime,
        () => allocate(pointScratchBytes, { secret: true }).address,
      );
      const tasks = splitPairs(count, pairsInTask).map(
        ({ first, items, pairs }) =>
          (thread: number) => {
            const task = {
              first,
              items,
              points: points + first * packedPointBytes,
              valid: valid + first,
            };
            const own = [task.points, task.valid, pairs, scratch(thread)] as const;
            return [
              ['bj_unpack', ...own] as const,
              ['bj_multiplyAll', recoded, pairs, own[3]] as const,
              ['bj_pack', ...own] as const,
              ...(finish?.(task) ?? []),
            ];
          },
      );
      await runTasks(runtime, tasks, options);
      return collect({ points, valid });
    });
  } finally {
    digits.fill(0);
  }
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
export function multiplyPackedPoints(
  runtime: Runtime,
  points: Uint8Array,
  scalar: Uint8Array,
  options: TaskOptions = {},
): Promise<PackedProducts> {
  const { memory } = runtime;
  return multiplyInTasks(runtime, points, scalar, options, (count) => ({
    collect: (all) => ({
      packed: memory.view(all.points, points.length).slice(),
      valid: memory.view(all.valid, count).slice(),
    }),
  }));
}
