/**
 * Arithmetic of a prime field as WGSL text; products by P. L. Montgomery, "Modular multiplication without trial division", 1985. Elements are eight 32-bit words, lowest first, below the modulus, times R: Montgomery
 * form with the R of the limb layout that was chosen. Every function takes and returns reduced values, so equal elements have equal
 * words.
 *
 * @module
 */
import { invert } from '@noble/curves/abstract/modular.js';
import { baseFieldOrder, scalarFieldOrder } from '../../base/field.ts';
import { type LimbLayout, literal, splitConstant } from './limbs.ts';

/** Prefix of the functions: fq_mul, fr_mul. */
export type FieldName = 'fq' | 'fr';

export function fieldModulus(name: FieldName): bigint {
  return name === 'fq' ? baseFieldOrder : scalarFieldOrder;
}

/** A WGSL expression of type U256. */
function constantWords(value: bigint): string {
  return `U256(${splitConstant(value, 32, 8).map(literal).join(', ')})`;
}

/** Montgomery form of a number in a layout. */
export function toMontgomery(value: bigint, modulus: bigint, layout: LimbLayout): bigint {
  return ((((value % modulus) + modulus) % modulus) * (1n << BigInt(layout.radixBits))) % modulus;
}

/** Declarations that every shader needs, once. */
export const wordsPrelude = `alias U256 = array<u32, 8>;
fn u256_is_zero(a: U256) -> bool {
  return (a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7]) == 0u;
}
fn u256_equal(a: U256, b: U256) -> bool {
  return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]) | (a[5] ^ b[5]) | (a[6] ^ b[6]) | (a[7] ^ b[7])) == 0u;
}
fn u256_select(a: U256, b: U256, take_b: bool) -> U256 {
  return U256(select(a[0], b[0], take_b), select(a[1], b[1], take_b), select(a[2], b[2], take_b), select(a[3], b[3], take_b), select(a[4], b[4], take_b), select(a[5], b[5], take_b), select(a[6], b[6], take_b), select(a[7], b[7], take_b));
}
`;

const words = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** Lines that set s0…s7 to a + b. The sum is below 2^256. */
function sumLines(a: (k: number) => string, b: (k: number) => string): readonly string[] {
  return words.flatMap((k) =>
    k === 0
      ? [`let s0 = ${a(0)} + ${b(0)};`, `let c0 = select(0u, 1u, s0 < ${a(0)});`]
      : [
          `let p${k} = ${a(k)} + ${b(k)};`,
          `let s${k} = p${k} + c${k - 1};`,
          ...(k < 7
            ? [`let c${k} = select(0u, 1u, p${k} < ${a(k)}) | select(0u, 1u, s${k} < p${k});`]
            : []),
        ],
  );
}

/** Lines that set d0…d7 to a - b mod 2^256 and e7 to 1 if it went below zero. */
function differenceLines(a: (k: number) => string, b: (k: number) => string): readonly string[] {
  return words.flatMap((k) =>
    k === 0
      ? [`let d0 = ${a(0)} - ${b(0)};`, `let e0 = select(0u, 1u, ${a(0)} < ${b(0)});`]
      : [
          `let g${k} = ${a(k)} - ${b(k)};`,
          `let d${k} = g${k} - e${k - 1};`,
          `let e${k} = select(0u, 1u, ${a(k)} < ${b(k)}) | select(0u, 1u, g${k} < e${k - 1});`,
        ],
  );
}

function word(name: string) {
  return (k: number) => `${name}[${k}]`;
}

function func(signature: string, lines: readonly string[]): string {
  return `fn ${signature} -> U256 {\n  ${lines.join('\n  ')}\n}\n`;
}

/**
 * WGSL of a field; put wordsPrelude before it. Declares, for the prefix fq (fr likewise):
 * `fq_zero() fq_one() fq_add fq_sub fq_neg fq_dbl fq_mul fq_sqr fq_inv(a)` (0 for 0), `fq_reduce_once(a)` for a below 2 q,
 * `fq_enter(a)` plain to Montgomery form, `fq_leave(a)` back, `fq_enter_512(a)` from times 2^512, `fq_enter_256(a)` from times 2^256
 * (both as in zkey files) and `fq_leave_256(a)` back.
 */
export function generateField(name: FieldName, layout: LimbLayout): string {
  const modulus = fieldModulus(name);
  const modulusWords = splitConstant(modulus, 32, 8).map(literal);
  const limit = (k: number): string => modulusWords[k] ?? '0u';
  const radix = 1n << BigInt(layout.radixBits);
  const inverse256 = invert(1n << 256n, modulus);
  const constant = (value: bigint): string => constantWords(value % modulus);
  const chooseDifference = (other: string): string =>
    `return U256(${words.map((k) => `select(d${k}, ${other}${k}, e7 != 0u)`).join(', ')});`;
  const multiplyBy = (value: bigint): string => `return ${name}_mul(a, ${constant(value)});`;
  const exponent = splitConstant(modulus - 2n, 32, 8)
    .map(literal)
    .join(', ');
  return [
    func(`${name}_zero()`, [`return ${constantWords(0n)};`]),
    func(`${name}_one()`, [`return ${constant(radix)};`]),
    func(`${name}_reduce_once(a: U256)`, [
      ...differenceLines(word('a'), limit),
      `return U256(${words.map((k) => `select(d${k}, a[${k}], e7 != 0u)`).join(', ')});`,
    ]),
    func(`${name}_add(a: U256, b: U256)`, [
      ...sumLines(word('a'), word('b')),
      ...differenceLines((k) => `s${k}`, limit),
      chooseDifference('s'),
    ]),
    func(`${name}_dbl(a: U256)`, [
      ...words.map((k) =>
        k === 0 ? 'let s0 = a[0] << 1u;' : `let s${k} = (a[${k}] << 1u) | (a[${k - 1}] >> 31u);`,
      ),
      ...differenceLines((k) => `s${k}`, limit),
      chooseDifference('s'),
    ]),
    func(`${name}_sub(a: U256, b: U256)`, [
      ...differenceLines(word('a'), word('b')),
      'let back = 0u - e7;',
      ...sumLines(
        (k) => `d${k}`,
        (k) => `(back & ${limit(k)})`,
      ),
      `return U256(${words.map((k) => `s${k}`).join(', ')});`,
    ]),
    func(`${name}_neg(a: U256)`, [`return ${name}_sub(${name}_zero(), a);`]),
    layout.generate(name, modulus),
    func(`${name}_enter(a: U256)`, [multiplyBy(radix * radix)]),
    func(`${name}_leave(a: U256)`, [`return ${name}_mul(a, ${constantWords(1n)});`]),
    func(`${name}_enter_256(a: U256)`, [multiplyBy(radix * radix * inverse256)]),
    func(`${name}_enter_512(a: U256)`, [multiplyBy(radix * radix * inverse256 * inverse256)]),
    func(`${name}_leave_256(a: U256)`, [multiplyBy(1n << 256n)]),
    `const ${name}_exponent = array<u32, 8>(${exponent});\n`,
    // Fermat: a^(modulus - 2). The exponent is public and the same for all, so no thread waits for another.
    func(`${name}_inv(a: U256)`, [
      `var result = ${name}_one();`,
      `for (var bit = 254u; bit > 0u; bit--) {`,
      `result = ${name}_sqr(result);`,
      `if (((${name}_exponent[(bit - 1u) >> 5u] >> ((bit - 1u) & 31u)) & 1u) != 0u) {`,
      `result = ${name}_mul(result, a);`,
      '}',
      '}',
      'return result;',
    ]),
  ].join('');
}
