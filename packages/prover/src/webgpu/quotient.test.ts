/** Row products and the quotient on the device against the definition, in BigInt. */
import { afterAll, describe, expect, it } from 'vitest';
import { openTestDevice } from '../../test/test-device.ts';
import type { ZkeyCoefficients } from '../zkey/zkey.ts';
import { createBuffers } from './buffers.ts';
import { decodeElements, encodeElements } from './elements.ts';
import { invert, SCALAR_FIELD_MODULUS as R } from './field.ts';
import { checkPairs } from './field-check.ts';
import { findLimbLayout } from './limbs.ts';
import type { GpuContext } from './ntt.ts';
import { rootOfUnity } from './ntt-plan.ts';
import { createPipelines } from './pipelines.ts';
import { createQuotient } from './quotient.ts';
import { planRows, SEGMENT_TERMS } from './rows-plan.ts';

type Entry = { matrix: 0 | 1; row: number; wire: number; value: bigint };

const random = checkPairs(R, 9000)
  .slice(700)
  .map(([value]) => value);

const encode = (entries: readonly Entry[]): ZkeyCoefficients => {
  const distinct = [...new Set(entries.map(({ value }) => value))];
  return {
    matrix: Uint8Array.from(entries, ({ matrix }) => matrix),
    row: Uint32Array.from(entries, ({ row }) => row),
    wire: Uint32Array.from(entries, ({ wire }) => wire),
    value: Uint32Array.from(entries, ({ value }) => distinct.indexOf(value)),
    values: encodeElements(distinct.map((value) => (value << 512n) % R)),
  };
};

/** The polynomial through `values` on the domain, at the odd coset: Lagrange's sum, written as transforms by the definition. */
const toCoset = (values: readonly bigint[]): readonly bigint[] => {
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
};

const expectQuotient = (
  entries: readonly Entry[],
  witness: readonly bigint[],
  size: number,
): readonly bigint[] => {
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
};

/** Circuit-like rows: few entries each, few different values, some rows empty, some with repeated wires. */
const makeEntries = (size: number, wires: number): Entry[] => {
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
};

describe('the plan of the rows', () => {
  const coefficients = (rows: readonly number[]) =>
    encode(rows.map((row) => ({ matrix: 0, row, wire: 0, value: 1n })));

  it('gives one thread no more terms than a segment has, however long a row is', () => {
    const long = Array<number>(SEGMENT_TERMS ** 2 + 1).fill(1);
    const { levels } = planRows(coefficients([...long, 0, 3]), 4, 1);
    expect(levels).toHaveLength(3);
    for (const starts of levels) {
      starts.forEach((start, i) => {
        if (i > 0) expect(start - (starts[i - 1] ?? 0)).toBeLessThanOrEqual(SEGMENT_TERMS);
      });
    }
    expect(levels.at(-1)).toHaveLength(9);
  });

  it('refuses entries that point outside', () => {
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
  afterAll(() => {
    gpu?.close();
  });

  const compute = async (
    entries: readonly Entry[],
    witness: readonly bigint[],
    domainSize: number,
    layoutName: 'digits-13-loop' | 'digits-15-loop' = 'digits-13-loop',
  ): Promise<readonly bigint[]> => {
    if (gpu === undefined) throw new Error('no device');
    const layout = findLimbLayout(layoutName);
    const buffers = createBuffers(gpu);
    const context: GpuContext = { gpu, buffers, pipelines: createPipelines(gpu), layout };
    const quotient = await createQuotient(context, {
      coefficients: encode(entries),
      domainSize,
      wires: witness.length,
    });
    expect(quotient.bytes).toBe(buffers.bytesInUse());
    buffers.write(quotient.witness, 0, encodeElements(witness));
    await gpu.guard(() => {
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      quotient.record(pass);
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
    });
    const scalars = decodeElements(await buffers.read(quotient.scalars, 0, 32 * domainSize));
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
    expect(await compute(entries, witness, size)).toEqual(expectQuotient(entries, witness, size));
  });

  it('another layout gives the same scalars', async () => {
    const entries = makeEntries(32, 20);
    const witness = random.slice(0, 20);
    expect(await compute(entries, witness, 32, 'digits-15-loop')).toEqual(
      expectQuotient(entries, witness, 32),
    );
  });

  it('one row of 2,000 terms beside empty ones; witnesses of 0, 1 and r-1', async () => {
    const entries = random
      .slice(0, 2000)
      .map((value, k): Entry => ({ matrix: k % 9 === 0 ? 1 : 0, row: 5, wire: k % 40, value }));
    for (const wire of [0n, 1n, R - 1n]) {
      const witness = Array<bigint>(40).fill(wire);
      expect(await compute(entries, witness, 8)).toEqual(expectQuotient(entries, witness, 8));
    }
  });

  it('2^13 rows', async () => {
    const size = 2 ** 13;
    const entries = makeEntries(size, 8000);
    const witness = random.slice(0, 8000);
    expect(await compute(entries, witness, size)).toEqual(expectQuotient(entries, witness, size));
  });
});
