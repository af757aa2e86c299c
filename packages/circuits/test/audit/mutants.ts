/** Deliberately underconstrained mutants: a circuit without one row, chosen by what the row does. */
import type { R1cs } from '../../src/r1cs.ts';
import { findBooleanWire } from './ranges.ts';
import type { Symbols } from './symbols.ts';
import { createSystem, listItems, readRow, type System } from './system.ts';

/** The first row of which all of this holds. */
export type RowPattern = {
  /** It makes a wire of this name a boolean. */
  readonly boolean?: RegExp;
  /** It contains a wire of each of these names. */
  readonly contains?: readonly RegExp[];
  /** It has a product, or it has none. */
  readonly isProduct?: boolean;
};

function matches(system: System, symbols: Symbols, row: number, pattern: RowPattern): boolean {
  const names = [...listItems(system.wiresOfRow, row)].map((wire) => symbols.nameOf(wire));
  if (pattern.contains?.every((name) => names.some((one) => name.test(one))) === false) {
    return false;
  }
  const forms = readRow(system, row);
  if (pattern.boolean !== undefined) {
    const wire = findBooleanWire(forms);
    return wire !== undefined && pattern.boolean.test(symbols.nameOf(wire));
  }
  const isProduct = forms.a.terms.size > 0 && forms.b.terms.size > 0;
  return pattern.isProduct === undefined || pattern.isProduct === isProduct;
}

/** @throws Error if no row matches */
export function findRow(r1cs: R1cs, symbols: Symbols, pattern: RowPattern): number {
  const system = createSystem(r1cs);
  for (let row = 0; row < r1cs.constraints; row++) {
    if (matches(system, symbols, row, pattern)) {
      return row;
    }
  }
  throw new Error('No row of the circuit matches the pattern of the mutant.');
}
