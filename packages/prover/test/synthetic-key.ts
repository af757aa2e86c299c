/**
 * A proving key in memory whose points are known multiples of the generators and whose matrices are generated: it belongs to no circuit,
 * but its sums are known from arithmetic on the multiples alone.
 */
import type { ProofSums } from '../src/engine/engine.ts';
import type { PointSection, Zkey } from '../src/zkey/zkey.ts';
import { encodePoints, expectG1, expectG2 } from './msm-points.ts';
import { encodeEntries, expectQuotient, makeEntries } from './quotient-reference.ts';

type SyntheticOptions = {
  readonly domainSize: number;
  readonly wires: number;
  readonly publicSignals: number;
};

export type SyntheticKey = {
  readonly zkey: Zkey;
  readonly expectSums: (witness: readonly bigint[]) => ProofSums;
};

export function createSyntheticKey(options: SyntheticOptions): SyntheticKey {
  const { domainSize, wires, publicSignals } = options;
  const entries = makeEntries(domainSize, wires);
  const list = (count: number, factor: (k: number) => number): readonly number[] =>
    Array.from({ length: count }, (_, k) => factor(k));
  const factors = {
    ic: list(publicSignals + 1, (k) => k + 1),
    a: list(wires, (k) => (k % 100) + 1),
    // Many wires have infinity in B.
    b1: list(wires, (k) => (k % 3 === 0 ? 0 : (k % 90) + 2)),
    b2: list(wires, (k) => (k % 3 === 0 ? 0 : (k % 90) + 2)),
    c: list(wires - publicSignals - 1, (k) => ((k * 7) % 110) + 1),
    h: list(domainSize, (k) => ((k * 3) % 120) + 1),
  } satisfies Record<PointSection, readonly number[]>;
  const size = (section: PointSection): number => (section === 'b2' ? 128 : 64);
  const bytes = new Map<PointSection, Uint8Array>();
  for (const section of ['ic', 'a', 'b1', 'b2', 'c', 'h'] as const) {
    bytes.set(section, encodePoints(section === 'b2' ? 'g2' : 'g1', factors[section]));
  }
  const g1 = encodePoints('g1', [1]);
  const g2 = encodePoints('g2', [1]);
  return {
    zkey: {
      header: {
        wires,
        publicSignals,
        domainSize,
        coefficients: entries.length,
        alpha1: g1,
        beta1: g1,
        beta2: g2,
        gamma2: g2,
        delta1: g1,
        delta2: g2,
      },
      countPoints: (section) => factors[section].length,
      readPoints: (section, start, count, into) => {
        const all = bytes.get(section) ?? new Uint8Array(0);
        into.set(all.subarray(start * size(section), (start + count) * size(section)));
        return Promise.resolve();
      },
      readCoefficients: () => Promise.resolve(encodeEntries(entries)),
      close: () => Promise.resolve(),
    },
    expectSums: (witness) => ({
      a: expectG1(factors.a, witness),
      b1: expectG1(factors.b1, witness),
      b2: expectG2(factors.b2, witness),
      c: expectG1(
        [...factors.c, ...factors.h],
        [...witness.slice(publicSignals + 1), ...expectQuotient(entries, witness, domainSize)],
      ),
    }),
  };
}
