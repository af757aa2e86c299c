/**
 * Kernels for a page that cannot share memory between threads: workers with a memory of their own. Each holds a part of every table
 * and computes the sum of its part. The first also holds the matrices and computes the quotient. What the workers do not share is
 * sent to them: scalars with each sum.
 *
 * @module
 */
import { addSums, requireTerms } from '../curve/msm.ts';
import { type Image, imageChunkBytes } from '../images.ts';
import { createKernels, type ProvingKernels, prepareKernels } from '../kernels.ts';
import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import { describeInstructions, type KernelsOptions } from '../runtime/kernel-options.ts';
import { createResident, type TaskOptions } from '../runtime/runtime.ts';
import { canShareMemory } from '../runtime/thread-port.ts';
import type { Rows } from '../scalars/rows.ts';
import { type HostLink, openHostLink } from './host-link.ts';
import type { Bytes, HeldPart } from './messages.ts';

/** The quotient's share of the work of a proof, which the first worker does alone. */
const quotientShare = 0.2;

/** The range of each worker, for tables of `count` points: all workers end at about the same time. */
export function divideTable(count: number, workers: number): (readonly [number, number])[] {
  const first =
    workers === 1 ? 1 : Math.max(0, (1 / workers - quotientShare) / (1 - quotientShare));
  const others = (1 - first) / (workers - 1);
  const endOf = (worker: number) =>
    worker === workers - 1 ? count : Math.round(count * (first + worker * others));
  return Array.from({ length: workers }, (_, worker) => {
    const start = worker === 0 ? 0 : endOf(worker - 1);
    return [start, endOf(worker) - start];
  });
}

/** A part of a table on a worker: points `start` … `start + count - 1`. Matrices are one part. */
type Part = HeldPart & { readonly link: HostLink; readonly start: number; readonly count: number };

/** Bytes that were sent have no length here any more. */
function wipeUnsent(bytes: Bytes): void {
  if (bytes.length > 0) bytes.fill(0);
}

/** Splits progress among parts by their weights. */
function divideProgress({ onProgress }: TaskOptions, weights: readonly number[]) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const done = weights.map(() => 0);
  return (part: number) => (fraction: number) => {
    done[part] = fraction * (weights[part] ?? 0);
    onProgress?.(Math.min(1, done.reduce((sum, each) => sum + each, 0) / total));
  };
}

/**
 * Runs the same step on several workers. If one fails, the others are stopped.
 * @throws the first error, when all have ended
 */
async function onEach<P, T>(
  parts: readonly P[],
  signal: AbortSignal | undefined,
  step: (part: P, index: number, signal: AbortSignal) => Promise<T>,
  undo: (made: T) => void,
): Promise<readonly T[]> {
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort(signal?.reason);
  };
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  let failure: { readonly error: unknown } | undefined;
  const made = await Promise.all(
    parts.map((part, index) =>
      step(part, index, stopping.signal).catch((error: unknown) => {
        failure ??= { error };
        stopping.abort(error);
        return undefined;
      }),
    ),
  );
  signal?.removeEventListener('abort', stop);
  const results = made.filter((result) => result !== undefined);
  if (failure === undefined) return results;
  results.forEach(undo);
  throw failure.error;
}

/** Reads any range of an image that is read in whole chunks. */
function createRangeReader({ size, read }: Pick<Image, 'size'> & { readonly read: ReadChunk }) {
  const chunk = new Uint8Array(Math.min(size, imageChunkBytes));
  let held = -1;
  return async (position: number, into: Bytes): Promise<void> => {
    for (let done = 0; done < into.length; ) {
      const at = position + done;
      const start = at - (at % imageChunkBytes);
      const whole = chunk.subarray(0, Math.min(imageChunkBytes, size - start));
      if (held !== start) {
        await read(start, whole);
        held = start;
      }
      const piece = whole.subarray(at - start, at - start + into.length - done);
      into.set(piece, done);
      done += piece.length;
    }
  };
}
type ReadChunk = (position: number, into: Bytes) => Promise<void>;

/** @throws KernelsError `start_failed`, `thread_file_missing` */
export async function createSplitKernels(options: KernelsOptions = {}): Promise<ProvingKernels> {
  const prepared = await prepareKernels(options, false);
  const { threads: workers, module, multiplier, maximumBytes } = prepared;
  let isLost = false;
  const links = Array.from({ length: workers }, () =>
    openHostLink({ module, multiplier, maximumBytes }, () => {
      isLost = true;
    }),
  );
  const close = async (): Promise<void> => {
    for (const bytes of vectors.values()) bytes.fill(0);
    vectors.clear();
    await Promise.all(links.map((link) => link.close()));
  };
  /** What residents consist of, by their numbers. */
  const parts = new Map<number, readonly Part[]>();
  /** Scalars are secret. */
  const vectors = new Map<number, Bytes>();
  let lastNumber = 0;

  const releaseOn = ({ link, resident }: Part): void => {
    // A worker that ended holds nothing.
    link.call({ op: 'release', resident }).catch(() => undefined);
  };
  const hold = <Extra extends object>(count: number, held: readonly Part[], extra: Extra) => {
    lastNumber += 1;
    const address = lastNumber;
    parts.set(address, held);
    const bytes = held.reduce((sum, part) => sum + part.bytes, 0);
    const release = (): void => {
      if (parts.delete(address)) held.forEach(releaseOn);
    };
    return createResident(count, { address, bytes, release }, extra);
  };
  const holdVector = (bytes: Bytes) => {
    lastNumber += 1;
    const address = lastNumber;
    vectors.set(address, bytes);
    const release = (): void => {
      bytes.fill(0);
      vectors.delete(address);
    };
    return createResident(
      bytes.length / scalarBytes,
      { address, bytes: bytes.length, release },
      {},
    );
  };
  const findParts = (number: number): readonly Part[] => {
    const found = parts.get(number);
    if (found === undefined) throw new KernelsError('kernels_closed', 'the kernels are closed');
    return found;
  };
  /** A copy, which the worker takes over and wipes. The caller wipes one that was not sent. */
  const copyScalars = (number: number, start: number, count: number): Bytes => {
    const bytes = vectors.get(number);
    if (bytes === undefined) throw new KernelsError('kernels_closed', 'the kernels are closed');
    return bytes.slice(scalarBytes * start, scalarBytes * (start + count));
  };

  type LoadPart = (
    link: HostLink,
    start: number,
    count: number,
    partOptions: TaskOptions,
  ) => Promise<HeldPart>;
  const loadTable = async (count: number, taskOptions: TaskOptions, load: LoadPart) => {
    const ranges = divideTable(count, workers).flatMap(([start, size], worker) => {
      const link = links[worker];
      return size === 0 || link === undefined ? [] : [{ link, start, count: size }];
    });
    const progressOf = divideProgress(
      taskOptions,
      ranges.map((range) => range.count),
    );
    return await onEach(
      ranges,
      taskOptions.signal,
      async ({ link, start, count: size }, index, signal): Promise<Part> => {
        const held = await load(link, start, size, { signal, onProgress: progressOf(index) });
        return { ...held, link, start, count: size };
      },
      releaseOn,
    );
  };
  const holdRows = (
    { count, wires }: { readonly count: number; readonly wires: number },
    held: HeldPart,
    link: HostLink,
  ): Rows => {
    const none = { ends: 0, entries: 0, length: 0 };
    const part = { ...held, link, start: 0, count };
    return hold(count, [part], { wires, a: held.a ?? none, b: held.b ?? none });
  };

  const computeJointMsm: ProvingKernels['computeJointMsm'] = async (given, taskOptions = {}) => {
    requireTerms(given);
    const terms = given
      .filter((term) => term !== undefined)
      .map(({ points, scalars, firstScalar = 0 }) => ({
        held: findParts(points.address),
        scalars: scalars.address,
        firstScalar,
      }));
    const shares = links
      .map((link) => ({
        link,
        terms: terms.flatMap(({ held, scalars, firstScalar }) =>
          held
            .filter((part) => part.link === link)
            .map((part) => ({ part, scalars, first: firstScalar + part.start })),
        ),
      }))
      .filter((share) => share.terms.length > 0);
    const progressOf = divideProgress(
      taskOptions,
      shares.map((share) => share.terms.reduce((sum, { part }) => sum + part.count, 0)),
    );
    const sums = await onEach(
      shares,
      taskOptions.signal,
      (share, index, signal) => {
        const copies = share.terms.map(({ part, scalars, first }) => ({
          table: part.resident,
          scalars: copyScalars(scalars, first, part.count),
        }));
        return share.link
          .call(
            { op: 'computeMsm', terms: copies },
            { signal, onProgress: progressOf(index) },
            copies.map(({ scalars }) => scalars.buffer),
          )
          .finally(() => {
            for (const { scalars } of copies) wipeUnsent(scalars);
          });
      },
      () => undefined,
    );
    return addSums(given[0].points.group, sums);
  };

  const [matrixLink] = links;
  if (matrixLink === undefined) throw new RangeError('there must be at least one worker');
  try {
    await Promise.all(links.map((link) => link.ready));
  } catch (cause) {
    await close();
    if (cause instanceof KernelsError && cause.code === 'thread_file_missing') throw cause;
    throw new KernelsError('start_failed', 'a worker of the kernels could not start', { cause });
  }

  return {
    detail: `WebAssembly, ${workers} worker${workers === 1 ? '' : 's'} without shared memory (the page is not cross-origin isolated), ${describeInstructions(multiplier)}`,
    threads: workers,
    describeImageFormat: prepared.describeImageFormat,
    isQueue: true,
    isLost: () => isLost,
    loadPoints: async (group, count, read, taskOptions = {}) => {
      if (!Number.isSafeInteger(count) || count < 1) {
        const what = `a table must have at least one point; ${count} requested`;
        throw new KernelsError('input_refused', what);
      }
      const held = await loadTable(count, taskOptions, (link, start, size, partOptions) =>
        link.call(
          { op: 'loadPoints', group, count: size },
          {
            ...partOptions,
            read: (first, points, into) => read(start + first, points, into),
          },
        ),
      );
      return hold(count, held, { group });
    },
    loadScalars: async (count, bytes) => {
      const length = count * scalarBytes;
      if (!Number.isSafeInteger(count) || count < 1 || bytes.length < length) {
        const what = `${count} scalars need ${length} bytes, and at least one scalar is needed; there are ${bytes.length} bytes`;
        throw new KernelsError('input_refused', what);
      }
      return holdVector(new Uint8Array(bytes.subarray(0, length)));
    },
    loadRows: async (input, taskOptions) => {
      const held = await matrixLink.call({ op: 'loadRows', input }, taskOptions);
      return holdRows({ count: input.domainSize, wires: input.wires }, held, matrixLink);
    },
    computeQuotient: async (rows, witness, taskOptions) => {
      const [part] = findParts(rows.address);
      const scalars = copyScalars(witness.address, 0, witness.count);
      const call = { op: 'computeQuotient', rows: part?.resident ?? 0, witness: scalars } as const;
      const sent = matrixLink.call(call, taskOptions, [scalars.buffer]);
      return holdVector(await sent.finally(() => wipeUnsent(scalars)));
    },
    computeMsm: async (points, scalars, { firstScalar, ...taskOptions } = {}) =>
      computeJointMsm([{ points, scalars, firstScalar }], taskOptions),
    computeJointMsm,
    createImage: (resident) => {
      const { count, bytes: size } = resident;
      const shape =
        'group' in resident
          ? ({ kind: 'points', count, group: resident.group } as const)
          : ({
              kind: 'rows',
              count,
              wires: resident.wires,
              lengths: [resident.a.length, resident.b.length],
            } as const);
      return {
        shape,
        size,
        read: async (position, into) => {
          let start = 0;
          for (const { link, resident: number, bytes } of findParts(resident.address)) {
            const from = Math.max(position, start);
            const length = Math.min(position + into.length, start + bytes) - from;
            if (length > 0) {
              const call = {
                op: 'readImage',
                resident: number,
                position: from - start,
                length,
              } as const;
              into.set(await link.call(call), from - position);
            }
            start += bytes;
          }
        },
      };
    },
    restoreImage: async ({ shape, size, read }, taskOptions = {}) => {
      if (shape.kind === 'rows') {
        const held = await matrixLink.call(
          { op: 'restoreImage', shape, size },
          { ...taskOptions, read: (position, _count, into) => read(position, into) },
        );
        return holdRows(shape, held, matrixLink);
      }
      const { count, group } = shape;
      const pointBytes = size / count;
      const held = await loadTable(count, taskOptions, (link, start, points, partOptions) => {
        const readRange = createRangeReader({ size, read });
        return link.call(
          {
            op: 'restoreImage',
            shape: { kind: 'points', count: points, group },
            size: points * pointBytes,
          },
          {
            ...partOptions,
            read: (position, _count, into) => readRange(start * pointBytes + position, into),
          },
        );
      });
      return hold(count, held, { group });
    },
    close,
  };
}

/**
 * Kernels for a prover: threads that share one memory, or in a page that is not cross-origin isolated workers with their own.
 * @throws KernelsError `start_failed`, `thread_file_missing`
 */
export function createProvingKernels(options: KernelsOptions = {}): Promise<ProvingKernels> {
  return canShareMemory() ? createKernels(options) : createSplitKernels(options);
}
