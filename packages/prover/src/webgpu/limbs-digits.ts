/**
 * Montgomery multiplication on short digits (13, 14 or 15 bits) with lazy carries: a product of two digits leaves room in 32 bits to
 * add several more before anything must be carried on, so most steps are one multiply-add.
 *
 * The generator knows the largest value that every accumulator can reach and emits a carry exactly where the next product could
 * overflow. With 13 bits there is none: 40 products of 26 bits fit.
 *
 * @module
 */
import {
  digitBounds,
  digitExpression,
  literal,
  negativeInverse,
  packExpression,
  splitConstant,
} from './limbs-pack.ts';

/**
 * unrolled: straight-line code with all steps; fast if the code fits the instruction cache.
 * loop: one digit of the left factor (or as many as need no carry) per iteration; a twentieth of the code.
 */
export type DigitShape = 'unrolled' | 'loop';

type DigitOptions = {
  readonly prefix: string;
  readonly modulus: bigint;
  /** Bits of a digit. */
  readonly width: number;
  /** Digits of a number; R = 2^(width * count). */
  readonly count: number;
  readonly shape: DigitShape;
};

const wordLimit = 1n << 32n;

/** Accumulators of columns, each with the largest value it can hold. */
class Columns {
  readonly #width: bigint;
  readonly #lines: string[];
  readonly #bounds = new Map<number, bigint>();

  constructor(width: number, lines: string[]) {
    this.#width = BigInt(width);
    this.#lines = lines;
  }

  #name(column: number): string {
    return `t${column}`;
  }

  add(column: number, expression: string, bound: bigint): void {
    const held = this.#bounds.get(column);
    if (held === undefined) {
      this.#lines.push(`var ${this.#name(column)} = ${expression};`);
      this.#bounds.set(column, bound);
      return;
    }
    let total = held + bound;
    if (total >= wordLimit) {
      this.carry(column);
      total = (this.#bounds.get(column) ?? 0n) + bound;
      if (total >= wordLimit) throw new RangeError('digits too wide for 32 bits');
    }
    this.#lines.push(`${this.#name(column)} += ${expression};`);
    this.#bounds.set(column, total);
  }

  /** Moves everything above the digit into the next column. */
  carry(column: number): void {
    const held = this.#bounds.get(column) ?? 0n;
    const mask = (1n << this.#width) - 1n;
    if (held <= mask) return;
    this.add(column + 1, `${this.#name(column)} >> ${this.#width}u`, held >> this.#width);
    this.#lines.push(`${this.#name(column)} &= ${literal(mask)};`);
    this.#bounds.set(column, mask);
  }

  /** The upper part of the column goes to the next column; the rest is zero and is dropped. */
  drop(column: number): void {
    const held = this.#bounds.get(column) ?? 0n;
    this.add(column + 1, `${this.#name(column)} >> ${this.#width}u`, held >> this.#width);
  }

  /** Names of `count` columns from `first` on, carried into proper digits. */
  finish(first: number, count: number): readonly string[] {
    for (let k = first; k < first + count - 1; k++) this.carry(k);
    return Array.from({ length: count }, (_, k) =>
      this.#bounds.has(first + k) ? this.#name(first + k) : '0u',
    );
  }
}

function generateUnrolled(options: DigitOptions, isSquare: boolean): string {
  const { prefix, modulus, width, count } = options;
  const mask = (1n << BigInt(width)) - 1n;
  const modulusDigits = splitConstant(modulus, width, count);
  const inverse = negativeInverse(modulus, width);
  const bounds = digitBounds(modulus, width, count);
  const bound = (k: number): bigint => bounds[k] ?? 0n;
  const lines: string[] = [];
  for (let k = 0; k < count; k++) {
    lines.push(`let a${k} = ${digitExpression('a', width, k)};`);
    if (!isSquare) lines.push(`let b${k} = ${digitExpression('b', width, k)};`);
  }
  const columns = new Columns(width, lines);
  for (let i = 0; i < count; i++) {
    if (isSquare) {
      columns.add(2 * i, `a${i} * a${i}`, bound(i) * bound(i));
      if (i < count - 1) lines.push(`let d${i} = a${i} << 1u;`);
      for (let j = i + 1; j < count; j++) {
        columns.add(i + j, `d${i} * a${j}`, 2n * bound(i) * bound(j));
      }
    } else {
      for (let j = 0; j < count; j++) columns.add(i + j, `a${i} * b${j}`, bound(i) * bound(j));
    }
    lines.push(`let m${i} = (t${i} * ${literal(inverse)}) & ${literal(mask)};`);
    modulusDigits.forEach((digit, j) => {
      if (digit !== 0n) columns.add(i + j, `m${i} * ${literal(digit)}`, mask * digit);
    });
    columns.drop(i);
  }
  const digits = columns.finish(count, count);
  lines.push(`return ${prefix}_reduce_once(${packExpression(digits, width)});`);
  const signature = isSquare ? `${prefix}_sqr(a: U256)` : `${prefix}_mul(a: U256, b: U256)`;
  return `fn ${signature} -> U256 {\n  ${lines.join('\n  ')}\n}\n`;
}

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

function generateLoop(options: DigitOptions): string {
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

/** WGSL of `<prefix>_mul` and `<prefix>_sqr`; needs `<prefix>_reduce_once`. */
export function generateDigitMultiplier(options: DigitOptions): string {
  return options.shape === 'loop'
    ? generateLoop(options)
    : generateUnrolled(options, false) + generateUnrolled(options, true);
}
