/**
 * Deliberately underconstrained mutants: a circuit without one row, or without the rows of one check, chosen by what the rows do. The
 * tools must report more of a mutant than the committed list.
 */
import { type AcceptedList, findDifferences } from './accepted.ts';
import { type AuditedPropagation, auditUniqueness, auditWitness } from './audit.ts';
import { listRows } from './derivation.ts';
import type { Found } from './fuzz.ts';
import { findBooleanWire } from './ranges.ts';
import type { CompiledSubject } from './subject.ts';
import { listItems, readRow } from './system.ts';

/** The first row of which all of this holds, or every such row. */
export type RowPattern = {
  /** It makes a wire of this name a boolean. */
  readonly boolean?: RegExp;
  /** It contains a wire of each of these names, and none of the other names. */
  readonly contains?: readonly RegExp[];
  readonly lacks?: RegExp;
  /** It has a product, or it has none. */
  readonly isProduct?: boolean;
  readonly every?: boolean;
};

export type Finder = 'propagation' | 'fuzzer';

export type MutantFinder = {
  /** @throws Error if no row matches */
  readonly findRows: (pattern: RowPattern) => number[];
  /** The tools that find the mutant without these rows. */
  readonly findBy: (rows: readonly number[]) => Finder[];
  /** The same, but the fuzzer runs only if the propagation finds nothing. */
  readonly findFirst: (rows: readonly number[]) => Finder | undefined;
  /** What the tools report of the circuit itself beyond the list. */
  readonly listOwn: () => string[];
};

export function createMutantFinder(subject: CompiledSubject, accepted: AcceptedList): MutantFinder {
  const whole = auditUniqueness(subject);
  const listed = new Set(accepted.undetermined.map(({ wires }) => wires));

  const matches = (row: number, pattern: RowPattern): boolean => {
    const wires = [...listItems(whole.system.wiresOfRow, row)];
    const names = wires.map((wire) => subject.symbols.nameOf(wire));
    const hasAll = pattern.contains?.every((name) => names.some((one) => name.test(one))) ?? true;
    const lacks = pattern.lacks;
    if (!hasAll || (lacks !== undefined && names.some((one) => lacks.test(one)))) {
      return false;
    }
    const forms = readRow(whole.system, row);
    if (pattern.boolean !== undefined) {
      const wire = findBooleanWire(forms);
      return wire !== undefined && pattern.boolean.test(subject.symbols.nameOf(wire));
    }
    const isProduct = forms.a.terms.size > 0 && forms.b.terms.size > 0;
    return pattern.isProduct === undefined || pattern.isProduct === isProduct;
  };
  const leaveOut = (rows: readonly number[]): AuditedPropagation => {
    const computed = whole.derivations.flatMap((derivation) =>
      ['solve', 'linear'].includes(derivation.kind) &&
      listRows(derivation).some((row) => rows.includes(row))
        ? derivation.wires
        : [],
    );
    return auditUniqueness(subject, new Set(rows), computed);
  };
  const listOpenWires = ({ exposed, groups }: AuditedPropagation): string[] => [
    ...exposed,
    ...[...groups.keys()].filter((group) => !listed.has(group)),
  ];
  const listSurvivors = (propagation: AuditedPropagation, rows: readonly number[]): string[] => {
    const near = rows.flatMap((row) => [...listItems(whole.system.wiresOfRow, row)]);
    const settled = { groups: new Map(), argued: new Map(), exposed: [] };
    const compare = (hints: Found, inputs: Found): string[] =>
      findDifferences(accepted, settled, { hints, inputs }).filter(
        (difference) => !difference.includes('stale'),
      );
    const fuzzed = auditWitness(subject, propagation, {
      seed: 7,
      seconds: 0,
      atLeast: { hints: 40, inputs: 10 },
      isEnough: (hints, inputs) => compare(hints, inputs).length > 0,
      ...(rows.length === 0 ? {} : { near }),
    });
    return compare(fuzzed.hints, fuzzed.inputs);
  };
  return {
    findRows: (pattern) => {
      const found: number[] = [];
      for (let row = 0; row < subject.r1cs.constraints; row++) {
        if (matches(row, pattern)) {
          found.push(row);
          if (pattern.every !== true) {
            break;
          }
        }
      }
      if (found.length === 0) {
        throw new Error('No row of the circuit matches the pattern of the mutant.');
      }
      return found;
    },
    findBy: (rows) => {
      const propagation = leaveOut(rows);
      return [
        ...(listOpenWires(propagation).length > 0 ? (['propagation'] as const) : []),
        ...(listSurvivors(propagation, rows).length > 0 ? (['fuzzer'] as const) : []),
      ];
    },
    findFirst: (rows) => {
      const propagation = leaveOut(rows);
      if (listOpenWires(propagation).length > 0) {
        return 'propagation';
      }
      return listSurvivors(propagation, rows).length > 0 ? 'fuzzer' : undefined;
    },
    listOwn: () => [...listOpenWires(whole), ...listSurvivors(whole, [])],
  };
}
