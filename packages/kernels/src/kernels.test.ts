import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeScalars, R, toCoefficients } from '../test/quotient-oracle.ts';
import { createKernels } from './kernels.ts';

const MiB = 1_048_576;
const size = 2048;

function input() {
  const entries = ([0, 1] as const).flatMap((matrix) =>
    Array.from({ length: size }, (_, row) => ({ matrix, row, wire: row, value: 3n })),
  );
  return { ...toCoefficients(entries), domainSize: size, wires: size };
}

/** The same entries several times: their values are added. */
function repeatEntries(times: number) {
  const good = input();
  const length = good.matrix.length * times;
  const repeat = <T extends Uint8Array | Uint32Array>(list: T, into: T): T => {
    for (let i = 0; i < times; i += 1) into.set(list, i * list.length);
    return into;
  };
  return {
    ...good,
    matrix: repeat(good.matrix, new Uint8Array(length)),
    row: repeat(good.row, new Uint32Array(length)),
    wire: repeat(good.wire, new Uint32Array(length)),
    value: repeat(good.value, new Uint32Array(length)),
  };
}
const witness = encodeScalars(Array.from({ length: size }, (_, i) => BigInt(i)));

describe('kernels', () => {
  it('describe what they run on', async () => {
    const kernels = await createKernels({ threads: 3, multiplier: 'integer' });
    expect(kernels).toMatchObject({ threads: 3, multiplier: 'integer' });
    expect(kernels.detail).toBe('WebAssembly, 3 threads, SIMD');
    await kernels.close();
  });

  it('compute several quotients at the same time', async () => {
    const kernels = await createKernels({ threads: 2 });
    const rows = await kernels.loadRows(input());
    const vector = await kernels.loadScalars(size, witness);
    const quotients = await Promise.all(
      Array.from({ length: 5 }, () => kernels.computeQuotient(rows, vector)),
    );
    const [first, ...others] = quotients.map((quotient) => kernels.readScalars(quotient));
    for (const other of others) expect(other).toEqual(first);
    await kernels.close();
  });

  it('zero secrets on release, and refuse released data', async () => {
    const kernels = await createKernels({ threads: 1 });
    const before = kernels.bytesInUse;
    const vector = await kernels.loadScalars(size, witness);
    expect(kernels.readScalars(vector)).toEqual(new Uint8Array(witness));
    vector.release();
    expect(kernels.bytesInUse).toBe(before);
    expect(() => kernels.readScalars(vector)).toThrow(
      expect.objectContaining({ code: 'input_refused' }),
    );
    await kernels.close();
  });

  it('refuse too few scalars, scalars that are not below r, and matrices that do not fit', async () => {
    const kernels = await createKernels({ threads: 1 });
    const refused = { code: 'input_refused' };
    await expect(kernels.loadScalars(2, new Uint8Array(63))).rejects.toMatchObject(refused);
    await expect(kernels.loadScalars(0, new Uint8Array(63))).rejects.toMatchObject(refused);
    for (const scalar of [R, R + 1n, R + 2n ** 64n, 2n ** 256n - 1n]) {
      const bytes = encodeScalars([1n, scalar]);
      await expect(kernels.loadScalars(2, bytes)).rejects.toMatchObject(refused);
    }
    await kernels.loadScalars(2, encodeScalars([R - 1n, 0n]));
    const good = input();
    for (const bad of [
      { ...good, domainSize: 3000 },
      { ...good, domainSize: size / 2 },
      { ...good, wires: size - 1 },
      { ...good, values: good.values.subarray(1) },
      { ...good, value: good.value.map(() => 1) },
      { ...good, row: good.row.subarray(1) },
      { ...good, matrix: good.matrix.map(() => 2) },
    ]) {
      await expect(kernels.loadRows(bad)).rejects.toMatchObject(refused);
    }
    const rows = await kernels.loadRows(good);
    const short = await kernels.loadScalars(size - 1, witness);
    await expect(kernels.computeQuotient(rows, short)).rejects.toMatchObject(refused);
    await kernels.close();
  });

  it('free all memory of an operation that is aborted or does not fit', async () => {
    const kernels = await createKernels({ threads: 2, maximumBytes: 4 * MiB });
    const rows = await kernels.loadRows(input());
    const vector = await kernels.loadScalars(size, witness);
    const before = kernels.bytesInUse;
    const controller = new AbortController();
    const reason = new Error('enough');
    const aborted = kernels.computeQuotient(rows, vector, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort(reason);
      },
    });
    await expect(aborted).rejects.toBe(reason);
    expect(kernels.bytesInUse).toBe(before);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, () => kernels.computeQuotient(rows, vector)),
    );
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toMatchObject({ code: 'out_of_memory' });
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release();
    expect(kernels.bytesInUse).toBe(before);
    await kernels.close();
  });

  it('yield to the event loop while they check and sort large matrices, and can be aborted then', async () => {
    const kernels = await createKernels({ threads: 1 });
    const large = repeatEntries(400);
    const { length } = large.wire;
    const controller = new AbortController();
    const reason = new Error('enough');
    let turns = 0;
    const onTurn = () => {
      turns += 1;
      if (turns === 2) controller.abort(reason);
      else setImmediate(onTurn);
    };
    setImmediate(onTurn);
    // The last entry is wrong. Only a check that ended early does not find it.
    large.wire[length - 1] = size;
    await expect(kernels.loadRows(large, { signal: controller.signal })).rejects.toBe(reason);
    await expect(kernels.loadRows(large)).rejects.toMatchObject({ code: 'input_refused' });
    await kernels.close();
  });

  it('keep the same size over many operations', async () => {
    const kernels = await createKernels({ threads: 2, maximumBytes: 8 * MiB });
    const rows = await kernels.loadRows(input());
    const before = kernels.bytesInUse;
    for (let round = 0; round < 200; round += 1) {
      const vector = await kernels.loadScalars(size, witness);
      const quotient = await kernels.computeQuotient(rows, vector);
      vector.release();
      quotient.release();
    }
    expect(kernels.bytesInUse).toBe(before);
    await kernels.close();
  });

  it('fail running operations on close', async () => {
    const kernels = await createKernels({ threads: 2 });
    const rows = await kernels.loadRows(input());
    const vector = await kernels.loadScalars(size, witness);
    const outcome = expect(kernels.computeQuotient(rows, vector)).rejects.toMatchObject({
      code: 'kernels_closed',
    });
    await kernels.close();
    await outcome;
    await expect(kernels.computeQuotient(rows, vector)).rejects.toMatchObject({
      code: 'kernels_closed',
    });
  });
});

describe('kernels without shared memory, as in a page that is not cross-origin isolated', () => {
  beforeEach(() => {
    vi.stubGlobal('crossOriginIsolated', false);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });
  const scalars = encodeScalars(Array.from({ length: 3000 }, (_, i) => R - BigInt(i * i)));

  it('have one thread, the calling one, give way to the event loop, and give the same bytes', async () => {
    const kernels = await createKernels({ threads: 4 });
    expect(kernels.threads).toBe(1);
    expect(kernels.detail).toMatch(/1 thread \(the page is not cross-origin isolated\)/);
    // Each load makes the memory grow, and so moves it, while the others work.
    const large = repeatEntries(100);
    const [rows] = await Promise.all([large, large].map((entries) => kernels.loadRows(entries)));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const points = await kernels.multiplyGenerator('g2', scalars);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    const vector = await kernels.loadScalars(size, witness);
    const quotient = rows && (await kernels.computeQuotient(rows, vector));
    vi.unstubAllGlobals();

    const threaded = await createKernels({ threads: 2 });
    expect(points).toEqual(await threaded.multiplyGenerator('g2', scalars));
    const other = await threaded.computeQuotient(
      await threaded.loadRows(large),
      await threaded.loadScalars(size, witness),
    );
    expect(quotient && kernels.readScalars(quotient)).toEqual(threaded.readScalars(other));
    await Promise.all([kernels.close(), threaded.close()]);
  });

  it('end with an abort or on close between two calls', async () => {
    const kernels = await createKernels();
    const reason = new Error('enough');
    const controller = new AbortController();
    const aborted = kernels.multiplyGenerator('g2', scalars, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort(reason);
      },
    });
    await expect(aborted).rejects.toBe(reason);
    const closed = expect(kernels.multiplyGenerator('g2', scalars)).rejects.toMatchObject({
      code: 'kernels_closed',
    });
    await kernels.close();
    await closed;
  });
});
