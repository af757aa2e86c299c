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

const width = 22;
const count = 12;
const mask = literal((1 << width) - 1);
/** 2^45: a float of that size has a unit of 2^22 in its last place, so adding it rounds a product to its upper half. */
const upper = 2 ** 45;
/** 1.5 * 2^23: keeps the lower half, which may be negative, among floats whose last place is 1. */
const lower = 1.5 * 2 ** 23;

function bitsOf(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0);
}

/** Floats of whole numbers below 2^23 without a conversion, which is slow on some chips. */
function toFloat(expression: string): string {
  return `bitcast<f32>((${expression}) | 0x4b000000u) - 8388608.0`;
}

function generate(prefix: string, modulus: bigint, isSquare: boolean): string {
  const modulusLimbs = splitConstant(modulus, width, count);
  const inverse = literal(negativeInverse(modulus, width));
  const lines: string[] = [];
  const biases = new Map<number, number>();
  const addProduct = (column: number, x: string, y: string): void => {
    // The bit patterns are summed as they are; the start value of the column subtracts what the two constants add.
    lines.push(`h = fma(${x}, ${y}, ${upper}.0);`);
    lines.push(`t${column + 1} += bitcast<i32>(h);`);
    lines.push(`t${column} += bitcast<i32>(fma(${x}, ${y}, ${upper + lower}.0 - h));`);
    biases.set(column + 1, (biases.get(column + 1) ?? 0) + bitsOf(upper));
    biases.set(column, (biases.get(column) ?? 0) + bitsOf(lower));
  };
  for (let i = 0; i < count; i++) {
    if (isSquare) {
      addProduct(2 * i, `a${i}`, `a${i}`);
      if (i < count - 1) lines.push(`let d${i} = a${i} + a${i};`);
      for (let j = i + 1; j < count; j++) addProduct(i + j, `d${i}`, `a${j}`);
    } else {
      for (let j = 0; j < count; j++) addProduct(i + j, `a${i}`, `b${j}`);
    }
    lines.push(`let m${i} = ${toFloat(`(u32(t${i}) * ${inverse}) & ${mask}`)};`);
    modulusLimbs.forEach((limb, j) => {
      addProduct(i + j, `m${i}`, `${limb}.0`);
    });
    lines.push(`t${i + 1} += t${i} >> ${width}u;`);
  }
  for (let k = count; k < 2 * count; k++) {
    lines.push(`t${k + 1} += t${k} >> ${width}u;`, `let r${k} = u32(t${k}) & ${mask};`);
  }
  const limbs = Array.from({ length: count }, (_, k) => `r${k + count}`);
  const names = isSquare ? ['a'] : ['a', 'b'];
  const head = [
    ...names.flatMap((name) =>
      limbs.map((_, k) => `let ${name}${k} = ${toFloat(digitExpression(name, width, k))};`),
    ),
    ...Array.from(
      { length: 2 * count + 1 },
      (_, k) =>
        `var t${k} = i32(${literal((2 ** 32 - ((biases.get(k) ?? 0) % 2 ** 32)) % 2 ** 32)});`,
    ),
    'var h = 0.0;',
  ];
  const signature = isSquare ? `${prefix}_sqr(a: U256)` : `${prefix}_mul(a: U256, b: U256)`;
  return `fn ${signature} -> U256 {\n  ${[...head, ...lines].join('\n  ')}
  return ${prefix}_reduce_once(${packExpression(limbs, width)});\n}\n`;
}

/** WGSL of `<prefix>_mul` and `<prefix>_sqr`; R = 2^264. Needs `<prefix>_reduce_once`. */
export function generateFloatMultiplier(prefix: string, modulus: bigint): string {
  return generate(prefix, modulus, false) + generate(prefix, modulus, true);
}
