/** Row products and the quotient on the device against the definition, in BigInt, and against the kernels of the processor. */
import { createKernels, decodeIntegers, encodeIntegers, type Kernels } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LowLimits, limitGpu } from '../../../test/limited-device.ts';
import {
  type Entry,
  encodeEntries,
  expectQuotient,
  makeEntries,
  random,
} from '../../../test/quotient-reference.ts';
import { openTestDevice } from '../../../test/test-device.ts';
import { scalarFieldOrder as R } from '../../base/field.ts';
import { createBuffers } from '../device/buffers.ts';
import { createPipelines } from '../device/pipelines.ts';
import { findLimbLayout } from '../field/limbs.ts';
import type { GpuContext } from './ntt.ts';
import { createQuotient } from './quotient.ts';
import { planRows, segmentTerms } from './quotient-rows.ts';

describe('the plan of the rows', () => {
  const coefficients = (rows: readonly number[]) =>
    encodeEntries(rows.map((row) => ({ matrix: 0, row, wire: 0, value: 1n })));

  it('gives one thread at most one segment of terms, for rows of any length', () => {
    const long = Array<number>(segmentTerms ** 2 + 1).fill(1);
    const { levels } = planRows(coefficients([...long, 0, 3]), 4, 1);
    expect(levels).toHaveLength(3);
    for (const starts of levels) {
      starts.forEach((start, i) => {
        if (i > 0) expect(start - (starts[i - 1] ?? 0)).toBeLessThanOrEqual(segmentTerms);
      });
    }
    expect(levels.at(-1)).toHaveLength(9);
  });

  it('refuses entries outside the rows and wires, and missing values', () => {
    const malformed = expect.objectContaining({ code: 'zkey_malformed' });
    expect(() => planRows(coefficients([4]), 4, 1)).toThrow(malformed);
    expect(() => planRows(coefficients([3]), 4, 0)).toThrow(malformed);
    expect(() => planRows({ ...coefficients([3]), values: new Uint8Array(0) }, 4, 1)).toThrow(
      malformed,
    );
  });
});

const gpu = await openTestDevice();

describe.skipIf(gpu === undefined)('the quotient on a graphics device', () => {
  // Shaders are compiled once for all tests: a software renderer takes seconds for each.
  const pipelines = gpu && createPipelines(gpu);
  let kernels: Kernels;
  beforeAll(async () => {
    kernels = await createKernels({ threads: 1 });
  });
  afterAll(async () => {
    await kernels.close();
    gpu?.close();
  });

  const computeByKernels = async (
    entries: readonly Entry[],
    witness: readonly bigint[],
    domainSize: number,
  ): Promise<readonly bigint[]> => {
    const wires = witness.length;
    const rows = await kernels.loadRows({ ...encodeEntries(entries), domainSize, wires });
    const scalars = await kernels.loadScalars(wires, encodeIntegers(witness));
    const quotient = await kernels.computeQuotient(rows, scalars);
    const values = decodeIntegers(kernels.readScalars(quotient));
    for (const held of [rows, scalars, quotient]) held.release();
    return values;
  };

  const compute = async (
    entries: readonly Entry[],
    witness: readonly bigint[],
    domainSize: number,
    layoutName: 'digits-13-loop' | 'digits-15-loop' = 'digits-13-loop',
    limits: LowLimits = {},
  ): Promise<readonly bigint[]> => {
    if (gpu === undefined || pipelines === undefined) throw new Error('no device');
    const layout = findLimbLayout(layoutName);
    const limited = limitGpu(gpu, limits);
    const buffers = createBuffers(limited);
    const context: GpuContext = { gpu: limited, buffers, pipelines, layout };
    const quotient = await createQuotient(context, {
      coefficients: encodeEntries(entries),
      domainSize,
      wires: witness.length,
    });
    expect(quotient.bytes).toBe(buffers.bytesInUse());
    buffers.write(quotient.witness, 0, encodeIntegers(witness));
    await gpu.guard(() => {
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      quotient.record(pass);
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
    });
    const scalars = decodeIntegers(await buffers.read(quotient.scalars, 0, 32 * domainSize));
    const encoder = gpu.device.createCommandEncoder();
    quotient.recordClear(encoder);
    gpu.device.queue.submit([encoder.finish()]);
    for (const secret of [quotient.witness, quotient.scalars]) {
      expect((await buffers.read(secret, 0, secret.size)).every((byte) => byte === 0)).toBe(true);
    }
    quotient.release();
    expect(buffers.bytesInUse()).toBe(0);
    return scalars;
  };

  it.each([1, 2, 4, 64, 512])('%i rows', async (size) => {
    const wires = Math.max(2, size - 3);
    const entries = makeEntries(size, wires);
    const witness = random.slice(0, wires);
    const onDevice = await compute(entries, witness, size);
    expect(onDevice).toEqual(expectQuotient(entries, witness, size));
    // The kernels' smallest domain has two rows.
    if (size > 1) expect(onDevice).toEqual(await computeByKernels(entries, witness, size));
  });

  it.each([
    ['all zero', () => 0n],
    ['all one', () => 1n],
    ['all r-1', () => R - 1n],
    ['powers of two', (k: number) => 1n << BigInt(k % 254)],
    ['one not zero', (k: number) => (k === 3 ? (random[0] ?? 5n) : 0n)],
    ['a value and its negative', (k: number) => (k % 2 === 0 ? 7n : R - 7n)],
  ] as const)('a witness that is %s: as on the processor, bit for bit', async (_, wire) => {
    const witness = Array.from({ length: 61 }, (_unused, k) => wire(k));
    const entries = makeEntries(64, witness.length);
    expect(await compute(entries, witness, 64)).toEqual(
      await computeByKernels(entries, witness, 64),
    );
  });

  /** Bytes of one polynomial of 512 rows: the three of them, and the matrices, exceed it. */
  const onePolynomial = { maxStorageBufferBindingSize: 32 * 512 };

  it.each([
    ['one binding holds a polynomial', onePolynomial],
    ['one buffer holds a polynomial', { maxBufferSize: 32 * 512 }],
    ['no offset that a binding ends at is aligned', { maxStorageBufferBindingSize: 32 * 512 + 36 }],
  ])('in several parts if %s: as on the processor, bit for bit', async (_, limits) => {
    const witness = random.slice(0, 500);
    const entries = makeEntries(512, witness.length);
    const onDevice = await compute(entries, witness, 512, 'digits-13-loop', limits);
    expect(onDevice).toEqual(expectQuotient(entries, witness, 512));
    expect(onDevice).toEqual(await computeByKernels(entries, witness, 512));
  });

  it('in several parts of long rows, and of values that exceed one binding', async () => {
    // Two levels of sums, each too large for a binding, and a dictionary of 1,800 values.
    const entries = random.slice(0, 1800).map(
      (value, k): Entry => ({
        matrix: k % 9 === 0 ? 1 : 0,
        row: k % 3 === 0 ? 5 : (k * 7) % 512,
        wire: k % 40,
        value,
      }),
    );
    const witness = random.slice(2000, 2040);
    const onDevice = await compute(entries, witness, 512, 'digits-13-loop', onePolynomial);
    expect(onDevice).toEqual(expectQuotient(entries, witness, 512));
  });

  it.each([
    ['a polynomial', 20, 32 * 512 - 1],
    ['the witness', 600, 32 * 512],
  ])(
    '%s above the binding limit: a specific error, and the device continues',
    async (what, wires, bytes) => {
      const witness = random.slice(0, wires);
      const limits = { maxStorageBufferBindingSize: bytes };
      await expect(
        compute(makeEntries(512, wires), witness, 512, 'digits-13-loop', limits),
      ).rejects.toMatchObject({
        code: 'accelerator_limit_exceeded',
        message: expect.stringContaining(what),
      });
      const entries = makeEntries(8, wires);
      expect(await compute(entries, witness, 8)).toEqual(expectQuotient(entries, witness, 8));
    },
  );

  it('another layout gives the same scalars', async () => {
    const entries = makeEntries(32, 20);
    const witness = random.slice(0, 20);
    expect(await compute(entries, witness, 32, 'digits-15-loop')).toEqual(
      expectQuotient(entries, witness, 32),
    );
  });

  it('one row of 2,000 terms among empty rows; witnesses of 0, 1 and r-1', async () => {
    const entries = random
      .slice(0, 2000)
      .map((value, k): Entry => ({ matrix: k % 9 === 0 ? 1 : 0, row: 5, wire: k % 40, value }));
    for (const wire of [0n, 1n, R - 1n]) {
      const witness = Array<bigint>(40).fill(wire);
      expect(await compute(entries, witness, 8)).toEqual(expectQuotient(entries, witness, 8));
    }
  });

  it('2^13 rows: by the definition, and bit for bit as on the processor', async () => {
    const size = 2 ** 13;
    const entries = makeEntries(size, 8000);
    const witness = random.slice(0, 8000);
    const onDevice = await compute(entries, witness, size);
    expect(onDevice).toEqual(expectQuotient(entries, witness, size));
    expect(onDevice).toEqual(await computeByKernels(entries, witness, size));
  }, 120_000);
});
