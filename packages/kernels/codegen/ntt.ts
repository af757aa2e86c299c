// Number-theoretic transforms on vectors of pairs (80 bytes: element 2i in lane 0, element 2i+1 in lane 1).
// Sources: J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965 (decimation
// in time); W. M. Gentleman, G. Sande, "Fast Fourier transforms: for fun and profit", 1966 (decimation in frequency).
//
// The prover needs one operation: values of a polynomial on the domain <w>, |<w>| = n, become its values on the odd
// coset g·<w>, g² = w. The inverse transform is by decimation in frequency (natural order in, bit-reversed out), the
// forward one by decimation in time (bit-reversed in, natural out), so nothing is permuted. The shift to the coset
// costs nothing: P(x) = E(x²) + x·O(x²) holds for x = g·w^k too, and only the twiddles change. The factor n that the
// inverse transform leaves is taken out in `ntt_combine`.
//
// Twiddles, h = half the length of a butterfly block, as pairs (j, j+1), at byte 40·h of a table for h > 1, and for h = 1
// in both lanes of the first pair:
//   inverse  w_2h^-j        forward  w_4h^(2j+1)        j = 0 … h-1, w_m a primitive m-th root of unity
//
// A large transform is a matrix of rows: first the stages between rows, for some columns at a time, then each row
// alone, in the nearest cache; and back. The same function does both: a row is a matrix whose rows are single pairs.

import * as field from './field.ts';
import { type Pair, requireBound } from './pair.ts';
import {
  advance,
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

const bytes = field.pairBytes;
function half(value: string): string {
  return op('i32.shr_u', value, i32(1));
}
/** Runs `body` while the local `count` (changed by `step`, at its end) is not zero. */
function whileCount(f: FunctionWriter, count: string, step: number, body: () => void): void {
  loopUntil(f, `(i32.le_s ${get(count)} (i32.const 0))`, () => {
    body();
    advance(f, -step, count);
  });
}

/** Rows, and the twiddles of the pair at hand. */
type Butterfly = {
  readonly load: (row: number) => Pair;
  readonly root: (table: number) => Pair;
  readonly put: (row: number, value: Pair) => void;
};

/**
 * One stage on two rows of `pairs` pairs, `step` bytes apart, or two adjacent stages (half-lengths 2h and h) on four. Roots 0 and 1
 * belong to the larger stage, root 2 to the smaller one.
 */
function writeButterflies(
  module: ModuleWriter,
  k: field.Field,
  name: string,
  count: 2 | 4,
  body: (f: FunctionWriter, butterfly: Butterfly) => void,
): void {
  const params = ['p0', 'step', 'w0', ...(count === 4 ? ['w2'] : []), 'pairs'];
  module.func(name, { params }, (f) => {
    const rows = ['p0'];
    while (rows.length < count) {
      rows.push(f.let('i32', plus(rows.at(-1) ?? '', get('step'))));
    }
    const tables = count === 4 ? ['w0', f.let('i32', plus('w0', get('step'))), 'w2'] : ['w0'];
    whileCount(f, 'pairs', 1, () => {
      f.scope(() => {
        body(f, {
          load: (row) => k.loadPair(f, get(rows[row] ?? '')),
          root: (table) => k.loadPair(f, get(tables[table] ?? ''), k.normal),
          put: (row, value) => {
            k.storePair(f, value, get(rows[row] ?? ''));
          },
        });
      });
      advance(f, bytes, ...rows, ...tables);
    });
  });
}

function writeInverse(module: ModuleWriter, k: field.Field): void {
  writeButterflies(module, k, 'ntt_inverseQuads', 4, (f, { load, root, put }) => {
    const [x0, x2] = [load(0), load(2)];
    const [s0, d0] = [field.add(f, x0, x2), field.sub(f, x0, x2)];
    const [x1, x3] = [load(1), load(3)];
    const [s1, d1] = [field.add(f, x1, x3), field.sub(f, x1, x3)];
    put(0, k.norm(f, field.add(f, s0, s1)));
    const late = k.norm(f, field.sub(f, s0, s1));
    const twiddle = root(2);
    put(1, k.mul(f, late, twiddle));
    const [e0, e1] = [k.mul(f, d0, root(0)), k.mul(f, d1, root(1))];
    put(2, k.norm(f, field.add(f, e0, e1)));
    put(3, k.mul(f, field.sub(f, e0, e1), twiddle));
  });
  writeButterflies(module, k, 'ntt_inverseTwos', 2, (f, { load, root, put }) => {
    const [x0, x1] = [load(0), load(1)];
    put(0, k.norm(f, field.add(f, x0, x1)));
    const twiddle = root(0);
    put(1, k.mul(f, field.sub(f, x0, x1), twiddle));
  });
}

function writeForward(module: ModuleWriter, k: field.Field): void {
  writeButterflies(module, k, 'ntt_forwardQuads', 4, (f, { load, root, put }) => {
    const early = root(2);
    const [x1, x3] = [k.mul(f, load(1), early), k.mul(f, load(3), early)];
    const [x0, x2] = [load(0), load(2)];
    const u2 = k.mul(f, field.add(f, x2, x3), root(0));
    const u0 = field.add(f, x0, x1);
    put(0, k.norm(f, field.add(f, u0, u2)));
    put(2, k.norm(f, field.sub(f, u0, u2)));
    const u3 = k.mul(f, field.sub(f, x2, x3), root(1));
    const u1 = field.sub(f, x0, x1);
    put(1, k.norm(f, field.add(f, u1, u3)));
    put(3, k.norm(f, field.sub(f, u1, u3)));
  });
  writeButterflies(module, k, 'ntt_forwardTwos', 2, (f, { load, root, put }) => {
    const x0 = load(0);
    const twiddle = root(0);
    const x1 = k.mul(f, load(1), twiddle);
    put(0, k.norm(f, field.add(f, x0, x1)));
    put(1, k.norm(f, field.sub(f, x0, x1)));
  });
}

/**
 * `ntt_inverse` and `ntt_forward`: all stages between `rows` rows (a power of two), `rowBytes` apart, of which `pairs`
 * columns are transformed, with the table's part for these columns. If the columns are the whole row, rows that are stored
 * one after the other are one long run.
 */
function writeMatrix(module: ModuleWriter, direction: 'inverse' | 'forward'): void {
  const params = ['base', 'rowBytes', 'rows', 'pairs', 'table'];
  module.func(`ntt_${direction}`, { exported: true, params }, (f) => {
    const isRun = f.let('i32', op('i32.eq', times('pairs', bytes), get('rowBytes')));
    // Half-length in rows of the larger stage of a step.
    const top = f.take('i32');
    const row = f.take('i32');
    const rest = f.take('i32');
    const step = f.take('i32');
    const length = f.take('i32');
    const at = f.take('i32');
    const end = f.let('i32', plus('base', times('rows', get('rowBytes'))));

    /** One step over all blocks; `four`: two stages at once. */
    const pass = (four: boolean): void => {
      const distance = four ? half(get(top)) : get(top);
      f.push(set(step, op('i32.mul', distance, get('rowBytes'))));
      f.push(set(at, get('base')));
      loopWhile(f, `(i32.ne ${get(at)} ${get(end)})`, () => {
        f.push(set(row, get(at)));
        f.push(set(rest, `(select ${i32(1)} ${distance} ${get(isRun)})`));
        f.push(
          set(
            length,
            `(select ${op('i32.mul', distance, get('pairs'))} ${get('pairs')} ${get(isRun)})`,
          ),
        );
        whileCount(f, rest, 1, () => {
          const offset = op('i32.sub', get(row), get(at));
          const large = op('i32.add', plus('table', times(top, get('rowBytes'))), offset);
          const small = op('i32.add', plus('table', get(step)), offset);
          const tables = four ? `${large} ${small}` : large;
          const name = `ntt_${direction}${four ? 'Quads' : 'Twos'}`;
          f.push(`(call $${name} ${get(row)} ${get(step)} ${tables} ${get(length)})`);
          f.push(set(row, plus(row, get('rowBytes'))));
        });
        f.push(set(at, plus(at, op('i32.shl', times(top, get('rowBytes')), i32(1)))));
      });
    };

    const isOdd = op('i32.and', op('i32.ctz', get('rows')), i32(1));
    if (direction === 'inverse') {
      f.push(set(top, half(get('rows'))));
      f.push(`(if ${isOdd} (then`);
      pass(false);
      f.push(set(top, half(get(top))));
      f.push('))');
      loopUntil(f, `(i32.lt_u ${get(top)} (i32.const 2))`, () => {
        pass(true);
        f.push(set(top, op('i32.shr_u', get(top), i32(2))));
      });
    } else {
      f.push(set(top, i32(2)));
      loopUntil(f, `(i32.ge_u ${get(top)} ${get('rows')})`, () => {
        pass(true);
        f.push(set(top, op('i32.shl', get(top), i32(2))));
      });
      f.push(`(if ${isOdd} (then`);
      f.push(set(top, half(get('rows'))));
      pass(false);
      f.push('))');
    }
  });
}

/** The low (or high) lanes of two pairs, of the same bounds, as one pair. */
function gather(f: FunctionWriter, a: Pair, b: Pair, lane: 0 | 1): Pair {
  const bytes = Array.from({ length: 16 }, (_, i) => (i < 8 ? i : i + 8) + 8 * lane).join(' ');
  const limbs = a.limbs.map((limb, index) =>
    f.let('v128', `(i8x16.shuffle ${bytes} ${get(limb)} ${get(b.limbs[index] ?? '')})`),
  );
  requireBound('a gathered value', b.value, a.value);
  requireBound('a gathered limb', b.limb, a.limb);
  return { ...a, limbs };
}

/** `ntt_turn`: the last stage of the inverse transform and the first of the forward one, on `pairs` (even) pairs. */
function writeTurn(module: ModuleWriter, k: field.Field): void {
  module.func('ntt_turn', { exported: true, params: ['at', 'pairs', 'table'] }, (f) => {
    const next = f.let('i32', plus('at', bytes));
    const twiddle = k.loadPair(f, get('table'), k.normal);
    whileCount(f, 'pairs', 2, () => {
      f.scope(() => {
        const first = k.loadPair(f, get('at'));
        const second = k.loadPair(f, get(next));
        const x0 = gather(f, first, second, 0);
        const x1 = gather(f, first, second, 1);
        const sum = field.add(f, x0, x1);
        const turned = k.mul(f, field.sub(f, x0, x1), twiddle);
        const y0 = k.norm(f, field.add(f, sum, turned));
        const y1 = k.norm(f, field.sub(f, sum, turned));
        k.storePair(f, gather(f, y0, y1, 0), get('at'));
        k.storePair(f, gather(f, y0, y1, 1), get(next));
      });
      advance(f, bytes, 'at', 'at', next, next);
    });
  });
}

/** `ntt_powers`: a geometric sequence of pairs; `from` has the first two numbers and the factor from pair to pair, canonical. */
function writePowers(module: ModuleWriter, k: field.Field): void {
  module.func('ntt_powers', { exported: true, params: ['to', 'from', 'pairs'] }, (f) => {
    const inForm = k.constant(f, k.r);
    const read = (first: string, second: string): Pair =>
      k.norm(f, k.mul(f, k.loadBytes(f, first, second), inForm));
    const value = { ...read(get('from'), plus('from', 32)), ...k.normal };
    const factor = read(plus('from', 64), plus('from', 64));
    whileCount(f, 'pairs', 1, () => {
      k.storePair(f, value, get('to'));
      f.scope(() => {
        field.assign(f, value, k.norm(f, k.mul(f, value, factor)));
      });
      advance(f, bytes, 'to');
    });
  });
}

/** `ntt_multiply`: to = a·b, all vectors of pairs. */
function writeMultiply(module: ModuleWriter, k: field.Field): void {
  module.func('ntt_multiply', { exported: true, params: ['to', 'a', 'b', 'pairs'] }, (f) => {
    whileCount(f, 'pairs', 1, () => {
      f.scope(() => {
        const a = k.loadPair(f, get('a'));
        k.storePair(f, k.mul(f, a, k.loadPair(f, get('b'))), get('to'));
      });
      advance(f, bytes, 'to', 'a', 'b');
    });
  });
}

/**
 * `ntt_combine`: canonical scalars (a·b/n - c)/n, which is a·b - c for vectors that each still carry the factor n.
 * `inverse` is a pair with 1/n in both lanes.
 */
function writeCombine(module: ModuleWriter, k: field.Field): void {
  const params = ['to', 'a', 'b', 'c', 'inverse', 'pairs'];
  module.func('ntt_combine', { exported: true, params }, (f) => {
    const inverse = k.loadPair(f, get('inverse'), k.normal);
    const plain = k.norm(f, k.mul(f, inverse, k.constant(f, 1n, true)));
    whileCount(f, 'pairs', 1, () => {
      f.scope(() => {
        const a = k.loadPair(f, get('a'));
        const product = k.mul(f, a, k.loadPair(f, get('b')));
        const scaled = k.mul(f, product, inverse);
        const difference = field.sub(f, scaled, k.loadPair(f, get('c')));
        const second = f.let('i32', plus('to', 32));
        k.storeBytes(f, k.mul(f, difference, plain), get('to'), get(second));
      });
      advance(f, 64, 'to');
      advance(f, bytes, 'a', 'b', 'c');
    });
  });
}

/** Writes the transforms of the scalar field. */
export function writeTransforms(module: ModuleWriter, k: field.Field): void {
  writeInverse(module, k);
  writeForward(module, k);
  writeMatrix(module, 'inverse');
  writeMatrix(module, 'forward');
  writeTurn(module, k);
  writePowers(module, k);
  writeMultiply(module, k);
  writeCombine(module, k);
}
