// Multiplying packed Baby Jubjub points by one secret scalar: unpacked and checked, multiplied, packed again.
//
// Three kernels work on a chunk of `count` pairs of points, one after the other: `bj_unpack`, `bj_multiplyAll`, and
// `bj_pack` or `bj_affine`. The chunk's scratch memory, from `scratch`:
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
import { xScale } from './babyjubjub-constants.ts';
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
import type { Pair } from './pair.ts';
import {
  call,
  type FunctionWriter,
  get,
  i32,
  loopWhile,
  type ModuleWriter,
  op,
  set,
} from './wat.ts';

// Multiplication of unpacked Baby Jubjub points by one secret scalar (babyjubjub.ts).

/** Bits of a digit of the scalar; a digit is odd, from -15 to 15. */
const windowBits = 4;
const tableEntries = 1 << (windowBits - 1);
/** Digits of a scalar below 2^252. */
const digits = 63;

/** `bj_choose(to, table, index, negative)`: ± an entry, every entry read and the sign applied by masks. */
function writeChoose(module: ModuleWriter, k: field.Field): void {
  module.func('bj_choose', { params: ['to', 'table', 'index', 'negative'] }, (f) => {
    const masks = Array.from({ length: tableEntries }, (_, entry) =>
      f.let(
        'v128',
        op('i32x4.splat', op('i32.sub', i32(0), op('i32.eq', get('index'), i32(entry)))),
      ),
    );
    const sign = f.let('v128', op('i32x4.splat', op('i32.sub', i32(0), get('negative'))));
    const pick = (offset: number): Pair => {
      const template = k.constant(f, 0n);
      template.limbs.forEach((limb, index) => {
        masks.forEach((mask, entry) => {
          const place = entry * pointBytes + offset + 16 * index;
          const value = op('v128.and', get(mask), op('v128.load', `offset=${place}`, get('table')));
          f.push(set(limb, entry === 0 ? value : op('v128.or', get(limb), value)));
        });
      });
      return template;
    };
    const put = (value: Pair, offset: number): void => {
      k.storePair(f, value, after('to', offset));
    };
    const plus = pick(0);
    const minus = pick(pair);
    put(field.select(f, get(sign), minus, plus), 0);
    put(field.select(f, get(sign), plus, minus), pair);
    field.drop(f, plus, minus);
    const t = pick(2 * pair);
    put(field.select(f, get(sign), field.neg(f, t), t), 2 * pair);
    put(pick(3 * pair), 3 * pair);
  });
}

/** `bj_multiplyAll(digits, count, scratch)`: digits are 63 · (index, negative), most significant first. */
function writeMultiply(module: ModuleWriter, k: field.Field): void {
  writeChoose(module, k);
  module.func('bj_multiplyOne', { params: ['point', 'digits', 'work'] }, (f) => {
    // work: the summand, a point, the table of 1, 3, … 15 times the point.
    const moving = after('work', pointBytes);
    const table = after('work', 2 * pointBytes);
    const entry = (index: number): string => after('work', (2 + index) * pointBytes);
    f.push(op('memory.copy', moving, get('point'), i32(pointBytes)));
    f.push(call('bj_prepare', entry(0), moving));
    f.push(call('bj_doubleFull', moving));
    f.push(call('bj_prepare', get('work'), moving));
    f.push(op('memory.copy', moving, get('point'), i32(pointBytes)));
    for (let index = 1; index < tableEntries; index++) {
      f.push(call('bj_addFull', moving, get('work')));
      f.push(call('bj_prepare', entry(index), moving));
    }
    const choose = (digit: string): void => {
      const index = op('i32.load8_u', digit);
      const negative = op('i32.load8_u', 'offset=1', digit);
      f.push(call('bj_choose', get('work'), table, index, negative));
    };
    choose(get('digits'));
    f.push(call('bj_restore', get('point'), get('work')));
    const window = f.let('i32', i32(1));
    loopWhile(f, `(i32.lt_s ${get(window)} ${i32(digits)})`, () => {
      for (let bit = 1; bit < windowBits; bit++) f.push(call('bj_double', get('point')));
      f.push(call('bj_doubleFull', get('point')));
      choose(addressOf('digits', get(window), 2));
      f.push(call('bj_add', get('point'), get('work')));
      f.push(set(window, after(window, 1)));
    });
  });
  const params = ['digits', 'count', 'scratch'];
  module.func('bj_multiplyAll', { exported: true, params }, (f) => {
    const { work } = locate(f);
    eachPair(f, (index) => {
      const point = addressOf('scratch', get(index), pointBytes);
      f.push(call('bj_multiplyOne', point, get('digits'), get(work)));
    });
  });
}

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
    const { divisors, work } = invertZ(f);
    eachPair(f, (index) => {
      const to = addressOf('to', get(index), 64);
      const valid = op('i32.add', get('valid'), op('i32.mul', get(index), i32(2)));
      const point = addressOf('scratch', get(index), pointBytes);
      f.push(
        call('bj_packOne', to, valid, point, addressOf(divisors, get(index), pair), get(work)),
      );
    });
    eraseScratch(f);
  });
}

/** `bj_affine(to, count, scratch)`: x and y of each point, 32 bytes each; (0, 1) for refused ones. Erases the scratch memory. */
function writeAffine(module: ModuleWriter, k: field.Field): void {
  module.func('bj_affineOne', { params: ['to', 'point', 'divisor'] }, (f) => {
    const inverse = k.loadPair(f, get('divisor'));
    const put = (from: number, factor: bigint, to: number): void => {
      f.scope(() => {
        const value = k.mul(f, loadCoordinate(f, k, 'point', from), inverse);
        const plain = k.mul(f, value, k.constant(f, factor, true));
        k.storeBytes(f, plain, after('to', to), after('to', to + 64));
      });
    };
    put(offset.x, xScale, 0);
    put(offset.y, 1n, 32);
  });
  const params = ['to', 'count', 'scratch'];
  module.func('bj_affine', { exported: true, params }, (f) => {
    const { divisors } = invertZ(f);
    eachPair(f, (index) => {
      const point = addressOf('scratch', get(index), pointBytes);
      const divisor = addressOf(divisors, get(index), pair);
      f.push(call('bj_affineOne', addressOf('to', get(index), 128), point, divisor));
    });
    eraseScratch(f);
  });
}

/** 1/Z of every point, to the divisors. */
function invertZ(f: FunctionWriter) {
  const places = locate(f);
  eachPair(f, (index) => {
    const z = op('i32.add', addressOf('scratch', get(index), pointBytes), i32(offset.z));
    f.push(op('memory.copy', addressOf(places.divisors, get(index), pair), z, i32(pair)));
  });
  f.push(call('r_invertPairs', get(places.divisors), get('count'), get(places.work)));
  return places;
}

/** Multiples of others' points by the secret scalar are secrets shared with them. */
function eraseScratch(f: FunctionWriter): void {
  const bytes = op('i32.mul', get('count'), i32(pointBytes + 2 * pair));
  f.push(
    op('memory.fill', get('scratch'), i32(0), op('i32.add', bytes, i32(18 * pair + workBytes))),
  );
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
  writeAffine(module, k);
  writeScratchBytes(module);
}
