/**
 * Montgomery multiplication on twelve limbs of 22 bits in 32-bit floats: the upper and the lower half of a product of two limbs come
 * from two fused multiply-adds, exactly, and are summed as integers (the technique of Emmart, Zheng and Weems 2018 for doubles).
 *
 * Right only where `fma` rounds once and to nearest or towards zero, which WGSL does not promise: a device earns this layout by the
 * value test.
 *
 * @module
 */
import {
  digitExpression,
  literal,
  negativeInverse,
  packExpression,
  splitConstant,
} from './limbs-pack.ts';

const WIDTH = 22;
const COUNT = 12;
const MASK = literal((1 << WIDTH) - 1);
/** 2^45: a float of that size has a unit of 2^22 in its last place, so adding it rounds a product to its upper half. */
const UPPER = 2 ** 45;
/** 1.5 * 2^23: keeps the lower half, which may be negative, among floats whose last place is 1. */
const LOWER = 1.5 * 2 ** 23;

const bitsOf = (value: number): number => {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0);
};

/** Floats of whole numbers below 2^23 without a conversion, which is slow on some chips. */
const toFloat = (expression: string): string =>
  `bitcast<f32>((${expression}) | 0x4b000000u) - 8388608.0`;

const generate = (prefix: string, modulus: bigint, isSquare: boolean): string => {
  const modulusLimbs = splitConstant(modulus, WIDTH, COUNT);
  const inverse = literal(negativeInverse(modulus, WIDTH));
  const lines: string[] = [];
  const biases = new Map<number, number>();
  const addProduct = (column: number, x: string, y: string): void => {
    // The bit patterns are summed as they are; what the two constants add to them is taken off where the column starts.
    lines.push(`h = fma(${x}, ${y}, ${UPPER}.0);`);
    lines.push(`t${column + 1} += bitcast<i32>(h);`);
    lines.push(`t${column} += bitcast<i32>(fma(${x}, ${y}, ${UPPER + LOWER}.0 - h));`);
    biases.set(column + 1, (biases.get(column + 1) ?? 0) + bitsOf(UPPER));
    biases.set(column, (biases.get(column) ?? 0) + bitsOf(LOWER));
  };
  for (let i = 0; i < COUNT; i++) {
    if (isSquare) {
      addProduct(2 * i, `a${i}`, `a${i}`);
      if (i < COUNT - 1) lines.push(`let d${i} = a${i} + a${i};`);
      for (let j = i + 1; j < COUNT; j++) addProduct(i + j, `d${i}`, `a${j}`);
    } else {
      for (let j = 0; j < COUNT; j++) addProduct(i + j, `a${i}`, `b${j}`);
    }
    lines.push(`let m${i} = ${toFloat(`(u32(t${i}) * ${inverse}) & ${MASK}`)};`);
    modulusLimbs.forEach((limb, j) => {
      addProduct(i + j, `m${i}`, `${limb}.0`);
    });
    lines.push(`t${i + 1} += t${i} >> ${WIDTH}u;`);
  }
  for (let k = COUNT; k < 2 * COUNT; k++) {
    lines.push(`t${k + 1} += t${k} >> ${WIDTH}u;`, `let r${k} = u32(t${k}) & ${MASK};`);
  }
  const limbs = Array.from({ length: COUNT }, (_, k) => `r${k + COUNT}`);
  const names = isSquare ? ['a'] : ['a', 'b'];
  const head = [
    ...names.flatMap((name) =>
      limbs.map((_, k) => `let ${name}${k} = ${toFloat(digitExpression(name, WIDTH, k))};`),
    ),
    ...Array.from(
      { length: 2 * COUNT + 1 },
      (_, k) =>
        `var t${k} = i32(${literal((2 ** 32 - ((biases.get(k) ?? 0) % 2 ** 32)) % 2 ** 32)});`,
    ),
    'var h = 0.0;',
  ];
  const signature = isSquare ? `${prefix}_sqr(a: U256)` : `${prefix}_mul(a: U256, b: U256)`;
  return `fn ${signature} -> U256 {\n  ${[...head, ...lines].join('\n  ')}
  return ${prefix}_reduce_once(${packExpression(limbs, WIDTH)});\n}\n`;
};

/** WGSL of `<prefix>_mul` and `<prefix>_sqr`; R = 2^264. Needs `<prefix>_reduce_once`. */
export const generateFloatMultiplier = (prefix: string, modulus: bigint): string =>
  generate(prefix, modulus, false) + generate(prefix, modulus, true);
