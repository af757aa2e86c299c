// Multiplying packed Baby Jubjub points by one secret scalar: unpacked and checked, multiplied, packed again.
//
// Three kernels work on a chunk of `count` pairs of points, one after the other: `bj_unpack`, `bj_multiplyAll`,
// `bj_pack`. The chunk's scratch memory, from `scratch`:
//
//   points    count · POINT_BYTES   unpacked, then multiplied
//   divisors  count · 80            what is inverted together
//   work      (18 + count) · 80     of r_invertPairs; everything else that lives shorter is here too
//
// Packing (iden3): y little-endian in 32 bytes, bit 255 set iff x > (r-1)/2. A point is refused unless y < r, it is on the
// curve, in the subgroup and not the identity; refused lanes go on as the identity, so that they cannot disturb others.
//
// The scalar is secret, points are not. `bj_multiplyAll` reads it as signed digits at fixed windows, none of which is 0: it
// takes the same steps for every scalar and reads a whole table for each digit, so neither branches nor addresses depend
// on it. (Whether the processor's multiplications take the same time for all values is not in our hands; IEEE ones do.)

import {
  TATE_0,
  TATE_1,
  TATE_FACTOR,
  TATE_SLOPE,
  TWISTED_D,
  TWO_ADICITY,
  X_SCALE,
} from './babyjubjub-constants.ts';
import {
  addressOf,
  after,
  loadCoordinate,
  OFFSET,
  POINT_BYTES,
  storeCoordinate,
  writePointFunctions,
} from './babyjubjub-point.ts';
import { LOG_SCRATCH_BYTES, POWER_SCRATCH_BYTES, writePowerFunctions } from './babyjubjub-power.ts';
import { modulo } from './constants.ts';
import * as field from './field.ts';
import type { Pair } from './pair.ts';
import {
  call,
  createLabel,
  type FunctionWriter,
  get,
  i32,
  type ModuleWriter,
  op,
  set,
} from './wat.ts';

const PAIR = field.PAIR_BYTES;
/** Bits of a digit of the scalar; a digit is odd, from -15 to 15. */
const WINDOW = 4;
const TABLE_ENTRIES = 1 << (WINDOW - 1);
/** Digits of a scalar below 2^252. */
const DIGITS = 63;

const numbers = (...names: string[]) => names.map((name) => [name, 'i32'] as const);

/** Runs `body` for every pair of the chunk; `index` is a local. */
const eachPair = (f: FunctionWriter, body: (index: string) => void): void => {
  const index = f.let('i32', i32(0));
  const label = createLabel();
  f.push(`(loop $${label}`);
  body(index);
  f.push(set(index, after(index, 1)));
  f.push(`(br_if $${label} (i32.lt_s ${get(index)} ${get('count')})))`);
};

/** Locals with the addresses of the parts of the chunk's scratch memory. */
const locate = (f: FunctionWriter) => {
  const points = get('scratch');
  const divisors = f.let(
    'i32',
    op('i32.add', points, op('i32.mul', get('count'), i32(POINT_BYTES))),
  );
  const work = f.let('i32', op('i32.add', get(divisors), op('i32.mul', get('count'), i32(PAIR))));
  return { divisors, work };
};

/** The lanes' lowest bits of canonical(2·x), that is whether x > (r-1)/2, as a mask (local v128).
 * `bytes`: 64 bytes of scratch. */
const isLarge = (f: FunctionWriter, k: field.Field, x: Pair, bytes: string): string => {
  const plain = field.mul(f, k, x, field.constant(f, k, X_SCALE, true));
  field.storeBytes(f, k, field.double(f, plain), bytes, op('i32.add', bytes, i32(32)));
  const low = `(v128.load64_lane offset=32 1 ${bytes} ${op('v128.load64_zero', bytes)})`;
  const bit = op('v128.and', low, op('i64x2.splat', '(i64.const 1)'));
  return f.let('v128', op('i64x2.neg', bit));
};

/**
 * Before the common inversion. For each pair: y to Y, √(N·w) to X, the signs asked for to Z (as a mask), w = 1 + D·y² to
 * the divisors, and 1 or 0 a note to `valid`. X² = (y² - 1)/w = N/w² with N = (y² - 1)·w. w is never 0: -1/D is no square.
 */
const writeRoots = (module: ModuleWriter, k: field.Field): void => {
  module.func('bj_roots', { params: numbers('from', 'valid', 'point', 'divisor', 'work') }, (f) => {
    // work: raw bytes (64), reduced bytes (64), logarithms (64), then pairs.
    const product = after('work', 192);
    const root = after('work', 192 + PAIR);
    const rest = after('work', 192 + 2 * PAIR);
    const inner = after('work', 192 + 3 * PAIR);
    f.push(op('memory.copy', get('work'), get('from'), i32(64)));
    const last = (lane: number): string => op('i64.load', `offset=${32 * lane + 24}`, get('from'));
    const signs = [0, 1].map((lane) => op('i64.shr_s', last(lane), '(i64.const 63)'));
    f.push(
      op(
        'v128.store',
        `offset=${OFFSET.z}`,
        get('point'),
        op('i64x2.replace_lane 1', op('i64x2.splat', signs[0] ?? ''), signs[1] ?? ''),
      ),
    );
    for (const lane of [0, 1]) {
      const cleared = op('i64.and', last(lane), '(i64.const 0x7fffffffffffffff)');
      f.push(op('i64.store', `offset=${32 * lane + 24}`, get('work'), cleared));
    }
    const raw = field.loadBytes(f, k, get('work'), after('work', 32));
    // y and y + r would be two spellings of one point: what reduction changes is refused.
    field.storeBytes(f, k, raw, after('work', 64), after('work', 96));
    const valid = [0, 1].map((lane) => {
      const same = [0, 8, 16, 24]
        .map((word) => {
          const offset = 32 * lane + word;
          return op(
            'i64.eq',
            op('i64.load', `offset=${offset}`, get('work')),
            op('i64.load', `offset=${offset + 64}`, get('work')),
          );
        })
        .reduce((a, b) => op('i32.and', a, b));
      return f.let('i32', same);
    });
    f.scope(() => {
      const y = field.mul(f, k, raw, field.constant(f, k, modulo(k.r * k.r, k.modulus), true));
      storeCoordinate(f, k, field.norm(f, k, y), 'point', OFFSET.y);
      const one = field.constant(f, k, 1n);
      const squareY = field.sqr(f, k, y);
      const scaled = field.mul(f, k, squareY, field.constant(f, k, TWISTED_D));
      const w = field.norm(f, k, field.add(f, scaled, one));
      field.storePair(f, k, w, get('divisor'));
      const n = field.mul(f, k, w, field.norm(f, k, field.sub(f, squareY, one)));
      field.storePair(f, k, n, product);
      // x = 0 belongs to (0, 1) and (0, -1), the identity and the point of order 2.
      const zero = field.isZero(f, k, n);
      valid.forEach((local, lane) => {
        const isNot = op('i64.eqz', op(`i64x2.extract_lane ${lane}`, get(zero)));
        f.push(set(local, op('i32.and', get(local), isNot)));
      });
    });
    // N^((m-1)/2), N^((m+1)/2) and N^m: the last one is the square of what the root is wrong by.
    f.push(call('bj_power', rest, product, inner));
    f.push(call('bj_multiply', root, rest, product));
    f.push(call('bj_multiply', rest, rest, root));
    f.push(call('bj_logarithm', root, after('work', 128), rest, inner));
    f.push(op('memory.copy', get('point'), root, i32(PAIR)));
    valid.forEach((local, lane) => {
      const odd = op('i32.and', op('i32.load', `offset=${128 + 4 * lane}`, get('work')), i32(1));
      f.push(
        op(
          'i32.store8',
          `offset=${lane}`,
          get('valid'),
          op('i32.and', get(local), op('i32.eqz', odd)),
        ),
      );
    });
  });
};

/** After the common inversion: the sign, the subgroup, and the refused lanes replaced by the identity. */
const writeFinish = (module: ModuleWriter, k: field.Field): void => {
  module.func('bj_finish', { params: numbers('valid', 'point', 'divisor', 'work') }, (f) => {
    const value = after('work', 64);
    const raised = after('work', 64 + PAIR);
    const inner = after('work', 64 + 2 * PAIR);
    f.scope(() => {
      const inverse = field.loadPair(f, k, get('divisor'));
      const some = field.mul(f, k, loadCoordinate(f, k, 'point', OFFSET.x), inverse);
      const large = isLarge(f, k, some, get('work'));
      const wanted = op('v128.load', `offset=${OFFSET.z}`, get('point'));
      const differs = f.let('v128', op('v128.xor', get(large), wanted));
      const x = field.select(f, get(differs), field.neg(f, some), some);
      storeCoordinate(f, k, field.norm(f, k, x), 'point', OFFSET.x);
    });
    f.scope(() => {
      const one = field.constant(f, k, 1n);
      const x = loadCoordinate(f, k, 'point', OFFSET.x);
      const y = loadCoordinate(f, k, 'point', OFFSET.y);
      const above = field.norm(f, k, field.add(f, y, one));
      const slope = field.mul(f, k, x, field.constant(f, k, TATE_SLOPE));
      const second = field.mul(f, k, above, field.norm(f, k, field.sub(f, one, slope)));
      field.drop(f, slope);
      const scaled = field.mul(f, k, y, field.constant(f, k, TATE_1));
      const line = field.norm(f, k, field.add(f, scaled, field.constant(f, k, TATE_0)));
      const first = field.norm(f, k, field.sub(f, above, field.mul(f, k, x, line)));
      const cube = field.mul(f, k, field.sqr(f, k, second), second);
      const squareOfFirst = field.sqr(f, k, field.mul(f, k, first, y));
      const both = field.sqr(f, k, field.mul(f, k, cube, squareOfFirst));
      const squareY = field.sqr(f, k, y);
      const w = field.add(f, field.mul(f, k, squareY, field.constant(f, k, TWISTED_D)), one);
      const factor = field.mul(f, k, field.norm(f, k, w), field.constant(f, k, TATE_FACTOR));
      field.storePair(f, k, field.mul(f, k, both, factor), value);
    });
    // value^m = (value^((m-1)/2))²·value; then (r-1)/8 = 2^25·m.
    f.push(call('bj_power', raised, value, inner));
    f.push(call('bj_square', raised, raised, i32(1)));
    f.push(call('bj_multiply', raised, raised, value));
    f.push(call('bj_square', raised, raised, i32(TWO_ADICITY - 3)));
    f.scope(() => {
      const one = field.constant(f, k, 1n);
      const isOne = field.isEqual(f, k, field.loadPair(f, k, raised), one);
      const masks = [0, 1].map((lane) => {
        const inside = op('i64.ne', op(`i64x2.extract_lane ${lane}`, get(isOne)), '(i64.const 0)');
        const before = op('i32.load8_u', `offset=${lane}`, get('valid'));
        f.push(op('i32.store8', `offset=${lane}`, get('valid'), op('i32.and', before, inside)));
        const now = op('i64.extend_i32_u', op('i32.load8_u', `offset=${lane}`, get('valid')));
        return op('i64.sub', '(i64.const 0)', now);
      });
      const good = f.let(
        'v128',
        op('i64x2.replace_lane 1', op('i64x2.splat', masks[0] ?? ''), masks[1] ?? ''),
      );
      const zero = field.constant(f, k, 0n);
      const x = field.select(f, get(good), loadCoordinate(f, k, 'point', OFFSET.x), zero);
      const y = field.select(f, get(good), loadCoordinate(f, k, 'point', OFFSET.y), one);
      storeCoordinate(f, k, x, 'point', OFFSET.x);
      storeCoordinate(f, k, y, 'point', OFFSET.y);
      storeCoordinate(f, k, one, 'point', OFFSET.z);
      storeCoordinate(f, k, field.mul(f, k, x, y), 'point', OFFSET.t);
    });
  });
};

const writeUnpack = (module: ModuleWriter): void => {
  const params = numbers('from', 'valid', 'count', 'scratch');
  module.func('bj_unpack', { exported: true, params }, (f) => {
    const { divisors, work } = locate(f);
    const parts = (index: string) => ({
      valid: op('i32.add', get('valid'), op('i32.mul', get(index), i32(2))),
      point: addressOf('scratch', get(index), POINT_BYTES),
      divisor: addressOf(divisors, get(index), PAIR),
    });
    eachPair(f, (index) => {
      const { valid, point, divisor } = parts(index);
      const from = addressOf('from', get(index), 64);
      f.push(call('bj_roots', from, valid, point, divisor, get(work)));
    });
    f.push(call('r_invertPairs', get(divisors), get('count'), get(work)));
    eachPair(f, (index) => {
      const { valid, point, divisor } = parts(index);
      f.push(call('bj_finish', valid, point, divisor, get(work)));
    });
  });
};

/** `bj_choose(to, table, index, negative)`: ± an entry, every entry read and the sign applied by masks. */
const writeChoose = (module: ModuleWriter, k: field.Field): void => {
  module.func('bj_choose', { params: numbers('to', 'table', 'index', 'negative') }, (f) => {
    const masks = Array.from({ length: TABLE_ENTRIES }, (_, entry) =>
      f.let(
        'v128',
        op('i32x4.splat', op('i32.sub', i32(0), op('i32.eq', get('index'), i32(entry)))),
      ),
    );
    const sign = f.let('v128', op('i32x4.splat', op('i32.sub', i32(0), get('negative'))));
    const pick = (offset: number): Pair => {
      const template = field.constant(f, k, 0n);
      template.limbs.forEach((limb, index) => {
        masks.forEach((mask, entry) => {
          const place = entry * POINT_BYTES + offset + 16 * index;
          const value = op('v128.and', get(mask), op('v128.load', `offset=${place}`, get('table')));
          f.push(set(limb, entry === 0 ? value : op('v128.or', get(limb), value)));
        });
      });
      return template;
    };
    const put = (value: Pair, offset: number): void => {
      field.storePair(f, k, value, after('to', offset));
    };
    const plus = pick(0);
    const minus = pick(PAIR);
    put(field.select(f, get(sign), minus, plus), 0);
    put(field.select(f, get(sign), plus, minus), PAIR);
    field.drop(f, plus, minus);
    const t = pick(2 * PAIR);
    put(field.select(f, get(sign), field.neg(f, t), t), 2 * PAIR);
    put(pick(3 * PAIR), 3 * PAIR);
  });
};

/** `bj_multiplyAll(digits, count, scratch)`: digits are 63 · (index, negative), most significant first. */
const writeMultiply = (module: ModuleWriter): void => {
  module.func('bj_multiplyOne', { params: numbers('point', 'digits', 'work') }, (f) => {
    // work: the summand, a point, the table of 1, 3, … 15 times the point.
    const moving = after('work', POINT_BYTES);
    const table = after('work', 2 * POINT_BYTES);
    const entry = (index: number): string => after('work', (2 + index) * POINT_BYTES);
    f.push(op('memory.copy', moving, get('point'), i32(POINT_BYTES)));
    f.push(call('bj_prepare', entry(0), moving));
    f.push(call('bj_doubleFull', moving));
    f.push(call('bj_prepare', get('work'), moving));
    f.push(op('memory.copy', moving, get('point'), i32(POINT_BYTES)));
    for (let index = 1; index < TABLE_ENTRIES; index++) {
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
    const label = createLabel();
    f.push(`(loop $${label}`);
    for (let bit = 1; bit < WINDOW; bit++) f.push(call('bj_double', get('point')));
    f.push(call('bj_doubleFull', get('point')));
    choose(addressOf('digits', get(window), 2));
    f.push(call('bj_add', get('point'), get('work')));
    f.push(set(window, after(window, 1)));
    f.push(`(br_if $${label} (i32.lt_s ${get(window)} ${i32(DIGITS)})))`);
  });
  const params = numbers('digits', 'count', 'scratch');
  module.func('bj_multiplyAll', { exported: true, params }, (f) => {
    const { work } = locate(f);
    eachPair(f, (index) => {
      const point = addressOf('scratch', get(index), POINT_BYTES);
      f.push(call('bj_multiplyOne', point, get('digits'), get(work)));
    });
  });
};

/** `bj_pack(to, valid, count, scratch)`: 32 bytes a point; zeros for refused ones. Erases the scratch memory. */
const writePack = (module: ModuleWriter, k: field.Field): void => {
  module.func('bj_packOne', { params: numbers('to', 'valid', 'point', 'divisor', 'work') }, (f) => {
    f.scope(() => {
      const inverse = field.loadPair(f, k, get('divisor'));
      const y = field.mul(f, k, loadCoordinate(f, k, 'point', OFFSET.y), inverse);
      const plain = field.mul(f, k, y, field.constant(f, k, 1n, true));
      field.storeBytes(f, k, plain, get('to'), after('to', 32));
      field.drop(f, y, plain);
      const x = field.mul(f, k, loadCoordinate(f, k, 'point', OFFSET.x), inverse);
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
  const params = numbers('to', 'valid', 'count', 'scratch');
  module.func('bj_pack', { exported: true, params }, (f) => {
    const { divisors, work } = locate(f);
    eachPair(f, (index) => {
      const z = op('i32.add', addressOf('scratch', get(index), POINT_BYTES), i32(OFFSET.z));
      f.push(op('memory.copy', addressOf(divisors, get(index), PAIR), z, i32(PAIR)));
    });
    f.push(call('r_invertPairs', get(divisors), get('count'), get(work)));
    eachPair(f, (index) => {
      const to = addressOf('to', get(index), 64);
      const valid = op('i32.add', get('valid'), op('i32.mul', get(index), i32(2)));
      const point = addressOf('scratch', get(index), POINT_BYTES);
      f.push(
        call('bj_packOne', to, valid, point, addressOf(divisors, get(index), PAIR), get(work)),
      );
    });
    // Multiples of others' points by the secret scalar are secrets shared with them.
    const bytes = op('i32.mul', get('count'), i32(POINT_BYTES + 2 * PAIR));
    f.push(
      op('memory.fill', get('scratch'), i32(0), op('i32.add', bytes, i32(18 * PAIR + WORK_BYTES))),
    );
  });
};

/** What `work` holds at most besides the inversion's own (18 + count)·80 bytes. */
const WORK_BYTES = Math.max(
  192 + 3 * PAIR + Math.max(POWER_SCRATCH_BYTES, LOG_SCRATCH_BYTES),
  (2 + TABLE_ENTRIES) * POINT_BYTES,
);

/** Bytes of scratch memory for a chunk of `count` pairs: read through `bj_scratchBytes(count)`. */
const writeScratchBytes = (module: ModuleWriter): void => {
  module.func(
    'bj_scratchBytes',
    { exported: true, params: numbers('count'), results: ['i32'] },
    (f) => {
      const bytes = op('i32.mul', get('count'), i32(POINT_BYTES + 2 * PAIR));
      f.push(op('i32.add', bytes, i32(18 * PAIR + WORK_BYTES)));
    },
  );
};

/** Writes the kernels of packed Baby Jubjub points. `k` is BN254's scalar field, its functions already written. */
export const writeBabyJubjub = (module: ModuleWriter, k: field.Field): void => {
  writePointFunctions(module, k);
  writePowerFunctions(module, k);
  writeRoots(module, k);
  writeFinish(module, k);
  writeUnpack(module);
  writeChoose(module, k);
  writeMultiply(module);
  writePack(module, k);
  writeScratchBytes(module);
};
