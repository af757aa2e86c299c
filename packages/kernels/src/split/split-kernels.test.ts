// Kernels on workers that each have their own memory give the bytes of kernels that share one.
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createNumbers, encodeScalars, R, toCoefficients } from '../../test/quotient-oracle.ts';
import { createKernels, type Kernels, type ProvingKernels, prepareKernels } from '../kernels.ts';
import { createHost } from './host.ts';
import type { HostAnswer, HostCall } from './messages.ts';
import { createProvingKernels, createSplitKernels, divideTable } from './split-kernels.ts';

const domainSize = 2048;
const count = 3000;
const { scalar } = createNumbers(11n);
const numbers = Array.from({ length: count }, (_, i) => [scalar(), 1n, 0n, R - 1n][i % 4] ?? 0n);
const witness = encodeScalars(numbers);
const entries = ([0, 1] as const).flatMap((matrix) =>
  Array.from({ length: domainSize }, (_, row) => ({ matrix, row, wire: row, value: scalar() })),
);
const input = { ...toCoefficients(entries), domainSize, wires: count };

let shared: Kernels;
const points: Partial<Record<'g1' | 'g2', Uint8Array>> = {};
beforeAll(async () => {
  shared = await createKernels({ threads: 2 });
  for (const group of ['g1', 'g2'] as const) {
    points[group] = await shared.multiplyGenerator(group, witness);
  }
});
afterAll(() => shared.close());

async function split(threads: number): Promise<ProvingKernels> {
  const kernels = await createSplitKernels({ threads });
  onTestFinished(() => kernels.close());
  return kernels;
}

const pointBytes = { g1: 64, g2: 128 } as const;
function load(kernels: ProvingKernels, group: 'g1' | 'g2', size = count) {
  return kernels.loadPoints(group, size, async (start, some, into) => {
    const from = pointBytes[group] * start;
    into.set(points[group]?.subarray(from, from + pointBytes[group] * some) ?? []);
  });
}

/** What a prover computes: the sums of both groups, and the sum over a quotient. */
async function computeAll(kernels: ProvingKernels): Promise<readonly Uint8Array[]> {
  const vector = await kernels.loadScalars(count, witness);
  const [one, two] = [await load(kernels, 'g1'), await load(kernels, 'g2')];
  const rows = await kernels.loadRows(input);
  const few = await load(kernels, 'g1', domainSize);
  const quotient = await kernels.computeQuotient(rows, vector);
  return await Promise.all([
    kernels.computeMsm(few, quotient),
    kernels.computeMsm(few, vector, { firstScalar: count - domainSize }),
    kernels.computeMsm(one, vector),
    kernels.computeMsm(two, vector),
    kernels.computeJointMsm([
      { points: few, scalars: quotient },
      { points: await load(kernels, 'g1', 5), scalars: vector, firstScalar: 3 },
    ]),
  ]);
}

describe('the parts of a table', () => {
  it.each([1, 2, 3, 4, 5, 8, 64])('cover it once for %i workers', (workers) => {
    for (const size of [1, 2, 7, 1000, 65_537]) {
      const parts = divideTable(size, workers);
      expect(parts).toHaveLength(workers);
      let end = 0;
      for (const [start, length] of parts) {
        expect(start).toBe(end);
        expect(length).toBeGreaterThanOrEqual(0);
        end += length;
      }
      expect(end).toBe(size);
    }
  });
});

describe('kernels on workers with memories of their own', () => {
  it.each([1, 2, 3, 5])('give the same bytes on %i', async (workers) => {
    expect(await computeAll(await split(workers))).toEqual(await computeAll(shared));
  });

  it('are taken where the page is not cross-origin isolated', async () => {
    vi.stubGlobal('crossOriginIsolated', false);
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    const kernels = await createProvingKernels({ threads: 2 });
    await kernels.close();
    expect(kernels.detail).toMatch(
      /^WebAssembly, 2 workers without shared memory \(the page is not cross-origin isolated\), /,
    );
  });

  it('read and restore the images of kernels that share a memory, and the other way round', async () => {
    const kernels = await split(3);
    expect(await kernels.describeImageFormat()).toBe(await shared.describeImageFormat());
    // More than one chunk of an image, and more than one part.
    const whole = await load(kernels, 'g2');
    const same = await load(shared, 'g2');
    const rows = await kernels.loadRows(input);
    const sameRows = await shared.loadRows(input);
    for (const [mine, theirs] of [
      [whole, same],
      [rows, sameRows],
    ] as const) {
      const [image, expected] = [kernels.createImage(mine), shared.createImage(theirs)];
      expect([image.shape, image.size]).toEqual([expected.shape, expected.size]);
      const [bytes, wanted] = [new Uint8Array(image.size), new Uint8Array(image.size)];
      for (const [from, into] of [
        [image, bytes],
        [expected, wanted],
      ] as const) {
        // Ranges that no part and no chunk ends with.
        for (let at = 0; at < from.size; at += 100_003) {
          await from.read(at, into.subarray(at, at + 100_003));
        }
      }
      expect(Buffer.from(bytes).equals(wanted)).toBe(true);
    }
    const image = shared.createImage(same);
    const restored = await kernels.restoreImage(image);
    const restoredRows = await kernels.restoreImage(shared.createImage(sameRows));
    if (!('group' in restored) || 'group' in restoredRows) throw new Error('another kind');
    const vector = await kernels.loadScalars(count, witness);
    const quotient = await kernels.computeQuotient(restoredRows, vector);
    const few = await load(kernels, 'g1', domainSize);
    const sums = [
      await kernels.computeMsm(few, quotient),
      await kernels.computeMsm(restored, vector),
    ];
    const [first, , , last] = await computeAll(shared);
    expect(sums).toEqual([first, last]);
  });

  it('refuse scalars that are too few or not below r, and released data', async () => {
    const kernels = await split(2);
    const refused = { code: 'input_refused' };
    await expect(kernels.loadScalars(2, new Uint8Array(63))).rejects.toMatchObject(refused);
    const table = await load(kernels, 'g1', 4);
    const bad = await kernels.loadScalars(4, encodeScalars([1n, 2n, 3n, R]));
    await expect(kernels.computeMsm(table, bad)).rejects.toMatchObject(refused);
    const few = await kernels.loadScalars(3, encodeScalars([1n, 2n, 3n]));
    await expect(kernels.computeMsm(table, few)).rejects.toMatchObject(refused);
    await expect(load(kernels, 'g1', 0)).rejects.toMatchObject(refused);
    const mixed = [
      { points: table, scalars: bad },
      { points: await load(kernels, 'g2', 4), scalars: bad },
    ] as const;
    await expect(kernels.computeJointMsm(mixed)).rejects.toMatchObject(refused);
    few.release();
    await expect(kernels.computeMsm(await load(kernels, 'g1', 3), few)).rejects.toMatchObject(
      refused,
    );
  });

  it('report progress that ends at one, and fail with the errors of callbacks and reads', async () => {
    const kernels = await split(2);
    const table = await load(kernels, 'g1');
    const vector = await kernels.loadScalars(count, witness);
    const fractions: number[] = [];
    await kernels.computeMsm(table, vector, { onProgress: (fraction) => fractions.push(fraction) });
    expect(fractions.at(-1)).toBeCloseTo(1);
    expect(fractions.toSorted((a, b) => a - b)).toEqual(fractions);
    const broken = new Error('broken');
    const failing = () => Promise.reject(broken);
    await expect(kernels.loadPoints('g1', count, failing)).rejects.toBe(broken);
    const onProgress = () => {
      throw broken;
    };
    await expect(kernels.computeMsm(table, vector, { onProgress })).rejects.toBe(broken);
    await kernels.computeMsm(table, vector);
  });

  it('end running and waiting calls with an abort, and go on', async () => {
    const kernels = await split(2);
    const table = await load(kernels, 'g2');
    const vector = await kernels.loadScalars(count, witness);
    const controller = new AbortController();
    const reason = new Error('enough');
    const options = {
      signal: controller.signal,
      onProgress: () => {
        controller.abort(reason);
      },
    };
    const aborted = [1, 2, 3].map(() => kernels.computeMsm(table, vector, options));
    for (const sum of aborted) await expect(sum).rejects.toBe(reason);
    expect(await kernels.computeMsm(table, vector)).toEqual((await computeAll(shared))[3]);
  });

  it('wipe the scalars of a sum that was not begun', async () => {
    const kernels = await split(2);
    const table = await load(kernels, 'g1');
    const vector = await kernels.loadScalars(count, witness);
    const slice = vi.spyOn(Uint8Array.prototype, 'slice');
    onTestFinished(() => {
      slice.mockRestore();
    });
    const signal = AbortSignal.abort();
    await expect(kernels.computeMsm(table, vector, { signal })).rejects.toBe(signal.reason);
    const copies = slice.mock.results.map(({ value }) => Buffer.from(value as Uint8Array));
    expect(copies.map(({ length }) => length > 0)).toEqual([true, true]);
    expect(copies.every((copy) => copy.every((byte) => byte === 0))).toBe(true);
  });

  it('fail running and later calls on close', async () => {
    const kernels = await split(2);
    const table = await load(kernels, 'g2');
    const vector = await kernels.loadScalars(count, witness);
    const closed = { code: 'kernels_closed' };
    const running = expect(kernels.computeMsm(table, vector)).rejects.toMatchObject(closed);
    await kernels.close();
    await running;
    await expect(kernels.computeMsm(table, vector)).rejects.toMatchObject(closed);
    await expect(load(kernels, 'g1')).rejects.toMatchObject(closed);
  });

  it('fail and are lost when a worker ends', async () => {
    const workers: Worker[] = [];
    const onWorker = (worker: Worker) => workers.push(worker);
    process.on('worker', onWorker);
    const kernels = await split(2);
    process.off('worker', onWorker);
    const table = await load(kernels, 'g2');
    const vector = await kernels.loadScalars(count, witness);
    expect(kernels.isLost?.()).toBe(false);
    const died = { code: 'thread_died', retryable: true };
    const running = expect(kernels.computeMsm(table, vector)).rejects.toMatchObject(died);
    await workers[1]?.terminate();
    await running;
    expect(kernels.isLost?.()).toBe(true);
    await expect(kernels.computeMsm(table, vector)).rejects.toMatchObject(died);
  });

  it('say when a worker cannot have its memory', async () => {
    await expect(createSplitKernels({ threads: 2, maximumBytes: 1 })).rejects.toMatchObject({
      code: 'start_failed',
    });
  });
});

describe('the memory of a worker', () => {
  async function open() {
    const { module, multiplier } = await prepareKernels({}, false);
    const answers: HostAnswer[] = [];
    const waiting = new Map<number, (answer: HostAnswer) => void>();
    const host = await createHost({ module, multiplier, maximumBytes: 2 ** 28 }, (answer) => {
      answers.push(answer);
      if (answer.type === 'read') {
        const { id, start, count: some } = answer;
        const bytes = points.g1?.slice(64 * start, 64 * (start + some)) as Uint8Array<ArrayBuffer>;
        host.receive({ type: 'bytes', id, bytes });
      }
      if (answer.type === 'done' || answer.type === 'failed') waiting.get(answer.id)?.(answer);
      if (answer.type === 'closed') waiting.get(0)?.(answer);
    });
    const until = (id: number) =>
      new Promise<HostAnswer>((resolve) => {
        waiting.set(id, resolve);
      });
    const call = (id: number, request: HostCall) => {
      const answer = until(id);
      host.receive({ type: 'call', id, call: request });
      return answer;
    };
    const copy = () => new Uint8Array(host.memory.memory.buffer).slice();
    return { host, call, copy, until };
  }
  const copyOfWitness = () => new Uint8Array(witness);
  function countNew(before: Uint8Array, after: Uint8Array): number {
    return after.reduce((sum, byte, at) => sum + Number(byte !== 0 && byte !== before[at]), 0);
  }

  it('holds nothing secret after each call, and the message is wiped', async () => {
    const { host, call, copy, until } = await open();
    await call(1, { op: 'loadPoints', group: 'g1', count });
    await call(2, { op: 'loadRows', input });
    const before = copy();
    const [scalars, wires] = [copyOfWitness(), copyOfWitness()];
    expect(await call(3, { op: 'computeMsm', terms: [{ table: 1, scalars }] })).toMatchObject({
      type: 'done',
    });
    const quotient = await call(4, { op: 'computeQuotient', rows: 2, witness: wires });
    expect(quotient).toMatchObject({ type: 'done' });
    expect([...scalars, ...wires].every((byte) => byte === 0)).toBe(true);
    expect(countNew(before, copy())).toBe(0);
    const closed = until(0);
    host.receive({ type: 'close' });
    await closed;
  });

  it('is wiped when it is closed in the middle of calls', async () => {
    const { host, call, copy, until } = await open();
    await call(1, { op: 'loadPoints', group: 'g1', count });
    const before = copy();
    const [first, second] = [copyOfWitness(), copyOfWitness()];
    const messages = [first, second];
    // The message is wiped when its scalars are in the memory. The answer of the thread is read later than what runs immediately.
    const begun = new Promise<void>((resolve) => {
      const wipe = first.fill.bind(first);
      vi.spyOn(first, 'fill').mockImplementation((value, ...range) => {
        resolve();
        return wipe(value, ...range);
      });
    });
    const calls = messages.map((scalars, i) =>
      call(2 + i, { op: 'computeMsm', terms: [{ table: 1, scalars }] }),
    );
    await begun;
    await new Promise((resolve) => setImmediate(resolve));
    const closed = until(0);
    host.receive({ type: 'close' });
    await closed;
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ type: 'failed' });
    expect(messages.every((bytes) => bytes.every((byte) => byte === 0))).toBe(true);
    expect(countNew(before, copy())).toBe(0);
  });
});
