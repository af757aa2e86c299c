/**
 * WGSL text that cuts a U256 into digits of any width and puts digits together again. Used by the multipliers.
 *
 * @module
 */

/** A WGSL literal. */
export function literal(value: bigint | number): string {
  return `0x${value.toString(16)}u`;
}

/** Digits of a constant, lowest first. */
export function splitConstant(value: bigint, width: number, count: number): readonly bigint[] {
  const mask = (1n << BigInt(width)) - 1n;
  return Array.from({ length: count }, (_, k) => (value >> BigInt(width * k)) & mask);
}

/** -1/modulus mod 2^bits; the modulus is odd. */
function negativeInverse(modulus: bigint, bits: number): bigint {
  const size = 1n << BigInt(bits);
  let inverse = 1n;
  // Newton's iteration doubles the number of correct bits.
  for (let correct = 1; correct < bits; correct *= 2) {
    inverse = (inverse * (2n - modulus * inverse)) % size;
  }
  return ((-inverse % size) + size) % size;
}

/** Expression of digit k of the U256 called `name`. */
function digitExpression(name: string, width: number, k: number): string {
  const bit = width * k;
  const word = Math.floor(bit / 32);
  const shift = bit % 32;
  if (word > 7) return '0u';
  const low = shift === 0 ? `${name}[${word}]` : `(${name}[${word}] >> ${shift}u)`;
  if (shift + width === 32) return low;
  const mask = literal((1n << BigInt(width)) - 1n);
  if (shift + width < 32 || word === 7) return `${low} & ${mask}`;
  return `(${low} | (${name}[${word + 1}] << ${32 - shift}u)) & ${mask}`;
}

/** Expression of the eight words whose digits are the given expressions, each already below 2^width. */
function packExpression(digits: readonly string[], width: number): string {
  const words = Array.from({ length: 8 }, (_, word) => {
    const parts: string[] = [];
    digits.forEach((digit, k) => {
      const shift = width * k - 32 * word;
      if (shift <= -width || shift >= 32) return;
      if (shift === 0) parts.push(digit);
      else if (shift > 0) parts.push(`(${digit} << ${shift}u)`);
      else parts.push(`(${digit} >> ${-shift}u)`);
    });
    return parts.join(' | ');
  });
  return `U256(${words.join(', ')})`;
}

// Montgomery multiplication on short digits (13 or 15 bits) with lazy carries: a product of two digits leaves room in 32 bits to add
// several more before anything must be carried on, so most steps are one multiply-add. One digit of the left factor, or as many as
// need no carry, is one turn of a loop, so that the code fits the instruction cache. With 13 bits nothing is carried inside the
// loop: 40 products of 26 bits fit.

type DigitOptions = {
  readonly prefix: string;
  readonly modulus: bigint;
  /** Bits of a digit. */
  readonly width: number;
  /** Digits of a number; R = 2^(width * count). */
  readonly count: number;
};

const wordLimit = 1n << 32n;

/** Digits of the left factor that can be taken before the accumulators must be carried. */
function countStepsBetweenCarries(
  width: number,
  count: number,
  modulusDigits: readonly bigint[],
): number {
  const mask = (1n << BigInt(width)) - 1n;
  const largest = modulusDigits.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n;
  let steps = count;
  const worst = (taken: number): bigint => {
    // The rest after a carry, two products per step, and the carry from the column below.
    const left = taken >= count ? 0n : mask + (wordLimit >> BigInt(width));
    return left + BigInt(taken) * mask * (mask + largest) + (wordLimit >> BigInt(width));
  };
  while (steps > 1 && worst(steps) >= wordLimit) steps--;
  if (worst(steps) >= wordLimit) throw new RangeError('digits too wide for 32 bits');
  return steps;
}

/** WGSL of `<prefix>_mul` and `<prefix>_sqr`; needs `<prefix>_reduce_once`. */
function generateDigitMultiplier(options: DigitOptions): string {
  const { prefix, modulus, width, count } = options;
  const mask = literal((1n << BigInt(width)) - 1n);
  const inverse = literal(negativeInverse(modulus, width));
  const modulusDigits = splitConstant(modulus, width, count).map(literal);
  const steps = countStepsBetweenCarries(width, count, splitConstant(modulus, width, count));
  const columns = Array.from({ length: count }, (_, k) => k);

  const shiftWords = columns
    .slice(0, 8)
    .map((k) =>
      k < 7
        ? `w${k} = (w${k} >> ${width}u) | (w${k + 1} << ${32 - width}u);`
        : `w7 = w7 >> ${width}u;`,
    );
  const step = [
    '{',
    `let x = w0 & ${mask};`,
    ...shiftWords,
    'let u = t0 + x * b0;',
    `let m = (u * ${inverse}) & ${mask};`,
    `t0 = t1 + x * b1 + m * ${modulusDigits[1] ?? '0u'} + ((u + m * ${modulusDigits[0] ?? '0u'}) >> ${width}u);`,
    ...columns
      .slice(2)
      .map((k) => `t${k - 1} = t${k} + x * b${k} + m * ${modulusDigits[k] ?? '0u'};`),
    '}',
  ];
  // Column count-1 is empty between two steps and takes the carry of the one below it.
  const carry = columns.slice(1).flatMap((_, k) => {
    const from = count - 2 - k;
    return [`t${from + 1} += t${from} >> ${width}u;`, `t${from} &= ${mask};`];
  });
  const clearTop = `t${count - 1} = 0u;`;
  const body = Array.from({ length: steps }, () => [...step, clearTop]).flat();
  const wholeTurns = steps >= count ? 0 : Math.floor(count / steps);
  const rest = steps >= count ? 0 : count % steps;
  const loop =
    steps >= count
      ? [`for (var i = 0u; i < ${count}u; i++) {`, ...step, '}']
      : [`for (var i = 0u; i < ${wholeTurns}u; i++) {`, ...carry, ...body, '}', ...carry];
  const tail = Array.from({ length: rest }, () => [...step, clearTop]).flat();
  const lines = [
    ...columns.map((k) => `let b${k} = ${digitExpression('b', width, k)};`),
    ...columns.slice(0, 8).map((k) => `var w${k} = a[${k}];`),
    ...columns.map((k) => `var t${k} = 0u;`),
    ...loop,
    ...tail,
    ...columns
      .slice(1)
      .flatMap((k) => [`t${k} += t${k - 1} >> ${width}u;`, `t${k - 1} &= ${mask};`]),
    `return ${prefix}_reduce_once(${packExpression(
      columns.map((k) => `t${k}`),
      width,
    )});`,
  ];
  return `fn ${prefix}_mul(a: U256, b: U256) -> U256 {\n  ${lines.join('\n  ')}\n}
fn ${prefix}_sqr(a: U256) -> U256 {\n  return ${prefix}_mul(a, a);\n}\n`;
}

// The layouts in which a device can multiply 256-bit numbers, and what each of them guarantees.
//
// WGSL has 32-bit integers only and no way to reach the upper half of a product, so how a number is cut into limbs decides the speed,
// and which cut wins depends on the chip. In memory and between functions, numbers are always eight 32-bit words; a
// multiplier divides them internally. Every layout is Montgomery multiplication with its own power of two R.

export type LimbLayoutName = 'digits-13-loop' | 'digits-15-loop';

export type LimbLayout = {
  readonly name: LimbLayoutName;
  /** R = 2^radixBits. */
  readonly radixBits: number;
  /**
   * WGSL of `<prefix>_mul(a, b)` = a b / R mod modulus and `<prefix>_sqr(a)`, on `U256` below the modulus, result below the modulus.
   * The modulus is odd and below 2^254.
   */
  readonly generate: (prefix: string, modulus: bigint) => string;
};

function digits(name: LimbLayoutName, width: number, count: number): LimbLayout {
  return {
    name,
    radixBits: width * count,
    generate: (prefix, modulus) => generateDigitMultiplier({ prefix, modulus, width, count }),
  };
}

/** In the order in which they are tried; both are correct on a device that follows the WGSL specification. */
export const limbLayouts: readonly LimbLayout[] = [
  digits('digits-13-loop', 13, 20),
  digits('digits-15-loop', 15, 17),
];

/** @throws RangeError for a name that no layout has */
export function findLimbLayout(name: LimbLayoutName): LimbLayout {
  const layout = limbLayouts.find((candidate) => candidate.name === name);
  if (layout === undefined) throw new RangeError(`no limb layout is called ${name}`);
  return layout;
}
