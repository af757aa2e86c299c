/**
 * Gaussian elimination over rows that are linear in their unknown wires: k independent rows determine k unknowns, and a combination
 * of rows may leave a sum of small wires only (digits.ts).
 */

import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import type { Derivation } from './derivation.ts';
import { findDigits } from './digits.ts';
import { type Knowledge, readUnknowns } from './knowledge.ts';
import { divide, listItems } from './system.ts';

/** Larger systems are left alone. The largest of our circuits are the products of two non-native numbers. */
const maxUnknowns = 96;
const maxRows = 256;

type Equation = { readonly terms: Map<number, bigint>; readonly rows: Map<number, bigint> };

function subtract(from: Map<number, bigint>, what: Map<number, bigint>, factor: bigint): void {
  for (const [key, value] of what) {
    const difference = reduce((from.get(key) ?? 0n) - value * factor, R);
    if (difference === 0n) {
      from.delete(key);
    } else {
      from.set(key, difference);
    }
  }
}

function multiply(map: Map<number, bigint>, factor: bigint): void {
  for (const [key, value] of map) {
    map.set(key, (value * factor) % R);
  }
}

/** Reduced row echelon form. Columns of wires without a range come first. */
function eliminate(equations: Equation[], columns: readonly number[]): Equation[] {
  const reduced: Equation[] = [];
  const left = [...equations];
  for (const column of columns) {
    const index = left.findIndex(({ terms }) => terms.has(column));
    const [pivot] = index < 0 ? [] : left.splice(index, 1);
    if (pivot === undefined) {
      continue;
    }
    const inverse = divide(1n, pivot.terms.get(column) ?? 1n);
    multiply(pivot.terms, inverse);
    multiply(pivot.rows, inverse);
    for (const other of [...left, ...reduced]) {
      const factor = other.terms.get(column);
      if (factor !== undefined) {
        subtract(other.terms, pivot.terms, factor);
        subtract(other.rows, pivot.rows, factor);
      }
    }
    reduced.push(pivot);
  }
  return reduced;
}

/** The rows that share unknown wires with `start`, directly or through other rows. */
function collect(
  knowledge: Knowledge,
  start: number,
  visited: Set<number>,
): ReadonlyMap<number, ReadonlyMap<number, bigint>> | undefined {
  const { system, isKnown, countUnknown } = knowledge;
  const collected = new Map<number, ReadonlyMap<number, bigint>>();
  const unknowns = new Set<number>();
  const queue = [start];
  for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
    if (visited.has(row)) {
      continue;
    }
    visited.add(row);
    const terms = countUnknown(row) > maxUnknowns ? undefined : readUnknowns(knowledge, row);
    if (terms === undefined || terms.size === 0) {
      continue;
    }
    collected.set(row, terms);
    for (const wire of terms.keys()) {
      unknowns.add(wire);
      for (const next of listItems(system.rowsOfWire, wire)) {
        if (!visited.has(next) && !isKnown(wire)) {
          queue.push(next);
        }
      }
    }
    if (collected.size > maxRows) {
      return undefined;
    }
  }
  return collected.size < 2 || unknowns.size > maxUnknowns * 4 ? undefined : collected;
}

export function findLinearSolutions(knowledge: Knowledge, rows: readonly number[]): Derivation[] {
  const { ranges } = knowledge;
  const visited = new Set<number>();
  const found: Derivation[] = [];
  for (const start of rows) {
    const system = visited.has(start) ? undefined : collect(knowledge, start, visited);
    if (system === undefined) {
      continue;
    }
    const equations = [...system].map(
      ([row, terms]): Equation => ({ terms: new Map(terms), rows: new Map([[row, 1n]]) }),
    );
    const unknown = new Set([...system.values()].flatMap((terms) => [...terms.keys()]));
    const wide = [...unknown].filter((wire) => ranges[wire] === undefined);
    const small = [...unknown].filter((wire) => ranges[wire] !== undefined);
    for (const { terms, rows: combined } of eliminate(equations, [...wide, ...small])) {
      const wires = [...terms.keys()];
      const digits = terms.size === 1 ? undefined : findDigits(terms, ranges);
      if (terms.size === 1 || digits !== undefined) {
        const combination = { rows: combined, unknown };
        found.push({ kind: terms.size === 1 ? 'linear' : 'digits', combination, digits, wires });
      }
    }
  }
  return found;
}
