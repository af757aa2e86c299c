/**
 * Trial decryption of many sealed boxes with one key. A box is sealed to a Baby Jubjub key. It consists of the sender's ephemeral
 * point and a ciphertext under XChaCha20-Poly1305 with a zero nonce and the key HKDF-SHA256(packed scalar·point, salt, info).
 * Sources: RFC 5869 (HKDF), RFC 8439 (ChaCha20-Poly1305), draft-irtf-cfrg-xchacha-03 (XChaCha20).
 *
 * @module
 */

import { KernelsError } from '../runtime/errors.ts';
import type { Runtime, TaskOptions } from '../runtime/runtime.ts';
import { tagBytes } from '../runtime/scan-kernel.ts';
import { multiplyInTasks } from './babyjubjub.ts';

export type SealedBoxes = {
  /** The ephemeral points, packed in 32 bytes each; untrusted. */
  readonly points: Uint8Array;
  /** One salt per box, all of the same length. */
  readonly salts: Uint8Array;
  /** HKDF's info, equal for all boxes. */
  readonly info: Uint8Array;
  /** Ciphertexts with tags, all of the same length; untrusted. */
  readonly boxes: Uint8Array;
};

export type OpenedBoxes = {
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
