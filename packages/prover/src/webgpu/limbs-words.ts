/**
 * Montgomery multiplication word by word (CIOS; Koç, Acar and Kaliski 1996), on sixteen 16-bit words with a carry after every product,
 * or on eight 32-bit words whose products are put together from four 16-bit ones. Slower than short digits on chips where a 32-bit
 * multiply-add is cheap; used on the other chips.
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

/** WGSL of `<prefix>_mul` and `<prefix>_sqr` on sixteen 16-bit words; R = 2^256. */
export function generateHalfWordMultiplier(prefix: string, modulus: bigint): string {
  const limbs = splitConstant(modulus, 16, 16).map(literal);
  const inverse = literal(negativeInverse(modulus, 16));
  const indexes = limbs.map((_, k) => k);
  // 0xffff * 0xffff + 0xffff + 0xffff = 2^32 - 1: product, word and carry just fit.
  const lines = [
    ...indexes.map((k) => `let b${k} = ${digitExpression('b', 16, k)};`),
    ...indexes.map((k) => `var t${k} = 0u;`),
    'var t16 = 0u;',
    ...indexes.slice(0, 8).map((k) => `var w${k} = a[${k}];`),
    'for (var i = 0u; i < 16u; i++) {',
    'let x = w0 & 0xffffu;',
    ...indexes
      .slice(0, 8)
      .map((k) => (k < 7 ? `w${k} = (w${k} >> 16u) | (w${k + 1} << 16u);` : 'w7 = w7 >> 16u;')),
    'var s = 0u;',
    ...indexes.flatMap((k) => [`s = x * b${k} + t${k} + (s >> 16u);`, `t${k} = s & 0xffffu;`]),
    't16 += s >> 16u;',
    `let m = (t0 * ${inverse}) & 0xffffu;`,
    `s = m * ${limbs[0] ?? '0u'} + t0;`,
    ...indexes
      .slice(1)
      .flatMap((k) => [
        `s = m * ${limbs[k] ?? '0u'} + t${k} + (s >> 16u);`,
        `t${k - 1} = s & 0xffffu;`,
      ]),
    's = t16 + (s >> 16u);',
    't15 = s & 0xffffu;',
    't16 = s >> 16u;',
    '}',
    `return ${prefix}_reduce_once(${packExpression(
      indexes.map((k) => `t${k}`),
      16,
    )});`,
  ];
  return `fn ${prefix}_mul(a: U256, b: U256) -> U256 {\n  ${lines.join('\n  ')}\n}
fn ${prefix}_sqr(a: U256) -> U256 {\n  return ${prefix}_mul(a, a);\n}\n`;
}

/** WGSL of `<prefix>_mul` and `<prefix>_sqr` on eight 32-bit words; R = 2^256. */
export function generateWordMultiplier(prefix: string, modulus: bigint): string {
  const limbs = splitConstant(modulus, 32, 8).map(literal);
  const inverse = literal(negativeInverse(modulus, 32));
  const indexes = limbs.map((_, k) => k);
  // x * y + t + c fits 64 bits; returned as (low, high).
  const multiplyAdd = `fn ${prefix}_mad(x: u32, y: u32, t: u32, c: u32) -> vec2<u32> {
  let x0 = x & 0xffffu;
  let x1 = x >> 16u;
  let y0 = y & 0xffffu;
  let y1 = y >> 16u;
  let p = x0 * y0;
  let q = x1 * y0 + (p >> 16u);
  let r = x0 * y1 + (q & 0xffffu);
  var high = x1 * y1 + (q >> 16u) + (r >> 16u);
  var low = x * y + t;
  high += select(0u, 1u, low < t);
  low += c;
  high += select(0u, 1u, low < c);
  return vec2<u32>(low, high);
}
`;
  const lines = [
    ...indexes.map((k) => `var t${k} = 0u;`),
    ...indexes.map((k) => `var w${k} = a[${k}];`),
    'for (var i = 0u; i < 8u; i++) {',
    'let x = w0;',
    ...indexes.slice(0, 7).map((k) => `w${k} = w${k + 1};`),
    'var s = vec2<u32>(0u, 0u);',
    ...indexes.flatMap((k) => [`s = ${prefix}_mad(x, b[${k}], t${k}, s.y);`, `t${k} = s.x;`]),
    // The accumulator stays below 2 * modulus < 2^255 after every turn, so its ninth word is the carry of this turn alone.
    'let t8 = s.y;',
    `let m = t0 * ${inverse};`,
    `s = ${prefix}_mad(m, ${limbs[0] ?? '0u'}, t0, 0u);`,
    ...indexes
      .slice(1)
      .flatMap((k) => [
        `s = ${prefix}_mad(m, ${limbs[k] ?? '0u'}, t${k}, s.y);`,
        `t${k - 1} = s.x;`,
      ]),
    't7 = t8 + s.y;',
    '}',
    `return ${prefix}_reduce_once(U256(${indexes.map((k) => `t${k}`).join(', ')}));`,
  ];
  return `${multiplyAdd}fn ${prefix}_mul(a: U256, b: U256) -> U256 {\n  ${lines.join('\n  ')}\n}
fn ${prefix}_sqr(a: U256) -> U256 {\n  return ${prefix}_mul(a, a);\n}\n`;
}
