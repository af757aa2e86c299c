// Multiplication of unpacked Baby Jubjub points by one secret scalar (babyjubjub.ts).

import { eachPair, locate, pair } from './babyjubjub-chunk.ts';
import { addressOf, after, pointBytes } from './babyjubjub-point.ts';
import * as field from './field.ts';
import type { Pair } from './pair.ts';
import { call, get, i32, loopWhile, type ModuleWriter, op, set } from './wat.ts';

/** Bits of a digit of the scalar; a digit is odd, from -15 to 15. */
const windowBits = 4;
export const tableEntries = 1 << (windowBits - 1);
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
export function writeMultiply(module: ModuleWriter, k: field.Field): void {
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
