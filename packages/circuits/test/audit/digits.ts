/**
 * Sums of small integers with one solution only. If Σ cᵢ·uᵢ is known, each uᵢ lies in a known range, each |cᵢ| exceeds what all
 * smaller terms can add up to, and the whole sum spans less than r, then every uᵢ is determined: they are the digits of a number
 * in a mixed radix. Binary decompositions, limbs and carries are cases of this.
 */

import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import type { Range, Ranges } from './ranges.ts';
import { center, divide } from './system.ts';

type Digit = { readonly wire: number; readonly coefficient: bigint; readonly range: Range };

export type Digits = {
  /** The sum is multiplied by it before it is read as an integer. */
  readonly factor: bigint;
  /** Ascending by absolute coefficient. */
  readonly digits: readonly Digit[];
  /** How many values the sum takes at most. */
  readonly span: bigint;
};

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** @param limit what the sum may span at most. Default: no limit */
function arrange(
  terms: ReadonlyMap<number, bigint>,
  ranges: Ranges,
  factor: bigint,
  limit?: bigint,
): Digits | undefined {
  const digits: Digit[] = [];
  let span = 1n;
  for (const [wire, residue] of terms) {
    const range = ranges[wire];
    if (range === undefined) {
      return undefined;
    }
    const coefficient = center((residue * factor) % R);
    digits.push({ wire, coefficient, range });
    span += absolute(coefficient) * (range.high - range.low);
    if (limit !== undefined && span > limit) {
      return undefined;
    }
  }
  digits.sort((left, right) => (absolute(left.coefficient) < absolute(right.coefficient) ? -1 : 1));
  let reach = 0n;
  for (const { coefficient, range } of digits) {
    if (absolute(coefficient) <= reach) {
      return undefined;
    }
    reach += absolute(coefficient) * (range.high - range.low);
  }
  return { factor, digits, span };
}

/** The scalings that can turn the coefficients into small integers: one of them is the unit. */
function* listFactors(terms: ReadonlyMap<number, bigint>): Generator<bigint> {
  yield 1n;
  for (const coefficient of new Set(terms.values())) {
    yield divide(1n, coefficient);
  }
}

/** Reads a sum as digits. `allowWrap`: also if the sum may wrap around r, so that several solutions exist. */
export function findDigits(
  terms: ReadonlyMap<number, bigint>,
  ranges: Ranges,
  allowWrap = false,
): Digits | undefined {
  for (const wire of terms.keys()) {
    if (ranges[wire] === undefined) {
      return undefined;
    }
  }
  for (const factor of listFactors(terms)) {
    const digits = arrange(terms, ranges, factor, allowWrap ? undefined : R);
    if (digits !== undefined) {
      return digits;
    }
  }
  return undefined;
}

/**
 * The values of the wires for which the sum is `target`. A target outside the span gives values whose sum differs.
 * @param extra added to the integer before it is split: a multiple of r asks for another solution
 */
export function splitIntoDigits(
  { factor, digits }: Digits,
  target: bigint,
  extra = 0n,
): Map<number, bigint> {
  let offset = 0n;
  for (const { coefficient, range } of digits) {
    offset += coefficient * (coefficient > 0n ? range.low : range.high);
  }
  let rest = reduce(target * factor - offset, R) + extra;
  const values = new Map<number, bigint>();
  for (const { wire, coefficient, range } of [...digits].reverse()) {
    const size = absolute(coefficient);
    const width = range.high - range.low;
    let digit = rest / size;
    if (digit > width) {
      digit = width;
    }
    rest -= digit * size;
    values.set(wire, reduce(coefficient > 0n ? range.low + digit : range.high - digit, R));
  }
  return values;
}
