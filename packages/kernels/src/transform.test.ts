// Transforms of every size, compared with ffjavascript (the field library of snarkjs): the quotient as snarkjs computes it.
import { curves } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNumbers,
  decodeScalars,
  type Entry,
  encodeScalars,
  multiplyRows,
  R,
  rootOfOrder,
  toCoefficients,
} from '../test/quotient-oracle.ts';
import { createKernels, type Kernels } from './kernels.ts';

/** The part of ffjavascript's field that snarkjs uses for the quotient. */
type FieldOfSnarkjs = {
  readonly w: readonly Uint8Array[];
  e(value: bigint): Uint8Array;
  toObject(element: Uint8Array): bigint;
  batchToMontgomery(bytes: Uint8Array): Promise<Uint8Array>;
  batchFromMontgomery(bytes: Uint8Array): Promise<Uint8Array>;
  batchApplyKey(bytes: Uint8Array, first: Uint8Array, factor: Uint8Array): Promise<Uint8Array>;
  fft(bytes: Uint8Array): Promise<Uint8Array>;
  ifft(bytes: Uint8Array): Promise<Uint8Array>;
};
type CurveOfSnarkjs = { readonly Fr: FieldOfSnarkjs; terminate(): Promise<void> };

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

function entriesOf(size: number): Entry[] {
  const { below } = createNumbers(BigInt(size));
  return ([0, 1] as const).flatMap((matrix) =>
    Array.from({ length: size }, (_, row) => ({
      matrix,
      row,
      wire: matrix === 0 ? row : below(size),
      value: BigInt(1 + (row % 3)),
    })),
  );
}

let curve: CurveOfSnarkjs;
beforeAll(async () => {
  curve = (await curves.getCurveFromName('bn128')) as unknown as CurveOfSnarkjs;
});
afterAll(async () => {
  await curve.terminate();
});

async function extendBySnarkjs(values: readonly bigint[]): Promise<bigint[]> {
  const { Fr } = curve;
  const coefficients = await Fr.ifft(await Fr.batchToMontgomery(encodeScalars(values)));
  const root = Fr.w[Math.log2(values.length) + 1];
  if (root === undefined) throw new RangeError('ffjavascript does not have this root');
  const shifted = await Fr.batchApplyKey(coefficients, Fr.e(1n), root);
  return decodeScalars(await Fr.batchFromMontgomery(await Fr.fft(shifted)));
}

it('the roots of unity equal those of snarkjs', () => {
  const { w, toObject } = { w: curve.Fr.w, toObject: (e: Uint8Array) => curve.Fr.toObject(e) };
  for (let k = 0; k <= 28; k += 1) {
    expect(toObject(w[k] ?? new Uint8Array())).toBe(rootOfOrder(2 ** k));
  }
});

describe.each(['float', 'integer'] as const)(
  'the quotient of snarkjs, %s multiplier',
  (multiplier) => {
    let kernels: Kernels;
    beforeAll(async () => {
      kernels = await createKernels({ threads: 2, multiplier });
    });
    afterAll(async () => {
      await kernels.close();
    });

    it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...(isFullRun ? [16] : [13])])(
      'is equal for 2^%i rows',
      async (power) => {
        const size = 2 ** power;
        const { scalar } = createNumbers(BigInt(power));
        const witness = Array.from({ length: size }, (_, i) =>
          i % 5 === 0 ? BigInt(i % 2) : i % 7 === 0 ? R - 1n : scalar(),
        );
        const entries = entriesOf(size);
        const a = multiplyRows(entries, 0, size, witness);
        const b = multiplyRows(entries, 1, size, witness);
        const c = a.map((value, i) => (value * (b[i] ?? 0n)) % R);
        const ea = await extendBySnarkjs(a);
        const eb = await extendBySnarkjs(b);
        const ec = await extendBySnarkjs(c);
        const expected = ea.map((value, i) => {
          const difference = (value * (eb[i] ?? 0n) - (ec[i] ?? 0n)) % R;
          return difference < 0n ? difference + R : difference;
        });

        const input = { ...toCoefficients(entries), domainSize: size, wires: size };
        const rows = await kernels.loadRows(input);
        const vector = await kernels.loadScalars(size, encodeScalars(witness));
        const fractions: number[] = [];
        const quotient = await kernels.computeQuotient(rows, vector, {
          onProgress: (fraction) => fractions.push(fraction),
        });
        const result = kernels.readScalars(quotient);
        for (const resident of [rows, vector, quotient]) resident.release();
        expect(Buffer.from(result).equals(encodeScalars(expected))).toBe(true);
        expect(fractions.at(-1)).toBe(1);
        expect(fractions).toEqual(fractions.toSorted((x, y) => x - y));
      },
    );
  },
);
