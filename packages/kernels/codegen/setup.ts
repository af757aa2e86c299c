// The kernels for the setup of a key, apart from the curves: the Lagrange basis at a point, and sums over the columns of a matrix.

import * as field from './field.ts';
import type { Pair } from './pair.ts';
import {
  advance,
  call,
  type FunctionWriter,
  get,
  i32,
  loopUntil,
  loopWhile,
  type ModuleWriter,
  op,
  plus,
  set,
} from './wat.ts';

/** Runs `body` `pairs` (at least 1) times; then `pointers` have moved on by `pairs` pairs. */
function eachPair(f: FunctionWriter, pointers: readonly string[], body: () => void): void {
  const left = f.let('i32', get('pairs'));
  loopWhile(f, get(left), () => {
    f.scope(body);
    advance(f, field.pairBytes, ...pointers);
    advance(f, -1, left);
  });
  f.give(left);
}

/**
 * `setup_basis`: scale / (x - 1) for a geometric sequence of x, as 2·pairs elements at `to`. No x may be 1.
 *
 * `numbers`: the first x, the second, the factor from an x to the next but one, the scale; canonical, 32 bytes each. `scratch`: room for
 * 18 + 2·pairs pairs.
 */
function writeBasis(module: ModuleWriter, k: field.Field): void {
  const params = ['to', 'numbers', 'pairs', 'scratch'];
  module.func('setup_basis', { exported: true, params }, (f) => {
    const inForm = k.constant(f, k.r);
    const read = (first: number, second: number): Pair =>
      k.norm(f, k.mul(f, k.loadBytes(f, plus('numbers', first), plus('numbers', second)), inForm));
    const x = { ...read(0, 32), ...k.normal };
    const factor = read(64, 64);
    const scale = read(96, 96);
    const place = f.let('i32', get('scratch'));
    eachPair(f, [place], () => {
      const difference = field.sub(f, x, k.constant(f, 1n));
      k.storePair(f, k.norm(f, difference), get(place));
      field.assign(f, x, k.norm(f, k.mul(f, x, factor)));
    });
    f.push(call(`${k.name}_invertPairs`, get('scratch'), get('pairs'), get(place)));
    f.push(set(place, get('scratch')));
    eachPair(f, [place, 'to'], () => {
      const product = k.mul(f, k.loadPair(f, get(place)), scale);
      const second = f.let('i32', plus('to', field.elementBytes));
      k.store(f, product, get('to'), get(second));
    });
  });
}

/**
 * `setup_sums`: one element at `to` for each of `count` columns, the sum of value·weight over the column's entries.
 *
 * `ends` has a u32 for each column, the end of its entries counted in entries of the whole matrix, and one before them: the end of the
 * column before. An entry is two u32: the byte offset of a value and that of a weight, both elements. Each column has an even number of
 * entries, so that two are multiplied at once.
 */
function writeSums(module: ModuleWriter, k: field.Field): void {
  const names = ['to', 'ends', 'entries', 'values', 'weights', 'count'];
  module.func('setup_sums', { exported: true, params: names }, (f) => {
    const place = op('i32.add', get('entries'), op('i32.shl', op('i32.load', get('ends')), i32(3)));
    const entry = f.let('i32', place);
    const end = f.take('i32');
    const sum = { ...k.constant(f, 0n), ...k.normal };
    loopWhile(f, get('count'), () => {
      advance(f, 4, 'ends');
      f.push(set(end, place));
      f.scope(() => {
        field.assign(f, sum, k.constant(f, 0n));
      });
      loopUntil(f, `(i32.ge_u ${get(entry)} ${get(end)})`, () => {
        f.scope(() => {
          const address = (offset: number, base: string): string =>
            get(
              f.let(
                'i32',
                op('i32.add', get(base), op('i32.load', `offset=${offset}`, get(entry))),
              ),
            );
          const value = k.load(f, address(0, 'values'), address(8, 'values'));
          const weight = k.load(f, address(4, 'weights'), address(12, 'weights'));
          const product = k.mul(f, value, weight);
          field.assign(f, sum, k.norm(f, field.add(f, sum, product)));
        });
        advance(f, 16, entry);
      });
      f.scope(() => {
        const high = (limb: string): string =>
          `(i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 ${get(limb)} ${get(limb)})`;
        const swapped = { ...sum, limbs: sum.limbs.map((limb) => f.let('v128', high(limb))) };
        k.store(f, k.norm(f, field.add(f, sum, swapped)), get('to'));
      });
      advance(f, field.elementBytes, 'to');
      advance(f, -1, 'count');
    });
  });
}

/** Writes the setup's kernels over the scalar field. */
export function writeSetup(module: ModuleWriter, k: field.Field): void {
  writeBasis(module, k);
  writeSums(module, k);
}
