import { createScanKernels, type OpenScanKernels } from '@pool/kernels';
import fc from 'fast-check';
import { poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6 } from 'poseidon-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPoseidonMany } from './scan-poseidon.ts';

const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const references = [poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6] as const;
const arities = references.map((reference, index) => ({ arity: index + 1, reference }));

describe.each(['auto', 'integer'] as const)('hashPoseidonMany, %s multiplier', (multiplier) => {
  let kernels: OpenScanKernels;
  beforeAll(async () => {
    kernels = await createScanKernels({ threads: 2, multiplier, maximumBytes: 2 ** 28 });
  });
  afterAll(() => kernels.close());

  describe.each(arities)('H_$arity', ({ arity, reference }) => {
    const expectReference = async (rows: readonly (readonly bigint[])[]) => {
      const expected = rows.map((row) => BigInt(reference([...row])));
      expect(await hashPoseidonMany(kernels, rows)).toEqual(expected);
    };
    const fill = (value: bigint): bigint[] => new Array<bigint>(arity).fill(value);

    it('hashes random inputs as poseidon-lite', async () => {
      const value = fc.bigInt({ min: 0n, max: r - 1n });
      const row = fc.array(value, { minLength: arity, maxLength: arity });
      await fc.assert(fc.asyncProperty(fc.array(row, { maxLength: 5 }), expectReference), {
        numRuns: 10,
      });
    });

    it('hashes structured inputs as poseidon-lite', async () => {
      await expectReference([
        fill(0n),
        fill(1n),
        fill(r - 1n),
        fill((r - 1n) / 2n),
        fill(2n ** 253n),
        fill(0n).with(arity - 1, 1n),
        fill(0n).map((_, index) => 2n ** BigInt(40 * index)),
      ]);
    });
  });

  it.each([1, 2, 3, 127, 128, 129, 257])('hashes %s rows', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => [BigInt(index), 5n]);
    expect(await hashPoseidonMany(kernels, rows)).toEqual(
      rows.map((row) => BigInt(poseidon2(row))),
    );
  });

  it('returns nothing for no rows', async () => {
    expect(await hashPoseidonMany(kernels, [])).toEqual([]);
  });

  it.each([
    ['rows without inputs', [[]], 'invalid_value'],
    ['seven inputs', [[1n, 2n, 3n, 4n, 5n, 6n, 7n]], 'invalid_value'],
    ['rows of several lengths', [[1n, 2n], [1n]], 'invalid_value'],
    ['an input of r', [[1n, r]], 'invalid_field_element'],
    ['a negative input', [[1n, -1n]], 'invalid_field_element'],
  ])('refuses %s', async (_, rows, code) => {
    await expect(hashPoseidonMany(kernels, rows)).rejects.toMatchObject({ code });
  });

  it('stops with the reason of its signal', async () => {
    const reason = new Error('enough');
    const hashing = hashPoseidonMany(kernels, [[1n]], { signal: AbortSignal.abort(reason) });
    await expect(hashing).rejects.toBe(reason);
  });
});
