/**
 * Vectors of scalars in the kernels' memory: canonical, 32 bytes little-endian each, zeroed on release.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { areBelowOrder, scalarBytes } from '../runtime/integers.ts';
import { createResident, type Resident, type Runtime } from '../runtime/runtime.ts';

/** The kernels treat the scalars as secret. */
export type ScalarVector = Resident;

/**
 * Copies scalars into the kernels' memory.
 * @param bytes - 32 bytes little-endian each, below r; bytes after `count` scalars are ignored
 * @throws KernelsError `input_refused` if there are too few bytes or a scalar is not below r; `out_of_memory`
 */
export function loadScalars(
  { memory }: Pick<Runtime, 'memory'>,
  count: number,
  bytes: Uint8Array,
): ScalarVector {
  const length = count * scalarBytes;
  if (!Number.isSafeInteger(count) || count < 1 || bytes.length < length) {
    throw new KernelsError(
      'input_refused',
      `${count} scalars need ${length} bytes, and at least one scalar is needed; there are ${bytes.length} bytes`,
    );
  }
  const block = memory.allocate(length, { secret: true });
  const place = memory.view(block.address, length);
  place.set(bytes.subarray(0, length));
  if (!areBelowOrder('scalar', place)) {
    block.release();
    throw new KernelsError('input_refused', 'a scalar is not below the group order r');
  }
  return createResident(count, block, {});
}
