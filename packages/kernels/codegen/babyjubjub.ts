// Multiplying packed Baby Jubjub points by one secret scalar: unpacked and checked, multiplied, packed again.
//
// Three kernels work on a chunk of `count` pairs of points, one after the other: `bj_unpack`, `bj_multiplyAll`,
// `bj_pack`. The chunk's scratch memory, from `scratch`:
//
//   points    count · POINT_BYTES   unpacked, then multiplied
//   divisors  count · 80            values that are inverted together
//   work      (18 + count) · 80     of r_invertPairs; also all other short-lived values
//
// Packing (iden3): y little-endian in 32 bytes, bit 255 set iff x > (r-1)/2. A point is refused unless y < r, it is on the
// curve, in the subgroup and not the identity; refused lanes continue as the identity, so that they cannot affect others.
//
// The scalar is secret, points are not. `bj_multiplyAll` reads it as signed digits at fixed windows, none of which is 0: it
// takes the same steps for every scalar and reads a whole table for each digit, so neither branches nor addresses depend
// on it. (We cannot control whether the processor's multiplications take the same time for all values; IEEE ones do.)

import { eachPair, isLarge, locate, pair } from './babyjubjub-chunk.ts';
import { tableEntries, writeMultiply } from './babyjubjub-multiply.ts';
import {
  addressOf,
  after,
  loadCoordinate,
  offset,
  pointBytes,
  writePointFunctions,
} from './babyjubjub-point.ts';
import { logScratchBytes, powerScratchBytes, writePowerFunctions } from './babyjubjub-power.ts';
import { writeUnpack } from './babyjubjub-unpack.ts';
import * as field from './field.ts';
import { call, get, i32, type ModuleWriter, op } from './wat.ts';

/** `bj_pack(to, valid, count, scratch)`: 32 bytes per point; zeros for refused ones. Erases the scratch memory. */
function writePack(module: ModuleWriter, k: field.Field): void {
  module.func('bj_packOne', { params: ['to', 'valid', 'point', 'divisor', 'work'] }, (f) => {
    f.scope(() => {
      const inverse = k.loadPair(f, get('divisor'));
      const y = k.mul(f, loadCoordinate(f, k, 'point', offset.y), inverse);
      const plain = k.mul(f, y, k.constant(f, 1n, true));
      k.storeBytes(f, plain, get('to'), after('to', 32));
      field.drop(f, y, plain);
      const x = k.mul(f, loadCoordinate(f, k, 'point', offset.x), inverse);
      const large = isLarge(f, k, x, get('work'));
      for (const lane of [0, 1]) {
        const bit = op('i64.shl', op(`i64x2.extract_lane ${lane}`, get(large)), '(i64.const 63)');
        const word = op('i64.load', `offset=${32 * lane + 24}`, get('to'));
        const good = op('i64.extend_i32_u', op('i32.load8_u', `offset=${lane}`, get('valid')));
        const mask = f.let('i64', op('i64.sub', '(i64.const 0)', good));
        f.push(op('i64.store', `offset=${32 * lane + 24}`, get('to'), op('i64.or', word, bit)));
        for (const offset of [0, 8, 16, 24]) {
          const place = `offset=${32 * lane + offset}`;
          f.push(
            op(
              'i64.store',
              place,
              get('to'),
              op('i64.and', op('i64.load', place, get('to')), get(mask)),
            ),
          );
        }
      }
    });
  });
  const params = ['to', 'valid', 'count', 'scratch'];
  module.func('bj_pack', { exported: true, params }, (f) => {
    const { divisors, work } = locate(f);
    eachPair(f, (index) => {
      const z = op('i32.add', addressOf('scratch', get(index), pointBytes), i32(offset.z));
      f.push(op('memory.copy', addressOf(divisors, get(index), pair), z, i32(pair)));
    });
    f.push(call('r_invertPairs', get(divisors), get('count'), get(work)));
    eachPair(f, (index) => {
      const to = addressOf('to', get(index), 64);
      const valid = op('i32.add', get('valid'), op('i32.mul', get(index), i32(2)));
      const point = addressOf('scratch', get(index), pointBytes);
      f.push(
        call('bj_packOne', to, valid, point, addressOf(divisors, get(index), pair), get(work)),
      );
    });
    // Multiples of others' points by the secret scalar are secrets shared with them.
    const bytes = op('i32.mul', get('count'), i32(pointBytes + 2 * pair));
    f.push(
      op('memory.fill', get('scratch'), i32(0), op('i32.add', bytes, i32(18 * pair + workBytes))),
    );
  });
}

/** The maximum size of `work` in addition to the inversion's own (18 + count)·80 bytes. */
const workBytes = Math.max(
  192 + 3 * pair + Math.max(powerScratchBytes, logScratchBytes),
  (2 + tableEntries) * pointBytes,
);

/** Bytes of scratch memory for a chunk of `count` pairs: read through `bj_scratchBytes(count)`. */
function writeScratchBytes(module: ModuleWriter): void {
  module.func('bj_scratchBytes', { exported: true, params: ['count'], results: ['i32'] }, (f) => {
    const bytes = op('i32.mul', get('count'), i32(pointBytes + 2 * pair));
    f.push(op('i32.add', bytes, i32(18 * pair + workBytes)));
  });
}

/** Writes the kernels of packed Baby Jubjub points. `k` is BN254's scalar field, its functions already written. */
export function writeBabyJubjub(module: ModuleWriter, k: field.Field): void {
  writePointFunctions(module, k);
  writePowerFunctions(module, k);
  writeUnpack(module, k);
  writeMultiply(module, k);
  writePack(module, k);
  writeScratchBytes(module);
}
