// Products of sparse matrix rows with a vector of scalars.

import * as field from './field.ts';
import { advance, get, i32, loopUntil, loopWhile, type ModuleWriter, op, set } from './wat.ts';

/**
 * `rows_multiply`: rows 0 … count-1 of the matrix in `ends` and `entries`, as a vector of pairs at `to` (count is even).
 *
 * `ends` has a u32 for each row, the end of its entries counted in entries of the whole matrix, and one before them: the
 * end of the row before. An entry is two u32: the byte offset of a value and that of a scalar, both elements of 40 bytes.
 * Each row has an even number of entries (the values start with a zero, which fills odd rows up): two at a time.
 */
export function writeRows(module: ModuleWriter, k: field.Field): void {
  const names = ['to', 'ends', 'entries', 'values', 'scalars', 'count'];
  const params = names;
  module.func('rows_multiply', { exported: true, params }, (f) => {
    const entry = f.let(
      'i32',
      op('i32.add', get('entries'), op('i32.shl', op('i32.load', get('ends')), i32(3))),
    );
    const end = f.take('i32');
    const lane = f.let('i32', i32(0));
    const address = (offset: number, base: string): string =>
      f.let('i32', op('i32.add', get(base), op('i32.load', `offset=${offset}`, get(entry))));
    const sum = { ...k.constant(f, 0n), ...k.normal };
    loopWhile(f, get('count'), () => {
      advance(f, 4, 'ends');
      f.push(
        set(end, op('i32.add', get('entries'), op('i32.shl', op('i32.load', get('ends')), i32(3)))),
      );
      f.scope(() => {
        field.assign(f, sum, k.constant(f, 0n));
      });
      loopUntil(f, `(i32.ge_u ${get(entry)} ${get(end)})`, () => {
        f.scope(() => {
          const [value0, scalar0] = [address(0, 'values'), address(4, 'scalars')];
          const [value1, scalar1] = [address(8, 'values'), address(12, 'scalars')];
          const value = k.load(f, get(value0), get(value1));
          const scalar = k.load(f, get(scalar0), get(scalar1));
          const product = k.mul(f, value, scalar);
          field.assign(f, sum, k.norm(f, field.add(f, sum, product)));
        });
        advance(f, 16, entry);
      });
      f.scope(() => {
        const swapped = {
          ...sum,
          limbs: sum.limbs.map((limb) =>
            f.let(
              'v128',
              `(i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 ${get(limb)} ${get(limb)})`,
            ),
          ),
        };
        const total = k.norm(f, field.add(f, sum, swapped));
        total.limbs.forEach((limb, index) => {
          f.push(
            `(v128.store64_lane offset=${index * 16} 0 ${op('i32.add', get('to'), get(lane))} ${get(limb)})`,
          );
        });
      });
      // Lane 1 of a pair is 8 bytes on; after it comes the next pair.
      f.push(set('to', op('i32.add', get('to'), op('i32.mul', get(lane), i32(10)))));
      f.push(set(lane, op('i32.xor', get(lane), i32(8))));
      advance(f, -1, 'count');
    });
  });
}
