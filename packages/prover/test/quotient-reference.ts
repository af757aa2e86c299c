/** The quotient of a proof by its definition, in BigInt, for generated circuits. */
import { invert } from '@noble/curves/abstract/modular.js';
import { encodeIntegers } from '@pool/kernels';
import { scalarFieldOrder as R } from '../src/base/field.ts';
import { checkPairs } from '../src/webgpu/field/benchmark.ts';
import { rootOfUnity } from '../src/webgpu/quotient/ntt.ts';
import type { ZkeyCoefficients } from '../src/zkey/zkey.ts';

export type Entry = { matrix: 0 | 1; row: number; wire: number; value: bigint };

/** Numbers below r that look random, the same in every run. */
export const random = checkPairs(R, 9000)
  .slice(700)
  .map(([value]) => value);

export function encodeEntries(entries: readonly Entry[]): ZkeyCoefficients {
  const distinct = [...new Set(entries.map(({ value }) => value))];
  return {
    matrix: Uint8Array.from(entries, ({ matrix }) => matrix),
    row: Uint32Array.from(entries, ({ row }) => row),
    wire: Uint32Array.from(entries, ({ wire }) => wire),
    value: Uint32Array.from(entries, ({ value }) => distinct.indexOf(value)),
    values: encodeIntegers(distinct.map((value) => (value << 512n) % R)),
  };
}

/** The polynomial through `values` on the domain, at the odd coset: Lagrange's sum, written as transforms by the definition. */
function toCoset(values: readonly bigint[]): readonly bigint[] {
  const size = values.length;
  const bits = Math.log2(size);
  const transform = (list: readonly bigint[], root: bigint): readonly bigint[] => {
    if (list.length === 1) return list;
    const halves = [0, 1].map((odd) =>
      transform(
        list.filter((_, i) => i % 2 === odd),
        (root * root) % R,
      ),
    );
    let power = 1n;
    return list.map((_, i) => {
      const at = i % (list.length / 2);
      const value = ((halves[0]?.[at] ?? 0n) + power * (halves[1]?.[at] ?? 0n)) % R;
      power = (power * root) % R;
      return value;
    });
  };
  let power = invert(BigInt(size), R);
  const coefficients = transform(values, invert(rootOfUnity(bits), R)).map((value) => {
    const scaled = (value * power) % R;
    power = (power * rootOfUnity(bits + 1)) % R;
    return scaled;
  });
  return transform(coefficients, rootOfUnity(bits));
}

export function expectQuotient(
  entries: readonly Entry[],
  witness: readonly bigint[],
  size: number,
): readonly bigint[] {
  const [a, b] = [0, 1].map((matrix) => {
    const rows = Array<bigint>(size).fill(0n);
    for (const entry of entries) {
      if (entry.matrix !== matrix) continue;
      rows[entry.row] = ((rows[entry.row] ?? 0n) + entry.value * (witness[entry.wire] ?? 0n)) % R;
    }
    return rows;
  }) as [bigint[], bigint[]];
  const [onA, onB, onC] = [a, b, a.map((value, i) => (value * (b[i] ?? 0n)) % R)].map(toCoset);
  return (onA ?? []).map((value, i) => (value * (onB?.[i] ?? 0n) + R - (onC?.[i] ?? 0n)) % R);
}

/** Circuit-like rows: few entries each, few different values, some rows empty, some with repeated wires. */
export function makeEntries(size: number, wires: number): Entry[] {
  const values = [1n, R - 1n, 2n, random[1] ?? 3n, 0n, 1n << 200n];
  return Array.from({ length: 5 * size }, (_, k) => {
    const bits = Number((random[k % random.length] ?? 0n) & 0xffff_ffff_ffffn);
    return {
      matrix: bits % 2 === 0 ? 0 : 1,
      row: Math.floor(bits / 2) % size,
      wire: Math.floor(bits / 65_536) % wires,
      value: values[Math.floor(bits / 7) % values.length] ?? 1n,
    };
  });
}
