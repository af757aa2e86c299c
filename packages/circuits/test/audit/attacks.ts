/**
 * The values that the fuzzer substitutes for a wire. Single substitutions: small and large values, the moduli involved, values just
 * outside the wire's range, powers of two away, random. Pairs: two wires of one linear row change so that its sum stays. Whole sums:
 * the digits of the same sum plus r, where they fit.
 */
import { reduce } from '../../src/modular.ts';
import { R } from '../fund-batch.ts';
import { type Digits, findDigits, splitIntoDigits } from './digits.ts';
import type { Random } from './random.ts';
import type { Ranges } from './ranges.ts';
import type { Attempt } from './recompute.ts';
import { divide, evaluateForm, listItems, readLinearRow, readRow, type System } from './system.ts';

/** Orders of secp256k1: its base field and its group. */
const secpP = 2n ** 256n - 2n ** 32n - 977n;
const secpN = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const shifts = [8n, 16n, 32n, 64n, 120n, 128n, 200n, 253n];
/** Rows of a wire that are tried for pairs, and partners in each. */
const pairRows = 6;
const pairPartners = 4;

export type Attack = Attempt & { readonly name: 'single' | 'pair' | 'digits plus r' };

export type AttackContext = {
  readonly system: System;
  readonly ranges: Ranges;
  readonly witness: readonly bigint[];
  /** Wires that an attack may choose. */
  readonly isTarget: (wire: number) => boolean;
  readonly random: Random;
};

function listSingles({ ranges, witness, random }: AttackContext, wire: number): bigint[] {
  const value = witness[wire] ?? 0n;
  const range = ranges[wire];
  const bounds =
    range === undefined ? [] : [range.low - 1n, range.low, range.high, range.high + 1n];
  const shift = shifts[random.below(shifts.length)] ?? 1n;
  const values = [0n, 1n, 2n, -1n, -2n, value + 1n, value - 1n, 1n - value, -value, 2n * value];
  const large = [secpP, secpN, value + secpP, value - secpP, 2n ** 256n - R, (R - 1n) / 2n];
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
    if (digits === undefined || digits.span <= R || digits.digits[0]?.wire !== wire) {
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
  return most === undefined ? all : context.random.shuffle(all).slice(0, most);
}
