/**
 * Uniqueness propagation: which wires have one value only, once the inputs are fixed?
 *
 * It starts with the inputs and adds a wire when rows over known wires leave one value for it (derivation.ts). Each rule is a
 * proof, for every witness: nothing is evaluated. Wires that no rule reaches are undetermined. They are then released one by one
 * as free choices of the prover, and the derivation goes on, so that the fuzzer can recompute everything else (recompute.ts).
 */
import type { Derivation } from './derivation.ts';
import { findDigits } from './digits.ts';
import { type Knowledge, readUnknowns } from './knowledge.ts';
import { type Lemmas, noLemmas } from './lemmas.ts';
import { findLinearSolutions } from './linear-systems.ts';
import { computeRanges, type Ranges } from './ranges.ts';
import { findPlaces, findSelections, findSplits, readProduct } from './special-rules.ts';
import { listItems, type System } from './system.ts';

export type Propagation = {
  readonly ranges: Ranges;
  /** In the order in which each follows from the inputs and the ones before it. */
  readonly derivations: readonly Derivation[];
  /** How many derivations there are before the first wire is released. */
  readonly released: number;
  /** Wires that the inputs do not determine, ascending. */
  readonly undetermined: readonly number[];
};

/**
 * @param inputs wires that are fixed
 * @param preferred wires to release first when nothing else follows: the hints of the sources
 * @param first wires to release before those: what a mutant no longer computes
 */
export function propagate(
  system: System,
  inputs: Iterable<number>,
  preferred: readonly number[] = [],
  lemmas: Lemmas = noLemmas,
  first: readonly number[] = [],
): Propagation {
  const { constraints, wires } = system.r1cs;
  const ranges = computeRanges(system);
  const known = new Uint8Array(wires);
  const unknown = new Int32Array(constraints);
  /** Unknown wires without a range, by row. */
  const wide = new Int32Array(constraints);
  for (let row = 0; row < constraints; row++) {
    for (const wire of listItems(system.wiresOfRow, row)) {
      unknown[row] = (unknown[row] ?? 0) + 1;
      wide[row] = (wide[row] ?? 0) + (ranges[wire] === undefined ? 1 : 0);
    }
  }
  const single: number[] = [];
  const narrow: number[] = [];
  const touched = new Set<number>();
  const inspect = (row: number): void => {
    if (unknown[row] === 1) {
      single.push(row);
    } else if ((unknown[row] ?? 0) > 1 && wide[row] === 0) {
      narrow.push(row);
    }
    if ((unknown[row] ?? 0) > 0) {
      touched.add(row);
    }
  };
  const know = (wire: number): void => {
    if (known[wire] === 1) {
      return;
    }
    known[wire] = 1;
    for (const row of listItems(system.rowsOfWire, wire)) {
      unknown[row] = (unknown[row] ?? 0) - 1;
      wide[row] = (wide[row] ?? 0) - (ranges[wire] === undefined ? 1 : 0);
      inspect(row);
    }
  };
  const knowledge: Knowledge = {
    system,
    ranges,
    isKnown: (wire) => known[wire] === 1,
    countUnknown: (row) => unknown[row] ?? 0,
  };
  const derivations: Derivation[] = [];
  const derive = (derivation: Derivation): void => {
    if (derivation.wires.every((wire) => known[wire] !== 1)) {
      derivations.push(derivation);
      derivation.wires.forEach(know);
    }
  };

  const followSingle = (row: number): void => {
    const terms = unknown[row] === 1 ? readUnknowns(knowledge, row) : undefined;
    const [wire] = terms?.keys() ?? [];
    if (wire !== undefined) {
      derive({ kind: 'solve', row, wires: [wire] });
      return;
    }
    const product = readProduct(knowledge, row);
    if (product?.isConstant === true) {
      derive({ kind: 'solve', row, wires: [product.wire] });
    } else if (product !== undefined && lemmas.quotients.has(product.wire)) {
      derive({ kind: 'argued', row, wires: [product.wire] });
    }
  };
  const followLemmas = (): boolean => {
    for (const { wires: all, given } of lemmas.consequences) {
      const open = all.filter((wire) => known[wire] !== 1);
      if (open.length > 0 && given.every((wire) => known[wire] === 1)) {
        derive({ kind: 'argued', row: undefined, wires: open });
        return true;
      }
    }
    return false;
  };
  const followNarrow = (row: number): void => {
    const isSum = (unknown[row] ?? 0) > 1 && wide[row] === 0;
    const terms = isSum ? readUnknowns(knowledge, row) : undefined;
    const digits =
      terms !== undefined && terms.size === unknown[row] ? findDigits(terms, ranges) : undefined;
    if (digits !== undefined) {
      const wires = digits.digits.map((digit) => digit.wire);
      const combination = { rows: new Map([[row, 1n]]), unknown: new Set(wires) };
      derive({ kind: 'digits', combination, digits, wires });
    }
  };
  /** Applies all rules until none applies. The cheap ones first. */
  const settle = (): void => {
    for (;;) {
      const row = single.pop();
      if (row !== undefined) {
        followSingle(row);
        continue;
      }
      const sum = narrow.pop();
      if (sum !== undefined) {
        followNarrow(sum);
        continue;
      }
      const rows = [...touched].filter((one) => (unknown[one] ?? 0) > 0);
      touched.clear();
      const found = [
        ...findSplits(knowledge, rows),
        ...findSelections(knowledge, rows),
        ...findPlaces(knowledge, rows),
        ...findLinearSolutions(knowledge, rows),
      ];
      if (found.length === 0 && !followLemmas()) {
        return;
      }
      found.forEach(derive);
    }
  };

  for (let row = 0; row < constraints; row++) {
    inspect(row);
  }
  know(0);
  for (const wire of inputs) {
    know(wire);
  }
  settle();
  const released = derivations.length;
  const undetermined: number[] = [];
  for (let wire = 1; wire < wires; wire++) {
    if (known[wire] !== 1) {
      undetermined.push(wire);
    }
  }
  // Small wires first: the last unknown of a sum is then the one without a range, and the row gives its value.
  const open = new Set(undetermined);
  const hints = preferred.filter((wire) => open.has(wire));
  const small = hints.filter((wire) => ranges[wire] !== undefined);
  const others = undetermined.filter((wire) => ranges[wire] !== undefined);
  for (const wire of [...first, ...small, ...hints, ...others, ...undetermined]) {
    if (known[wire] !== 1) {
      derive({ kind: 'free', wires: [wire] });
      settle();
    }
  }
  return { ranges, derivations, released, undetermined };
}
