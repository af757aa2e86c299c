/**
 * Residents as they lie in the kernels' memory. An image in a file is taken up again without any conversion, but only by kernels of
 * the same format.
 *
 * @module
 */
import type { Group, PointTable } from './curve/points.ts';
import {
  createResident,
  createTaskCounter,
  type Runtime,
  splitRange,
  type TaskOptions,
} from './runtime/runtime.ts';
import { placeRows, type Rows } from './scalars/rows.ts';

/** What an image contains, as plain data. */
export type ImageShape =
  | { readonly kind: 'points'; readonly count: number; readonly group: Group }
  | {
      readonly kind: 'rows';
      readonly count: number;
      readonly wires: number;
      /** Entries of A and of B. */
      readonly lengths: readonly [number, number];
    };

export type Image = {
  readonly shape: ImageShape;
  /** Its length in bytes. */
  readonly size: number;
  /** Fills `into` with the bytes from `position` on. @throws KernelsError `input_refused` after the release */
  readonly read: (position: number, into: Uint8Array) => Promise<void>;
};

/** Counts the changes of these layouts that do not change the compiled kernels. */
export const layoutVersion = 1;
/** Bytes that are read at a time. */
export const imageChunkBytes = 2 ** 20;

export function createImage({ memory }: Runtime, resident: PointTable | Rows): Image {
  const { count, bytes: size } = resident;
  return {
    shape:
      'group' in resident
        ? { kind: 'points', count, group: resident.group }
        : {
            kind: 'rows',
            count,
            wires: resident.wires,
            lengths: [resident.a.length, resident.b.length],
          },
    size,
    read: async (position, into) => {
      into.set(memory.view(resident.address + position, into.length));
    },
  };
}

/**
 * Takes up an image. Its bytes are trusted: check their digest in `read`.
 * @param image.read - as in Image, in ascending order, at most `imageChunkBytes` at a time
 * @throws KernelsError `out_of_memory`; errors of `read`; the signal's reason
 */
export async function restoreImage(
  { memory }: Runtime,
  image: {
    readonly shape: ImageShape;
    readonly size: number;
    readonly read: (position: number, into: Uint8Array<ArrayBuffer>) => Promise<void>;
  },
  { signal, onProgress }: TaskOptions = {},
): Promise<PointTable | Rows> {
  const { shape, size } = image;
  const block = memory.allocate(size);
  try {
    const chunks = splitRange(size, imageChunkBytes);
    const onChunk = createTaskCounter(chunks.length, onProgress);
    const bytes = new Uint8Array(Math.min(size, imageChunkBytes));
    for (const [start, length] of chunks) {
      signal?.throwIfAborted();
      const chunk = bytes.subarray(0, length);
      await image.read(start, chunk);
      memory.view(block.address + start, length).set(chunk);
      onChunk?.();
    }
    return shape.kind === 'points'
      ? createResident(shape.count, block, { group: shape.group })
      : placeRows(block, shape);
  } catch (error) {
    block.release();
    throw error;
  }
}
