/**
 * Tables of points in the kernels' memory.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import {
  createResident,
  createTaskCounter,
  type Resident,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import { zkeyPointBytes } from '../zkey/zkey-format.ts';

export type Group = 'g1' | 'g2';

/** Bytes of a point in the kernels' memory. */
export const pointSize: Readonly<Record<Group, number>> = { g1: 80, g2: 160 };

/** Public points in the format that the kernels add. */
export type PointTable = Resident & { readonly group: Group };

/** Points read and converted at a time. */
const chunkPoints = 16_384;
/** Points that one task converts: about a millisecond. */
const taskPoints = 4096;

/**
 * Reads points of a proving key in chunks and keeps them. Coordinates are reduced. Points are not checked to be on the curve.
 * @param read - writes `count` points, starting with number `start`, to `into`
 * @throws KernelsError `input_refused`, `out_of_memory`; errors of `read`; the signal's reason
 */
export async function loadPoints(
  runtime: Runtime,
  group: Group,
  count: number,
  read: (start: number, count: number, into: Uint8Array) => Promise<void>,
  { signal, onProgress }: TaskOptions = {},
): Promise<PointTable> {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new KernelsError(
      'input_refused',
      `a table must have at least one point; ${count} requested`,
    );
  }
  const { memory, threads } = runtime;
  const [pointBytes, zkeyBytes] = [pointSize[group], zkeyPointBytes[group]];
  const block = memory.allocate(count * pointBytes);
  const onTaskDone = createTaskCounter(Math.ceil(count / taskPoints), onProgress);
  try {
    await withBlocks(memory, async (allocate) => {
      // Points are public, but the memory is zeroed too: the tests of secrets require that an operation leaves only zeros.
      const raw = allocate(Math.min(count, chunkPoints) * zkeyBytes, { secret: true });
      const bytes = new Uint8Array(raw.bytes);
      for (const [start, size] of splitRange(count, chunkPoints)) {
        const chunk = bytes.subarray(0, size * zkeyBytes);
        await read(start, size, chunk);
        memory.view(raw.address, chunk.length).set(chunk);
        const tasks = splitRange(size, taskPoints).map(
          ([first, part]) =>
            [
              [
                `${group}_fromZkey`,
                block.address + (start + first) * pointBytes,
                raw.address + first * zkeyBytes,
                part,
              ],
            ] as const,
        );
        await threads.run(tasks, { signal, onTaskDone });
      }
    });
  } catch (error) {
    block.release();
    throw error;
  }
  // The address is read at each use, so that the use of a released table is detected.
  return createResident(count, block, { group });
}
