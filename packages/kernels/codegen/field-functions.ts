// Functions on memory that every field has, by the field's name ('q' or 'r'); README.md lists them.

import { invert, modulo } from './constants.ts';
import * as field from './field.ts';
import { type Pair, requireBound } from './pair.ts';
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

function add(name: string, offset: number): string {
  return op('i32.add', get(name), i32(offset));
}

/** Loops over the items in pairs; an odd last item is done in both lanes. `offsets` are the strides of the pointers. */
function eachPair(
  f: FunctionWriter,
  pointers: ReadonlyArray<readonly [pointer: string, stride: number]>,
  body: (seconds: readonly string[]) => void,
): void {
  const label = createLabel();
  f.push(
    `(block $${label}e (loop $${label} (br_if $${label}e (i32.le_s ${get('count')} (i32.const 0)))`,
  );
  const seconds = pointers.map(([pointer, stride]) => {
    const last = op('i32.eq', get('count'), i32(1));
    return f.let('i32', `(select ${get(pointer)} ${add(pointer, stride)} ${last})`);
  });
  body(seconds.map(get));
  for (const [pointer, stride] of pointers) f.push(set(pointer, add(pointer, 2 * stride)));
  f.push(set('count', add('count', -2)));
  f.push(`(br $${label})))`);
}

function writeElementwise(
  module: ModuleWriter,
  k: field.Field,
  name: string,
  operands: 1 | 2,
  compute: (f: FunctionWriter, a: Pair, b: Pair | undefined) => Pair,
): void {
  const sources = operands === 1 ? ['a'] : ['a', 'b'];
  const params = ['to', ...sources, 'count'].map((param) => [param, 'i32'] as const);
  module.func(`${k.name}_${name}`, { exported: true, params }, (f) => {
    const pointers = ['to', ...sources].map((pointer) => [pointer, field.elementBytes] as const);
    eachPair(f, pointers, ([to, a, b]) => {
      f.scope(() => {
        const first = field.load(f, k, get('a'), a);
        const second = b === undefined ? undefined : field.load(f, k, get('b'), b);
        field.store(f, k, compute(f, first, second), get('to'), to);
      });
    });
  });
}

function writeConversions(module: ModuleWriter, k: field.Field): void {
  const p = k.modulus;
  const params = ['to', 'from', 'count'].map((param) => [param, 'i32'] as const);
  const read = (name: string, factor: bigint): void => {
    module.func(`${k.name}_${name}`, { exported: true, params }, (f) => {
      const pointers = [
        ['to', field.elementBytes],
        ['from', 32],
      ] as const;
      eachPair(f, pointers, ([to, from = '']) => {
        f.scope(() => {
          const raw = field.loadBytes(f, k, get('from'), from);
          const value = field.mul(f, k, raw, field.constant(f, k, factor, true));
          requireBound('a converted value', value.value, k.tight.value);
          field.store(f, k, value, get('to'), to);
        });
      });
    });
  };
  const write = (name: string, factor: bigint): void => {
    module.func(`${k.name}_${name}`, { exported: true, params }, (f) => {
      const pointers = [
        ['to', 32],
        ['from', field.elementBytes],
      ] as const;
      eachPair(f, pointers, ([to, from]) => {
        f.scope(() => {
          const value = field.load(f, k, get('from'), from);
          const scaled = field.mul(f, k, value, field.constant(f, k, factor, true));
          field.storeBytes(f, k, scaled, get('to'), to);
        });
      });
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
  const params = [
    ['to', 'i32'],
    ['from', 'i32'],
    ['scratch', 'i32'],
  ] as const;
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
      field.storePair(f, k, field.loadPair(f, k, one), get('scratch'));
    });
    const entry = f.let('i32', get('scratch'));
    const label = createLabel();
    f.push(`(loop $${label}`);
    f.scope(() => {
      const previous = field.loadPair(f, k, get(entry));
      const product = field.mul(f, k, previous, field.loadPair(f, k, get('from')));
      f.push(set(entry, add(entry, field.pairBytes)));
      field.storePair(f, k, product, get(entry));
    });
    f.push(set(index, add(index, 1)));
    f.push(`(br_if $${label} (i32.lt_s ${get(index)} (i32.const 15))))`);
    const result = field.loadPair(f, k, one);
    f.push(set(index, i32(0)));
    const main = createLabel();
    f.push(`(loop $${main}`);
    f.scope(() => {
      let power: Pair = result;
      for (let square = 0; square < 4; square++) power = field.sqr(f, k, power);
      const digit = op('i32.load8_u', `offset=${digits}`, get(index));
      const address = f.let(
        'i32',
        op('i32.add', get('scratch'), op('i32.mul', digit, i32(field.pairBytes))),
      );
      field.assign(f, result, field.mul(f, k, power, field.loadPair(f, k, get(address))));
    });
    f.push(set(index, add(index, 1)));
    f.push(`(br_if $${main} (i32.lt_s ${get(index)} (i32.const 64))))`);
    field.storePair(f, k, result, get('to'));
  });
}

/** Inverts `count` pairs in place (Montgomery's trick, the lanes apart): zero is not allowed. */
function writeBatchInversion(module: ModuleWriter, k: field.Field): void {
  const params = ['values', 'count', 'scratch'].map((param) => [param, 'i32'] as const);
  const bytes = field.pairBytes;
  module.func(`${k.name}_invertPairs`, { exported: true, params }, (f) => {
    // scratch: 18 pairs for the single inversion, then the products of the values before each value.
    const product = f.let('i32', add('scratch', 18 * bytes));
    const end = f.let('i32', op('i32.add', get('values'), op('i32.mul', get('count'), i32(bytes))));
    const value = f.let('i32', get('values'));
    f.push(`(if (i32.eqz ${get('count')}) (then (return)))`);
    const running = field.constant(f, k, 1n);
    const loose = { ...running, ...k.stored };
    const up = createLabel();
    f.push(`(loop $${up}`);
    field.storePair(f, k, loose, get(product));
    f.scope(() => {
      field.assign(f, loose, field.mul(f, k, loose, field.loadPair(f, k, get(value))));
    });
    f.push(set(product, add(product, bytes)));
    f.push(set(value, add(value, bytes)));
    f.push(`(br_if $${up} (i32.lt_u ${get(value)} ${get(end)})))`);
    field.storePair(f, k, loose, get('scratch'));
    f.push(call(`${k.name}_invertPair`, get('scratch'), get('scratch'), add('scratch', bytes)));
    f.scope(() => {
      field.assign(f, loose, field.loadPair(f, k, get('scratch')));
    });
    const down = createLabel();
    f.push(`(loop $${down}`);
    f.push(set(value, add(value, -bytes)));
    f.push(set(product, add(product, -bytes)));
    f.scope(() => {
      const current = field.loadPair(f, k, get(value));
      const before = field.loadPair(f, k, get(product));
      field.storePair(f, k, field.mul(f, k, loose, before), get(value));
      field.assign(f, loose, field.mul(f, k, loose, current));
    });
    f.push(`(br_if $${down} (i32.gt_u ${get(value)} ${get('values')})))`);
  });
}

/** Writes every function of the field. */
export function writeFieldFunctions(module: ModuleWriter, k: field.Field): void {
  const two = (b: Pair | undefined): Pair => {
    if (b === undefined) throw new Error('this operation has two operands');
    return b;
  };
  writeElementwise(module, k, 'multiply', 2, (f, a, b) => field.mul(f, k, a, two(b)));
  writeElementwise(module, k, 'square', 1, (f, a) => field.sqr(f, k, a));
  writeElementwise(module, k, 'add', 2, (f, a, b) => field.norm(f, k, field.add(f, a, two(b))));
  writeElementwise(module, k, 'subtract', 2, (f, a, b) =>
    field.norm(f, k, field.sub(f, a, two(b))),
  );
  writeElementwise(module, k, 'negate', 1, (f, a) => field.neg(f, a));
  writeConversions(module, k);
  writeInversion(module, k);
  writeBatchInversion(module, k);
}
