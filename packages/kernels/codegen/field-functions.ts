// Functions on memory that every field has, by the field's name ('q' or 'r'); README.md lists them.

import { invert, modulo } from './constants.ts';
import * as field from './field.ts';
import { type Pair, requireBound } from './pair.ts';
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

/** Loops over the items in pairs; an odd last item is done in both lanes. `offsets` are the strides of the pointers. */
function eachPair(
  f: FunctionWriter,
  pointers: ReadonlyArray<readonly [pointer: string, stride: number]>,
  body: (seconds: readonly string[]) => void,
): void {
  loopUntil(f, `(i32.le_s ${get('count')} (i32.const 0))`, () => {
    const seconds = pointers.map(([pointer, stride]) => {
      const last = op('i32.eq', get('count'), i32(1));
      return f.let('i32', `(select ${get(pointer)} ${plus(pointer, stride)} ${last})`);
    });
    body(seconds.map(get));
    for (const [pointer, stride] of pointers) advance(f, 2 * stride, pointer);
    advance(f, -2, 'count');
  });
}

function writeElementwise(
  module: ModuleWriter,
  k: field.Field,
  name: string,
  operands: 1 | 2,
  compute: (f: FunctionWriter, a: Pair, b: Pair | undefined) => Pair,
): void {
  const sources = operands === 1 ? ['a'] : ['a', 'b'];
  const params = ['to', ...sources, 'count'];
  module.func(`${k.name}_${name}`, { exported: true, params }, (f) => {
    const pointers = ['to', ...sources].map((pointer) => [pointer, field.elementBytes] as const);
    eachPair(f, pointers, ([to, a, b]) => {
      f.scope(() => {
        const first = k.load(f, get('a'), a);
        const second = b === undefined ? undefined : k.load(f, get('b'), b);
        k.store(f, compute(f, first, second), get('to'), to);
      });
    });
  });
}

function writeConversions(module: ModuleWriter, k: field.Field): void {
  const p = k.modulus;
  const convert = (
    name: string,
    [to, from]: readonly [number, number],
    body: (f: FunctionWriter, seconds: readonly [to: string, from: string]) => void,
  ): void => {
    const shape = { exported: true, params: ['to', 'from', 'count'] };
    module.func(`${k.name}_${name}`, shape, (f) => {
      const strides = [['to', to] as const, ['from', from] as const];
      eachPair(f, strides, ([second = '', other = '']) => {
        f.scope(() => {
          body(f, [second, other]);
        });
      });
    });
  };
  const read = (name: string, factor: bigint): void => {
    convert(name, [field.elementBytes, 32], (f, [to, from]) => {
      const raw = k.loadBytes(f, get('from'), from);
      const value = k.mul(f, raw, k.constant(f, factor, true));
      requireBound('a converted value', value.value, k.tight.value);
      k.store(f, value, get('to'), to);
    });
  };
  const write = (name: string, factor: bigint): void => {
    convert(name, [32, field.elementBytes], (f, [to, from]) => {
      const value = k.load(f, get('from'), from);
      k.storeBytes(f, k.mul(f, value, k.constant(f, factor, true)), get('to'), to);
    });
  };
  const zkeyR = modulo(1n << 256n, p);
  read('fromCanonical', modulo(k.r * k.r, p));
  read('fromMontgomery256', modulo(k.r * k.r * invert(zkeyR, p), p));
  write('toCanonical', 1n);
  write('toMontgomery256', zkeyR);
}

/** Fermat: base^(p-2), four bits of the exponent at a time, lanes apart. Zero gives zero. */
function writeInversion(module: ModuleWriter, k: field.Field): void {
  // Pairs at `scratch`: base^0 … base^15.
  const name = `${k.name}_invertPair`;
  const params = ['to', 'from', 'scratch'];
  const one = module.block(k.encode(1n).flatMap((bits) => [bits, bits]));
  const exponent = k.modulus - 2n;
  const digits = module.block(
    Array.from({ length: 8 }, (_, index) =>
      Array.from({ length: 8 }, (_, byte) => {
        const digit = (exponent >> BigInt(4 * (63 - (index * 8 + byte)))) & 15n;
        return digit << BigInt(8 * byte);
      }).reduce((sum, part) => sum | part),
    ),
  );
  module.func(name, { params }, (f) => {
    const index = f.let('i32', i32(0));
    f.scope(() => {
      k.storePair(f, k.loadPair(f, one), get('scratch'));
    });
    const entry = f.let('i32', get('scratch'));
    loopWhile(f, `(i32.lt_s ${get(index)} (i32.const 15))`, () => {
      f.scope(() => {
        const previous = k.loadPair(f, get(entry));
        const product = k.mul(f, previous, k.loadPair(f, get('from')));
        advance(f, field.pairBytes, entry);
        k.storePair(f, product, get(entry));
      });
      advance(f, 1, index);
    });
    const result = k.loadPair(f, one);
    f.push(set(index, i32(0)));
    loopWhile(f, `(i32.lt_s ${get(index)} (i32.const 64))`, () => {
      f.scope(() => {
        let power: Pair = result;
        for (let square = 0; square < 4; square++) power = k.sqr(f, power);
        const digit = op('i32.load8_u', `offset=${digits}`, get(index));
        const address = f.let(
          'i32',
          op('i32.add', get('scratch'), op('i32.mul', digit, i32(field.pairBytes))),
        );
        field.assign(f, result, k.mul(f, power, k.loadPair(f, get(address))));
      });
      advance(f, 1, index);
    });
    k.storePair(f, result, get('to'));
  });
}

/** Inverts `count` pairs in place (Montgomery's trick, the lanes apart): zero is not allowed. */
function writeBatchInversion(module: ModuleWriter, k: field.Field): void {
  const params = ['values', 'count', 'scratch'];
  const bytes = field.pairBytes;
  module.func(`${k.name}_invertPairs`, { exported: true, params }, (f) => {
    // scratch: 18 pairs for the single inversion, then the products of the values before each value.
    const product = f.let('i32', plus('scratch', 18 * bytes));
    const end = f.let('i32', op('i32.add', get('values'), op('i32.mul', get('count'), i32(bytes))));
    const value = f.let('i32', get('values'));
    f.push(`(if (i32.eqz ${get('count')}) (then (return)))`);
    const running = k.constant(f, 1n);
    const loose = { ...running, ...k.stored };
    loopWhile(f, `(i32.lt_u ${get(value)} ${get(end)})`, () => {
      k.storePair(f, loose, get(product));
      f.scope(() => {
        field.assign(f, loose, k.mul(f, loose, k.loadPair(f, get(value))));
      });
      advance(f, bytes, product, value);
    });
    k.storePair(f, loose, get('scratch'));
    f.push(call(`${k.name}_invertPair`, get('scratch'), get('scratch'), plus('scratch', bytes)));
    f.scope(() => {
      field.assign(f, loose, k.loadPair(f, get('scratch')));
    });
    loopWhile(f, `(i32.gt_u ${get(value)} ${get('values')})`, () => {
      advance(f, -bytes, value, product);
      f.scope(() => {
        const current = k.loadPair(f, get(value));
        const before = k.loadPair(f, get(product));
        k.storePair(f, k.mul(f, loose, before), get(value));
        field.assign(f, loose, k.mul(f, loose, current));
      });
    });
  });
}

/** Writes every function of the field. */
export function writeFieldFunctions(module: ModuleWriter, k: field.Field): void {
  const two = (b: Pair | undefined): Pair => {
    if (b === undefined) throw new Error('this operation has two operands');
    return b;
  };
  writeElementwise(module, k, 'multiply', 2, (f, a, b) => k.mul(f, a, two(b)));
  writeElementwise(module, k, 'multiplyDense', 2, (f, a, b) => k.mulDense(f, a, two(b)));
  writeElementwise(module, k, 'multiplySum', 2, (f, a, b) =>
    k.norm(f, k.mulSum(f, a, two(b), a, a)),
  );
  writeElementwise(module, k, 'square', 1, (f, a) => k.sqr(f, a));
  writeElementwise(module, k, 'add', 2, (f, a, b) => k.norm(f, field.add(f, a, two(b))));
  writeElementwise(module, k, 'subtract', 2, (f, a, b) => k.norm(f, field.sub(f, a, two(b))));
  writeElementwise(module, k, 'negate', 1, (f, a) => field.neg(f, a));
  writeConversions(module, k);
  writeInversion(module, k);
  writeBatchInversion(module, k);
}
