/** Reads constraint systems from memory, and evaluates them on a witness. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scalarFieldOrder } from '@pool/kernels';
import { type R1cs, type R1csMatrix, readR1cs } from '../src/constraints/r1cs.ts';

/** {@link readR1cs} of bytes. */
export function parseR1cs(bytes: Uint8Array): R1cs {
  const folder = mkdtempSync(join(tmpdir(), 'pool-r1cs-'));
  try {
    const path = join(folder, 'system.r1cs');
    writeFileSync(path, bytes);
    return readR1cs(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All row numbers of a system. */
function* allRows(r1cs: R1cs): Generator<number> {
  for (let row = 0; row < r1cs.constraints; row++) {
    yield row;
  }
}

/**
 * Evaluates constraints on a full witness and returns the rows that do not hold (none: the witness satisfies the system). It only
 * uses the constraints, so it also shows what another witness generator could get accepted.
 * @param rows the rows to check. Default: all
 * @throws RangeError for a witness of another length
 */
export function findBrokenConstraints(
  r1cs: R1cs,
  witness: readonly bigint[],
  rows: Iterable<number> = allRows(r1cs),
): number[] {
  if (witness.length !== r1cs.wires || witness[0] !== 1n) {
    throw new RangeError('A witness must have one value for each wire, and the first must be 1.');
  }
  const evaluate = (matrix: R1csMatrix, row: number): bigint => {
    let sum = 0n;
    const end = matrix.rowStart[row + 1] ?? 0;
    for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
      const coefficient = r1cs.coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
      sum += coefficient * (witness[matrix.wire[term] ?? 0] ?? 0n);
    }
    return sum % scalarFieldOrder;
  };
  const broken: number[] = [];
  for (const row of rows) {
    const product = evaluate(r1cs.a, row) * evaluate(r1cs.b, row);
    if ((product - evaluate(r1cs.c, row)) % scalarFieldOrder !== 0n) {
      broken.push(row);
    }
  }
  return broken;
}
