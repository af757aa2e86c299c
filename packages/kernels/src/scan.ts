/**
 * Trial opening of many sealed boxes with one key. A box is sealed to a Baby Jubjub key: the sender's ephemeral point, and a
 * ciphertext under XChaCha20-Poly1305 with a zero nonce whose key is HKDF-SHA256(packed scalar·point, salt, info).
 *
 * @module
 */
import {
  addressFor,
  cutIntoTasks,
  multiplyPointsCalls,
  packedPointBytes,
  pointScratchBytes,
  recodeScalar,
} from './babyjubjub.ts';
import { KernelsError } from './errors.ts';
import { createTaskCounter, type Runtime, type TaskOptions, withBlocks } from './runtime.ts';
import { tagBytes } from './scan-kernel.ts';

export type SealedBoxes = {
  /** The ephemeral points, packed, 32 bytes each; untrusted. */
  readonly points: Uint8Array;
  /** One salt a box, all of one length. */
  readonly salts: Uint8Array;
  /** HKDF's info, the same for all boxes. */
  readonly info: Uint8Array;
  /** Ciphertext and tag, all of one length; untrusted. */
  readonly boxes: Uint8Array;
};

export type OpenedBoxes = {
  /** A byte a box: 1 opened, 0 not. */
  readonly opened: Uint8Array;
  /** Plaintexts of one length, one after another; zeros where a box was not opened. Confidential. */
  readonly plaintexts: Uint8Array;
};

/** Bytes of one item, when `bytes` holds `count` of them. */
function divide(what: string, bytes: Uint8Array, count: number): number {
  const each = count === 0 ? 0 : bytes.length / count;
  if (!Number.isInteger(each)) {
    throw new KernelsError('input_refused', `there must be one ${what} a point, all of one length`);
  }
  return each;
}

/**
 * Opens what the scalar opens. A point that is refused (see multiplyPackedPoints) opens nothing.
 *
 * @param scalar - 32 bytes little-endian, 1 … l-1, secret
 * @throws KernelsError `input_refused`, and what a run can fail with
 */
export async function openSealedBoxes(
  runtime: Runtime,
  input: SealedBoxes,
  scalar: Uint8Array,
  options: TaskOptions = {},
): Promise<OpenedBoxes> {
  const { memory, threads } = runtime;
  const count = input.points.length / packedPointBytes;
  if (!Number.isInteger(count)) {
    throw new KernelsError('input_refused', 'packed points are 32 bytes each');
  }
  const saltBytes = divide('salt', input.salts, count);
  const boxBytes = divide('box', input.boxes, count);
  if (count > 0 && boxBytes < tagBytes) {
    throw new KernelsError('input_refused', 'a box holds at least a tag of 16 bytes');
  }
  const plainBytes = Math.max(0, boxBytes - tagBytes);
  const digits = recodeScalar(scalar);
  try {
    return await withBlocks(memory, async (allocate) => {
      const load = (bytes: Uint8Array, room = bytes.length) => {
        const block = allocate(room, { secret: true });
        const view = memory.view(block.address, room);
        view.fill(0);
        view.set(bytes);
        return block.address;
      };
      const even = count + (count % 2);
      const points = load(input.points, even * packedPointBytes);
      const salts = load(input.salts);
      const info = load(input.info);
      const boxes = load(input.boxes);
      const recoded = load(digits);
      const opened = load(new Uint8Array(0), even);
      const plain = load(new Uint8Array(0), count * plainBytes);
      const scratch = Array.from({ length: threads.count }, () =>
        allocate(pointScratchBytes, { secret: true }),
      );
      const tasks = cutIntoTasks(count).map(({ first, pairs }) => (thread: number) => {
        const at = {
          points: points + first * packedPointBytes,
          valid: opened + first,
          digits: recoded,
          scratch: addressFor(scratch, thread),
          pairs,
        };
        const open = [
          'boxes_open',
          Math.min(2 * pairs, count - first),
          at.points,
          at.valid,
          salts + first * saltBytes,
          saltBytes,
          info,
          input.info.length,
          boxes + first * boxBytes,
          boxBytes,
          plain + first * plainBytes,
        ] as const;
        return [...multiplyPointsCalls(at), open];
      });
      await threads.run(tasks, {
        signal: options.signal,
        onTaskDone: createTaskCounter(tasks.length, options.onProgress),
      });
      return {
        opened: memory.view(opened, count).slice(),
        plaintexts: memory.view(plain, count * plainBytes).slice(),
      };
    });
  } finally {
    digits.fill(0);
  }
}
