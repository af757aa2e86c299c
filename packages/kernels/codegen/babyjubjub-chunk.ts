// The common parts of the kernels of packed Baby Jubjub points: the chunk's memory (babyjubjub.ts) and the sign of a point.

import { xScale } from './babyjubjub-constants.ts';
import { after, pointBytes } from './babyjubjub-point.ts';
import * as field from './field.ts';
import type { Pair } from './pair.ts';
import { type FunctionWriter, get, i32, loopWhile, op, set } from './wat.ts';

export const pair = field.pairBytes;

/** Runs `body` for every pair of the chunk; `index` is a local. */
export function eachPair(f: FunctionWriter, body: (index: string) => void): void {
  const index = f.let('i32', i32(0));
  loopWhile(f, `(i32.lt_s ${get(index)} ${get('count')})`, () => {
    body(index);
    f.push(set(index, after(index, 1)));
  });
}

/** Locals with the addresses of the parts of the chunk's scratch memory. */
export function locate(f: FunctionWriter) {
  const points = get('scratch');
  const divisors = f.let(
    'i32',
    op('i32.add', points, op('i32.mul', get('count'), i32(pointBytes))),
  );
  const work = f.let('i32', op('i32.add', get(divisors), op('i32.mul', get('count'), i32(pair))));
  return { divisors, work };
}

/** The lanes' lowest bits of canonical(2·x), that is whether x > (r-1)/2, as a mask (local v128).
 * `bytes`: 64 bytes of scratch. */
export function isLarge(f: FunctionWriter, k: field.Field, x: Pair, bytes: string): string {
  const plain = k.mul(f, x, k.constant(f, xScale, true));
  k.storeBytes(f, field.double(f, plain), bytes, op('i32.add', bytes, i32(32)));
  const low = `(v128.load64_lane offset=32 1 ${bytes} ${op('v128.load64_zero', bytes)})`;
  const bit = op('v128.and', low, op('i64x2.splat', '(i64.const 1)'));
  return f.let('v128', op('i64x2.neg', bit));
}
