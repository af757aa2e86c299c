/** Rules of the propagation that look at several rows with products at once: zero tests and one-hot selections. */

import { R } from '../fund-batch.ts';
import type { Derivation } from './derivation.ts';
import { type Knowledge, readUnknowns } from './knowledge.ts';
import { divide, type Form, listItems, readLinearRow, readRow } from './system.ts';

/** A name that proportional forms share, with the constant or without. */
function describe(form: Form, withConstant: boolean): string {
  const wires = [...form.terms.keys()].sort((left, right) => left - right);
  const lead = form.terms.get(wires[0] ?? 0) ?? 1n;
  const terms = wires.map((wire) => `${wire}:${divide(form.terms.get(wire) ?? 0n, lead)}`);
  return [...terms, withConstant ? divide(form.constant, lead) : ''].join(' ');
}

/** A row `factor · (coefficient · wire + …) = known` whose only unknown is `wire`. */
export type Product = {
  readonly row: number;
  readonly wire: number;
  readonly factor: Form;
  /** True for `factor · (coefficient · wire) = 0`. */
  readonly isPlain: boolean;
  /** True for `factor · (coefficient · wire) = constant`, not 0: then the factor is not 0 in any witness. */
  readonly isConstant: boolean;
};

export function readProduct(
  { system, isKnown, countUnknown }: Knowledge,
  row: number,
): Product | undefined {
  if (countUnknown(row) !== 1) {
    return undefined;
  }
  const wire = listItems(system.wiresOfRow, row).find((one) => !isKnown(one));
  const { a, b, c } = readRow(system, row);
  if (wire === undefined || c.terms.has(wire) || a.terms.has(wire) === b.terms.has(wire)) {
    return undefined;
  }
  const [factor, other] = a.terms.has(wire) ? [b, a] : [a, b];
  const isMultiple = c.terms.size === 0 && other.terms.size === 1 && other.constant === 0n;
  const isPlain = isMultiple && c.constant === 0n;
  const isConstant = isMultiple && c.constant !== 0n;
  return factor.terms.size === 0 ? undefined : { row, wire, factor, isPlain, isConstant };
}

/**
 * Zero tests: `in · out = 0` determines `out` where `in` is not zero, and `in · inverse = 1 − out` where it is. Neither determines
 * `inverse` where `in` is zero.
 */
export function findSplits(knowledge: Knowledge, rows: readonly number[]): Derivation[] {
  const { system, isKnown } = knowledge;
  const found: Derivation[] = [];
  const seen = new Set<number>();
  for (const touched of rows) {
    for (const wire of listItems(system.wiresOfRow, touched)) {
      if (isKnown(wire) || seen.has(wire)) {
        continue;
      }
      seen.add(wire);
      const all = [...listItems(system.rowsOfWire, wire)];
      const products = all.flatMap((row) => readProduct(knowledge, row) ?? []);
      const factors = new Map(products.map(({ row, factor }) => [describe(factor, true), row]));
      const whenZero =
        factors.size === 0
          ? undefined
          : all
              .map((row) => ({ row, forms: readRow(system, row) }))
              .filter(({ forms }) => forms.c.terms.has(wire))
              .filter(({ forms }) =>
                [...forms.c.terms.keys()].every((one) => one === wire || isKnown(one)),
              )
              .flatMap(({ row, forms }) =>
                [forms.a, forms.b]
                  .filter((form) => form.terms.size > 0)
                  .map((form) => ({ row, whenNonZero: factors.get(describe(form, true)) })),
              )
              .find(({ whenNonZero }) => whenNonZero !== undefined);
      if (whenZero?.whenNonZero !== undefined) {
        found.push({
          kind: 'split',
          whenNonZero: whenZero.whenNonZero,
          whenZero: whenZero.row,
          wires: [wire],
        });
      }
    }
  }
  return found;
}

/**
 * One-hot selections: `uᵢ · (e − kᵢ) = 0` with a known e and distinct constants leaves at most one uᵢ that is not zero, and a known
 * sum over them gives its value.
 */
export function findSelections(knowledge: Knowledge, rows: readonly number[]): Derivation[] {
  const groups = new Map<string, Map<number, { row: number; constant: bigint }>>();
  const groupOf = new Map<number, string>();
  const { system, isKnown } = knowledge;
  const wires = new Set(
    rows.flatMap((row) => [...listItems(system.wiresOfRow, row)].filter((wire) => !isKnown(wire))),
  );
  for (const wire of wires) {
    for (const row of listItems(system.rowsOfWire, wire)) {
      const product = readProduct(knowledge, row);
      if (product?.isPlain === true && product.wire === wire) {
        const name = describe(product.factor, false);
        const lead = Math.min(...product.factor.terms.keys());
        const constant = divide(product.factor.constant, product.factor.terms.get(lead) ?? 1n);
        const group = groups.get(name) ?? new Map<number, { row: number; constant: bigint }>();
        groups.set(name, group.set(wire, { row, constant }));
        groupOf.set(wire, name);
      }
    }
  }
  const found: Derivation[] = [];
  for (const sum of new Set(
    [...groupOf.keys()].flatMap((wire) => [...listItems(system.rowsOfWire, wire)]),
  )) {
    const terms = readUnknowns(knowledge, sum);
    const members = [...(terms?.keys() ?? [])];
    const name = groupOf.get(members[0] ?? -1);
    const group = name === undefined ? undefined : groups.get(name);
    if (members.length < 2 || members.length !== knowledge.countUnknown(sum)) {
      continue;
    }
    const places = members.flatMap((wire) => group?.get(wire) ?? []);
    const constants = new Set(places.map(({ constant }) => constant));
    if (places.length === members.length && constants.size === members.length) {
      found.push({ kind: 'select', products: places.map(({ row }) => row), sum, wires: members });
    }
  }
  return found;
}

/**
 * One-hot places: booleans that add up to 1, exactly one of which is therefore 1, and a known sum of them with distinct weights.
 */
export function findPlaces(knowledge: Knowledge, rows: readonly number[]): Derivation[] {
  const { system, ranges, isKnown } = knowledge;
  const found: Derivation[] = [];
  for (const ones of rows) {
    const form = readLinearRow(readRow(system, ones));
    const wires = [...(form?.terms.keys() ?? [])];
    const weights = new Set(form?.terms.values());
    const [weight = 0n] = weights;
    const areBooleans = wires.every(
      (wire) => !isKnown(wire) && ranges[wire]?.low === 0n && ranges[wire]?.high === 1n,
    );
    if (wires.length < 2 || weights.size !== 1 || !areBooleans || form === undefined) {
      continue;
    }
    const isOne = (form.constant + weight) % R === 0n;
    const candidates = isOne ? [...listItems(system.rowsOfWire, wires[0] ?? 0)] : [];
    for (const places of candidates) {
      const terms = readUnknowns(knowledge, places);
      const isSubset = [...(terms?.keys() ?? [])].every((wire) => form.terms.has(wire));
      // A wire that is missing from the sum has the weight 0.
      const size = new Set(terms?.values()).size;
      if (isSubset && size === terms?.size && size >= wires.length - 1) {
        found.push({ kind: 'place', ones, places, wires });
        break;
      }
    }
  }
  return found;
}
