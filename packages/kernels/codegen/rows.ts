/**
 * Kernels of sparse matrices and of a key's setup, apart from the curves: the Lagrange basis at a point, sums over columns, and products
 * of rows with a vector of scalars.
 *
 * @module
 */
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
  times,
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
 * For each of `count` lines of a matrix the sum of value·factor over its entries, which `begin` stores.
 *
 * `ends` has a u32 for each line, the end of its entries counted in entries of the whole matrix, and one before them: the end of the
 * line before. An entry is two u32: the byte offset of a value and that of a factor, both elements. Each line has an even number of
 * entries (the values start with a zero, which fills odd lines up), so that two are multiplied at once.
 */
function writeSums(
  module: ModuleWriter,
  k: field.Field,
  name: string,
  begin: (f: FunctionWriter) => (total: Pair) => void,
): void {
  const params = ['to', 'ends', 'entries', 'values', 'factors', 'count'];
  module.func(name, { exported: true, params }, (f) => {
    const place = op('i32.add', get('entries'), op('i32.shl', op('i32.load', get('ends')), i32(3)));
    const entry = f.let('i32', place);
    const end = f.take('i32');
    const store = begin(f);
    const sum = { ...k.constant(f, 0n), ...k.normal };
    const address = (offset: number, base: string): string =>
      get(f.let('i32', plus(base, op('i32.load', `offset=${offset}`, get(entry)))));
    loopWhile(f, get('count'), () => {
      advance(f, 4, 'ends');
      f.push(set(end, place));
      f.scope(() => {
        field.assign(f, sum, k.constant(f, 0n));
      });
      loopUntil(f, `(i32.ge_u ${get(entry)} ${get(end)})`, () => {
        f.scope(() => {
          const value = k.load(f, address(0, 'values'), address(8, 'values'));
          const factor = k.load(f, address(4, 'factors'), address(12, 'factors'));
          const product = k.mul(f, value, factor);
          field.assign(f, sum, k.norm(f, field.add(f, sum, product)));
        });
        advance(f, 16, entry);
      });
      f.scope(() => {
        const swapped = field.swapLanes(f, sum);
        store(k.norm(f, field.add(f, sum, swapped)));
      });
      advance(f, -1, 'count');
    });
  });
}

/** Writes the setup's kernels over the scalar field. `setup_sums`: one element at `to` for each column. */
export function writeSetup(module: ModuleWriter, k: field.Field): void {
  writeBasis(module, k);
  writeSums(module, k, 'setup_sums', (f) => (total) => {
    k.store(f, total, get('to'));
    advance(f, field.elementBytes, 'to');
  });
}

/** `rows_multiply`: rows 0 … count-1 of the matrix, as a vector of pairs at `to` (count is even). */
export function writeRows(module: ModuleWriter, k: field.Field): void {
  writeSums(module, k, 'rows_multiply', (f) => {
    const lane = f.let('i32', i32(0));
    return (total) => {
      total.limbs.forEach((limb, index) => {
        const to = plus('to', get(lane));
        f.push(`(v128.store64_lane offset=${index * 16} 0 ${to} ${get(limb)})`);
      });
      // Lane 1 of a pair is 8 bytes on; after it comes the next pair.
      f.push(set('to', plus('to', times(lane, 10))));
      f.push(set(lane, op('i32.xor', get(lane), i32(8))));
    };
  });
}
