// Inspects the whole memory: the values that an operation computed from a secret are gone when it ends, also if it fails.
import { bn254 } from '@noble/curves/bn254.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createNumbers, encodeScalars, toCoefficients } from '../test/quotient-oracle.ts';
import { multiplyGenerator } from './curve/fixed-base.ts';
import { computeMsm } from './curve/msm.ts';
import { multiplyPoints } from './curve/multiples.ts';
import { loadPoints } from './curve/points.ts';
import { createKernels } from './kernels.ts';
import { createKernelMemory } from './runtime/memory.ts';
import type { Runtime, TaskOptions } from './runtime/runtime.ts';
import { createThreads } from './runtime/threads.ts';
import { compileKernels, provingSet } from './runtime/wasm-module.ts';
import { createDomain } from './scalars/domain.ts';
import { computeQuotient } from './scalars/quotient.ts';
import { loadRows } from './scalars/rows.ts';
import { loadScalars } from './scalars/scalars.ts';

const count = 3000;
const reservedBytes = 65_536;
const groups = ['g1', 'g2'] as const;

const { scalar } = createNumbers(8n);
const secrets = encodeScalars(Array.from({ length: count }, scalar));

const started: Runtime[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ threads }) => threads.close()));
});

async function createRuntime(): Promise<Runtime> {
  const memory = createKernelMemory(reservedBytes, 2 ** 28);
  const module = await compileKernels(provingSet, 'integer');
  const threads = await createThreads(2, { module, memory: memory.memory });
  const runtime: Runtime = { memory, threads, multiplier: 'integer' };
  started.push(runtime);
  return runtime;
}

type Operation = (runtime: Runtime, options: TaskOptions) => Promise<unknown>;
/** Loads the public data and returns the operation on a secret. */
type Preparation = (runtime: Runtime) => Promise<Operation>;

async function withScalars<T>(
  runtime: Runtime,
  use: (vector: ReturnType<typeof loadScalars>) => Promise<T>,
): Promise<T> {
  const vector = loadScalars(runtime, count, secrets);
  try {
    return await use(vector);
  } finally {
    vector.release();
  }
}

const { x, y } = bn254.G1.Point.BASE.toAffine();
const radix = (1n << 256n) % bn254.fields.Fp.ORDER;
const base = encodeScalars([x, y].map((value) => (value * radix) % bn254.fields.Fp.ORDER));

const operations: Record<string, Preparation> = {
  'a sum in g1': async (runtime) => {
    const points = await loadPoints(runtime, 'g1', count, (_start, count, into) => {
      for (let i = 0; i < count; i += 1) into.set(base, 64 * i);
      return Promise.resolve();
    });
    return (_runtime, options) =>
      withScalars(runtime, (vector) => computeMsm(runtime, points, vector, options));
  },
  'a sum in g2': async (runtime) => {
    const generator = await multiplyGenerator(runtime, 'g2', encodeScalars([1n]));
    const points = await loadPoints(runtime, 'g2', count, (_start, count, into) => {
      for (let i = 0; i < count; i += 1) into.set(generator, 128 * i);
      return Promise.resolve();
    });
    return (_runtime, options) =>
      withScalars(runtime, (vector) => computeMsm(runtime, points, vector, options));
  },
  'a quotient': async (runtime) => {
    const entries = ([0, 1] as const).flatMap((matrix) =>
      Array.from({ length: count }, (_, i) => ({ matrix, row: i, wire: i, value: 7n })),
    );
    const input = { ...toCoefficients(entries), domainSize: 4096, wires: count };
    const rows = await loadRows(runtime, input, undefined);
    const { domain } = await createDomain(runtime, 12);
    return (_runtime, options) =>
      withScalars(runtime, async (vector) => {
        const quotient = await computeQuotient(runtime, domain, rows, vector, options);
        quotient.release();
      });
  },
  ...Object.fromEntries(
    groups.map((group): [string, Preparation] => [
      `multiples of the generator of ${group}`,
      async (runtime) => {
        await multiplyGenerator(runtime, group, encodeScalars([1n]));
        return (_runtime, options) => multiplyGenerator(runtime, group, secrets, options);
      },
    ]),
  ),
  'multiples of points': async (runtime) => {
    const points = new Uint8Array(64 * count);
    for (let i = 0; i < count; i += 1) points.set(base, 64 * i);
    // The points themselves are public and stay in memory.
    await multiplyPoints(runtime, 'g1', points, encodeScalars([0n]));
    return (_runtime, options) => multiplyPoints(runtime, 'g1', points, secrets, options);
  },
};

function copyMemory({ memory }: Runtime): Uint8Array {
  return new Uint8Array(memory.memory.buffer).slice();
}

/** Addresses of bytes that are neither zero nor unchanged. Public data may be overwritten by zeros; nothing else may be new. */
function listNew({ memory }: Runtime, before: Uint8Array): number[] {
  const bytes = new Uint8Array(memory.memory.buffer);
  const found: number[] = [];
  for (let at = 0; at < bytes.length && found.length < 10; at += 1) {
    if (bytes[at] !== 0 && bytes[at] !== before[at]) found.push(at);
  }
  return found;
}

describe.each(Object.keys(operations))('%s leaves nothing in memory', (name) => {
  const prepare = async () => {
    const runtime = await createRuntime();
    const operation = await operations[name]?.(runtime);
    if (operation === undefined) throw new RangeError(name);
    return { runtime, operation, before: copyMemory(runtime), used: runtime.memory.bytesInUse };
  };

  it('when it succeeds', async () => {
    const { runtime, operation, before, used } = await prepare();
    await operation(runtime, {});
    expect(listNew(runtime, before)).toEqual([]);
    expect(runtime.memory.bytesInUse).toBe(used);
  });

  it('when it is aborted before its end', async () => {
    const { runtime, operation, before } = await prepare();
    const controller = new AbortController();
    const reason = new Error('enough');
    let done = 0;
    const aborted = operation(runtime, {
      signal: controller.signal,
      onProgress: () => {
        done += 1;
        if (done === 2) controller.abort(reason);
      },
    });
    await expect(aborted).rejects.toBe(reason);
    expect(listNew(runtime, before)).toEqual([]);
  });

  it('when it fails', async () => {
    const { runtime, operation, before } = await prepare();
    const failed = operation(runtime, {
      onProgress: () => {
        throw new Error('broken');
      },
    });
    await expect(failed).rejects.toThrow('broken');
    expect(listNew(runtime, before)).toEqual([]);
  });

  it('when the threads are closed while it runs', async () => {
    const { runtime, operation, before } = await prepare();
    const outcome = operation(runtime, {}).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await runtime.threads.close();
    await outcome;
    expect(listNew(runtime, before)).toEqual([]);
  });
});

describe('closing', () => {
  it('zeroes data that was not released on close, and refuses to read it or to store more', async () => {
    const created = vi.spyOn(WebAssembly, 'Memory');
    const kernels = await createKernels({ threads: 1 });
    const memory = created.mock.results[0]?.value as WebAssembly.Memory;
    created.mockRestore();
    const vector = await kernels.loadScalars(count, secrets);
    const needle = Buffer.from(secrets.subarray(32 * 7, 32 * 8));
    const holds = () => Buffer.from(new Uint8Array(memory.buffer)).includes(needle);
    expect(holds()).toBe(true);
    await kernels.close();
    expect(holds()).toBe(false);
    const closed = expect.objectContaining({ code: 'kernels_closed' });
    expect(() => kernels.readScalars(vector)).toThrow(closed);
    await expect(kernels.loadScalars(count, secrets)).rejects.toEqual(closed);
  });
});
