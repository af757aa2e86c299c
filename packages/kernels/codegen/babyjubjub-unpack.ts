// Unpacking of Baby Jubjub points (babyjubjub.ts): roots, signs, and whether a point is in the subgroup.

import { eachPair, isLarge, locate, pair } from './babyjubjub-chunk.ts';
import {
  tate0,
  tate1,
  tateFactor,
  tateSlope,
  twistedD,
  twoAdicity,
} from './babyjubjub-constants.ts';
import {
  addressOf,
  after,
  loadCoordinate,
  offset,
  pointBytes,
  storeCoordinate,
} from './babyjubjub-point.ts';
import { modulo } from './constants.ts';
import * as field from './field.ts';
import { call, get, i32, type ModuleWriter, op, set } from './wat.ts';

/**
 * Before the common inversion. For each pair: y to Y, √(N·w) to X, the requested signs to Z (as a mask), w = 1 + D·y² to
 * the divisors, and 1 or 0 a note to `valid`. X² = (y² - 1)/w = N/w² with N = (y² - 1)·w. w is never 0: -1/D is not a square.
 */
function writeRoots(module: ModuleWriter, k: field.Field): void {
  module.func('bj_roots', { params: ['from', 'valid', 'point', 'divisor', 'work'] }, (f) => {
    // work: raw bytes (64), reduced bytes (64), logarithms (64), then pairs.
    const product = after('work', 192);
    const root = after('work', 192 + pair);
    const rest = after('work', 192 + 2 * pair);
    const inner = after('work', 192 + 3 * pair);
    f.push(op('memory.copy', get('work'), get('from'), i32(64)));
    const last = (lane: number): string => op('i64.load', `offset=${32 * lane + 24}`, get('from'));
    const signs = [0, 1].map((lane) => op('i64.shr_s', last(lane), '(i64.const 63)'));
    f.push(
      op(
        'v128.store',
        `offset=${offset.z}`,
        get('point'),
        op('i64x2.replace_lane 1', op('i64x2.splat', signs[0] ?? ''), signs[1] ?? ''),
      ),
    );
    for (const lane of [0, 1]) {
      const cleared = op('i64.and', last(lane), '(i64.const 0x7fffffffffffffff)');
      f.push(op('i64.store', `offset=${32 * lane + 24}`, get('work'), cleared));
    }
    const raw = k.loadBytes(f, get('work'), after('work', 32));
    // y and y + r would be two spellings of one point, so a value that reduction changes is refused.
    k.storeBytes(f, raw, after('work', 64), after('work', 96));
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
      const y = k.mul(f, raw, k.constant(f, modulo(k.r * k.r, k.modulus), true));
      storeCoordinate(f, k, k.norm(f, y), 'point', offset.y);
      const one = k.constant(f, 1n);
      const squareY = k.sqr(f, y);
      const scaled = k.mul(f, squareY, k.constant(f, twistedD));
      const w = k.norm(f, field.add(f, scaled, one));
      k.storePair(f, w, get('divisor'));
      const n = k.mul(f, w, k.norm(f, field.sub(f, squareY, one)));
      k.storePair(f, n, product);
      // x = 0 belongs to (0, 1) and (0, -1), the identity and the point of order 2.
      const zero = k.isZero(f, n);
      valid.forEach((local, lane) => {
        const isNot = op('i64.eqz', op(`i64x2.extract_lane ${lane}`, get(zero)));
        f.push(set(local, op('i32.and', get(local), isNot)));
      });
    });
    // N^((m-1)/2), N^((m+1)/2) and N^m: the last one is the square of the error of the root.
    f.push(call('bj_power', rest, product, inner));
    f.push(call('bj_multiply', root, rest, product));
    f.push(call('bj_multiply', rest, rest, root));
    f.push(call('bj_logarithm', root, after('work', 128), rest, inner));
    f.push(op('memory.copy', get('point'), root, i32(pair)));
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
}

/** After the common inversion: the sign, the subgroup, and the refused lanes replaced by the identity. */
function writeFinish(module: ModuleWriter, k: field.Field): void {
  module.func('bj_finish', { params: ['valid', 'point', 'divisor', 'work'] }, (f) => {
    const value = after('work', 64);
    const raised = after('work', 64 + pair);
    const inner = after('work', 64 + 2 * pair);
    f.scope(() => {
      const inverse = k.loadPair(f, get('divisor'));
      const some = k.mul(f, loadCoordinate(f, k, 'point', offset.x), inverse);
      const large = isLarge(f, k, some, get('work'));
      const wanted = op('v128.load', `offset=${offset.z}`, get('point'));
      const differs = f.let('v128', op('v128.xor', get(large), wanted));
      const x = field.select(f, get(differs), field.neg(f, some), some);
      storeCoordinate(f, k, k.norm(f, x), 'point', offset.x);
    });
    f.scope(() => {
      const one = k.constant(f, 1n);
      const x = loadCoordinate(f, k, 'point', offset.x);
      const y = loadCoordinate(f, k, 'point', offset.y);
      const above = k.norm(f, field.add(f, y, one));
      const slope = k.mul(f, x, k.constant(f, tateSlope));
      const second = k.mul(f, above, k.norm(f, field.sub(f, one, slope)));
      field.drop(f, slope);
      const scaled = k.mul(f, y, k.constant(f, tate1));
      const line = k.norm(f, field.add(f, scaled, k.constant(f, tate0)));
      const first = k.norm(f, field.sub(f, above, k.mul(f, x, line)));
      const cube = k.mul(f, k.sqr(f, second), second);
      const squareOfFirst = k.sqr(f, k.mul(f, first, y));
      const both = k.sqr(f, k.mul(f, cube, squareOfFirst));
      const squareY = k.sqr(f, y);
      const w = field.add(f, k.mul(f, squareY, k.constant(f, twistedD)), one);
      const factor = k.mul(f, k.norm(f, w), k.constant(f, tateFactor));
      k.storePair(f, k.mul(f, both, factor), value);
    });
    // value^m = (value^((m-1)/2))²·value; then (r-1)/8 = 2^25·m.
    f.push(call('bj_power', raised, value, inner));
    f.push(call('bj_square', raised, raised, i32(1)));
    f.push(call('bj_multiply', raised, raised, value));
    f.push(call('bj_square', raised, raised, i32(twoAdicity - 3)));
    f.scope(() => {
      const one = k.constant(f, 1n);
      const isOne = k.isEqual(f, k.loadPair(f, raised), one);
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
      const zero = k.constant(f, 0n);
      const x = field.select(f, get(good), loadCoordinate(f, k, 'point', offset.x), zero);
      const y = field.select(f, get(good), loadCoordinate(f, k, 'point', offset.y), one);
      storeCoordinate(f, k, x, 'point', offset.x);
      storeCoordinate(f, k, y, 'point', offset.y);
      storeCoordinate(f, k, one, 'point', offset.z);
      storeCoordinate(f, k, k.mul(f, x, y), 'point', offset.t);
    });
  });
}

/** Writes `bj_unpack(from, valid, count, scratch)`. */
export function writeUnpack(module: ModuleWriter, k: field.Field): void {
  writeRoots(module, k);
  writeFinish(module, k);
  const params = ['from', 'valid', 'count', 'scratch'];
  module.func('bj_unpack', { exported: true, params }, (f) => {
    const { divisors, work } = locate(f);
    const parts = (index: string) => ({
      valid: op('i32.add', get('valid'), op('i32.mul', get(index), i32(2))),
      point: addressOf('scratch', get(index), pointBytes),
      divisor: addressOf(divisors, get(index), pair),
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
}
