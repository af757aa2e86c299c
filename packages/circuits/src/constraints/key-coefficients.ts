/**
 * The matrices of a proving key: the terms of A and B row by row, then one term of A for the constant and each public wire.
 *
 * @module
 */
import { encodeIntegers, scalarFieldOrder, type ZkeyCoefficients } from '@pool/kernels';
import type { R1cs } from './r1cs.ts';

/** A `.zkey` stores a coefficient times 2^512 mod r. */
const montgomerySquared = (1n << 512n) % scalarFieldOrder;

/**
 * Lists the entries in the order in which snarkjs writes them; values are numbered by their first occurrence in that order, so
 * that the compact form of a key does not depend on how it was made.
 */
export function listKeyCoefficients(r1cs: R1cs): ZkeyCoefficients {
  const entries = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.publicSignals + 1;
  const matrix = new Uint8Array(entries);
  const row = new Uint32Array(entries);
  const wire = new Uint32Array(entries);
  const value = new Uint32Array(entries);
  const numbers = new Int32Array(r1cs.coefficients.length).fill(-1);
  const values: bigint[] = [];
  const numberOf = (coefficient: number): number => {
    const known = numbers[coefficient] ?? -1;
    if (known >= 0) {
      return known;
    }
    numbers[coefficient] = values.length;
    return values.push(r1cs.coefficients[coefficient] ?? 0n) - 1;
  };
  let entry = 0;
  for (let r = 0; r < r1cs.constraints; r++) {
    for (const [number, terms] of [r1cs.a, r1cs.b].entries()) {
      const end = terms.rowStart[r + 1] ?? 0;
      for (let term = terms.rowStart[r] ?? 0; term < end; term++, entry++) {
        matrix[entry] = number;
        row[entry] = r;
        wire[entry] = terms.wire[term] ?? 0;
        value[entry] = numberOf(terms.coefficient[term] ?? 0);
      }
    }
  }
  const one = r1cs.coefficients.indexOf(1n);
  const numberOfOne = one < 0 || (numbers[one] ?? -1) < 0 ? values.push(1n) - 1 : numberOf(one);
  for (let w = 0; w <= r1cs.publicSignals; w++, entry++) {
    row[entry] = r1cs.constraints + w;
    wire[entry] = w;
    value[entry] = numberOfOne;
  }
  return {
    matrix,
    row,
    wire,
    value,
    values: encodeIntegers(values.map((own) => (own * montgomerySquared) % scalarFieldOrder)),
  };
}
