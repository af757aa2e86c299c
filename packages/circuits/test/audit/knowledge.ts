/** What the rules of the propagation know at a moment. */
import { R } from '../fund-batch.ts';
import type { Ranges } from './ranges.ts';
import { readLinearRow, readRow, type System } from './system.ts';

/** What the rules read. */
export type Knowledge = {
  readonly system: System;
  readonly ranges: Ranges;
  readonly isKnown: (wire: number) => boolean;
  /** Number of unknown wires in a row. */
  readonly countUnknown: (row: number) => number;
};

/**
 * The unknown wires of a row and their constant coefficients. `undefined` if an unknown wire is multiplied by a wire.
 */
export function readUnknowns(
  { system, isKnown }: Pick<Knowledge, 'system' | 'isKnown'>,
  row: number,
): ReadonlyMap<number, bigint> | undefined {
  const forms = readRow(system, row);
  const linear = readLinearRow(forms);
  if (linear === undefined) {
    for (const form of [forms.a, forms.b]) {
      for (const wire of form.terms.keys()) {
        if (!isKnown(wire)) {
          return undefined;
        }
      }
    }
  }
  // A row is read as A · B − C = 0 everywhere, so C counts with a minus.
  const terms =
    linear?.terms ?? new Map([...forms.c.terms].map(([wire, value]) => [wire, R - value]));
  return new Map([...terms].filter(([wire]) => !isKnown(wire)));
}
