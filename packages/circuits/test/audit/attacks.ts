/**
 * The values that the fuzzer substitutes for a wire. Single substitutions: small and large values, the moduli involved, values just
 * outside the wire's range, powers of two away, random. Pairs: two wires of one linear row change so that its sum stays. Whole sums:
 * the digits of the same sum plus r, where they fit.
 */

import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import { type Digits, findDigits, splitIntoDigits } from './digits.ts';
import type { Random } from './random.ts';
import type { Ranges } from './ranges.ts';
import type { Attempt } from './recompute.ts';
import {
  center,
  divide,
  evaluateForm,
  listItems,
  readLinearRow,
  readRow,
  type System,
} from './system.ts';

/** Orders of secp256k1: its base field and its group. */
const secpP = 2n ** 256n - 2n ** 32n - 977n;
const secpN = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** Order of the base point of Baby Jubjub. */
const subgroupOrder = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;
const shifts = [8n, 16n, 32n, 64n, 120n, 128n, 200n, 253n];
/** Rows of a wire that are tried for pairs, and partners in each. */
const pairRows = 6;
const pairPartners = 4;
/** A sum is tried with at most this many multiples of r. */
const maxWraps = 16n;

export type Attack = Attempt & { readonly name: 'single' | 'pair' | 'digits plus r' | 'number' };

/** A number of several wires: the sum of wire i times radix^i. Each wire holds an integer in low .. low + radix - 1. */
export type KnownNumber = {
  readonly wires: readonly number[];
  readonly radix: bigint;
  readonly low: bigint;
  /** Adding one of these might go unnoticed. */
  readonly moduli: readonly bigint[];
};

export type AttackContext = {
  readonly system: System;
  readonly ranges: Ranges;
  readonly witness: readonly bigint[];
  /** Wires that an attack may choose. */
  readonly isTarget: (wire: number) => boolean;
  readonly numbers: readonly KnownNumber[];
  readonly random: Random;
};

function listSingles({ ranges, witness, random }: AttackContext, wire: number): bigint[] {
  const value = witness[wire] ?? 0n;
  const range = ranges[wire];
  const bounds =
    range === undefined ? [] : [range.low - 1n, range.low, range.high, range.high + 1n];
  const shift = shifts[random.below(shifts.length)] ?? 1n;
  const values = [0n, 1n, 2n, -1n, -2n, value + 1n, value - 1n, 1n - value, -value, 2n * value];
  const moduli = [secpP, secpN, subgroupOrder].flatMap((one) => [one, value + one, value - one]);
  const large = [...moduli, 2n ** 256n - R, (R - 1n) / 2n];
  const far = [value + (1n << shift), value - (1n << shift), random.fieldElement()];
  const all = [...values, ...bounds, ...large, ...far].map((one) => reduce(one, R));
  return [...new Set(all)].filter((one) => one !== value);
}

/** Two wires of a linear row, changed so that the row's sum stays. */
function listPairs(context: AttackContext, wire: number): ReadonlyMap<number, bigint>[] {
  const { system, ranges, witness, isTarget, random } = context;
  const value = witness[wire] ?? 0n;
  const pairs: ReadonlyMap<number, bigint>[] = [];
  const rows = [...listItems(system.rowsOfWire, wire)];
  for (const row of rows.length > pairRows ? random.shuffle(rows).slice(0, pairRows) : rows) {
    const terms = readLinearRow(readRow(system, row))?.terms;
    const coefficient = terms?.get(wire);
    if (terms === undefined || coefficient === undefined) {
      continue;
    }
    const others = [...terms.keys()].filter((one) => one !== wire && isTarget(one));
    const unbounded = others.filter((one) => ranges[one] === undefined);
    const near = others.filter((one) => Math.abs(one - wire) === 1);
    const some = random.shuffle(others).slice(0, pairPartners);
    for (const other of new Set([...unbounded.slice(0, pairPartners), ...near, ...some])) {
      const ratio = divide(coefficient, terms.get(other) ?? 1n);
      const otherValue = witness[other] ?? 0n;
      // The wire changes by little, or the other one flips between 0 and 1.
      const flip = divide((2n * otherValue - 1n) * (terms.get(other) ?? 1n), coefficient);
      for (const change of new Set([1n, -1n, 1n - 2n * value, flip])) {
        pairs.push(
          new Map([
            [wire, reduce(value + change, R)],
            [other, reduce(otherValue - change * ratio, R)],
          ]),
        );
      }
    }
  }
  return pairs;
}

/** Other digits of the sums in which the wire is a digit: those that add up to r or 2r more. */
function listAliases(context: AttackContext, wire: number): ReadonlyMap<number, bigint>[] {
  const { system, ranges, witness, isTarget } = context;
  const aliases: ReadonlyMap<number, bigint>[] = [];
  for (const row of listItems(system.rowsOfWire, wire)) {
    const form = readLinearRow(readRow(system, row));
    if (form === undefined) {
      continue;
    }
    const terms = new Map(
      [...form.terms].filter(([one]) => isTarget(one) && ranges[one] !== undefined),
    );
    const digits: Digits | undefined = terms.size < 2 ? undefined : findDigits(terms, ranges, true);
    // The attacks on a sum do not depend on the digit: they are made once, for its first one.
    const wraps = digits !== undefined && digits.span > R && digits.span < maxWraps * R;
    if (!wraps || digits.digits[0]?.wire !== wire) {
      continue;
    }
    const target = evaluateForm({ terms, constant: 0n }, (one) => witness[one] ?? 0n);
    for (let extra = R; extra < digits.span; extra += R) {
      aliases.push(splitIntoDigits(digits, target, extra));
    }
    aliases.push(splitIntoDigits(digits, target, 0n));
  }
  return aliases;
}

/** Other values of a number, split into its wires. What does not fit is left to the highest wire. */
function listNumbers(context: AttackContext, wire: number): ReadonlyMap<number, bigint>[] {
  const { numbers, witness, random } = context;
  return numbers
    .filter(({ wires }) => wires[0] === wire)
    .flatMap(({ wires, radix, low, moduli }) => {
      const limbs = wires.map((one) => center(witness[one] ?? 0n));
      const value = limbs.reduceRight((sum, limb) => sum * radix + limb, 0n);
      const near = [value + 1n, value - 1n, 0n, 1n, -value, random.fieldElement()];
      const shifted = moduli.flatMap((modulus) => [
        value + modulus,
        value - modulus,
        value + 2n * modulus,
        modulus - value,
        modulus,
      ]);
      return [...near, ...shifted].map((number) => {
        let rest = number;
        return new Map(
          wires.map((one, index) => {
            const isLast = index === wires.length - 1;
            const digit = isLast ? rest : reduce(rest - low, radix) + low;
            rest = (rest - digit) / radix;
            return [one, reduce(digit, R)];
          }),
        );
      });
    });
}

/** @param most how many attacks at most, drawn at random. Default: all */
export function listAttacks(context: AttackContext, wire: number, most?: number): Attack[] {
  const singles = listSingles(context, wire).map((value) => new Map([[wire, value]]));
  const all: Attack[] = [
    ...singles.map((values): Attack => ({ name: 'single', values, digits: 'resplit' })),
    ...singles.map((values): Attack => ({ name: 'single', values, digits: 'keep' })),
    ...listPairs(context, wire).map((values): Attack => ({ name: 'pair', values, digits: 'keep' })),
    ...listAliases(context, wire).map(
      (values): Attack => ({ name: 'digits plus r', values, digits: 'keep' }),
    ),
  ];
  const numbers = listNumbers(context, wire);
  all.push(...numbers.map((values): Attack => ({ name: 'number', values, digits: 'keep' })));
  return most === undefined ? all : context.random.shuffle(all).slice(0, most);
}
