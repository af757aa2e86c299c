/**
 * The float multiplier, run line by line in JavaScript with a multiply-add that rounds once: no available graphics driver guarantees the
 * layout's condition, so this test runs the text itself.
 */
import { compileFunction } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { baseFieldModulus, invert, scalarFieldModulus } from './field.ts';
import { checkPairs } from './field-check.ts';
import { generateFloatMultiplier } from './limbs-floats.ts';

type Multiply = (a: readonly number[], b: readonly number[]) => readonly number[];

/** Reads the WGSL of one function as JavaScript: whole numbers wrap to 32 bits, floats round to 32 bits. */
function interpret(wgsl: string, name: string): Multiply {
  const body = new RegExp(`fn ${name}\\([^)]*\\) -> U256 \\{\\n([\\s\\S]*?)\\n\\}`).exec(wgsl)?.[1];
  if (body === undefined) throw new Error(`${name} is not there`);
  const script = body
    .replaceAll(/bitcast<f32>\((.*?)\) - 8388608\.0;/g, 'float($1) - 8388608;')
    .replaceAll('bitcast<i32>(', 'bits(')
    .replaceAll(/(0x[0-9a-f]+|\b\d+)u\b/g, '$1')
    // Columns are signed and use a signed shift; words are unsigned.
    .replaceAll(' >> ', ' >>> ')
    .replaceAll(/(t\d+) >>> /g, '$1 >> ')
    .replaceAll(/u32\((t\d+)\) \* (0x[0-9a-f]+)/g, 'Math.imul($1, $2)')
    .replaceAll(/\b[ui]32\(/g, '(')
    .replaceAll(/(t\d+) \+= (.*);/g, '$1 = ($1 + $2) | 0;')
    .replaceAll(/\+ (t\d+ >> \d+)\)/g, '+ ($1))')
    .replaceAll('let ', 'const ')
    .replaceAll('var ', 'let ')
    .replace(/return \w+\(U256\(([\s\S]*)\)\);/, 'return [$1].map((word) => word >>> 0);');
  const view = new DataView(new ArrayBuffer(4));
  const float = (bits: number): number => {
    view.setInt32(0, bits);
    return view.getFloat32(0);
  };
  const bits = (value: number): number => {
    view.setFloat32(0, value);
    return view.getInt32(0);
  };
  // The product has 48 bits and the sum fewer than 53: exact in a double, then rounded once.
  const fma = (x: number, y: number, z: number): number => Math.fround(x * y + z);
  const run = compileFunction(`'use strict';${script}`, ['a', 'b', 'float', 'bits', 'fma']) as (
    ...values: readonly unknown[]
  ) => readonly number[];
  return (a, b) => run(a, b, float, bits, fma);
}

function toWords(value: bigint): readonly number[] {
  return Array.from({ length: 8 }, (_, k) => Number((value >> BigInt(32 * k)) & 0xffffffffn));
}
function fromWords(words: readonly number[]): bigint {
  return words.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n);
}

describe.each([
  ['fq', baseFieldModulus],
  ['fr', scalarFieldModulus],
])('floats-22 over %s', (prefix, modulus) => {
  const wgsl = generateFloatMultiplier(prefix, modulus);
  const fromRadix = invert(1n << 264n, modulus);
  const pairs = checkPairs(modulus, 1500);

  it('multiplies as BigInt does, up to one subtraction of the modulus', () => {
    const multiply = interpret(wgsl, `${prefix}_mul`);
    for (const [a, b] of pairs) {
      const product = fromWords(multiply(toWords(a), toWords(b)));
      expect(product < 2n * modulus).toBe(true);
      expect(product % modulus).toBe((a * b * fromRadix) % modulus);
    }
  });

  it('squares as BigInt does', () => {
    const square = interpret(wgsl, `${prefix}_sqr`);
    for (const [a] of pairs) {
      expect(fromWords(square(toWords(a), [])) % modulus).toBe((a * a * fromRadix) % modulus);
    }
  });
});
