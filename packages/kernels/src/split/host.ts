/**
 * Kernels with a memory of their own, in a worker. The page calls them with messages.
 *
 * @module
 */
import type { Transferable } from 'node:worker_threads';
import type { PointTable } from '../curve/points.ts';
import { createProvingOperations } from '../proving-operations.ts';
import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import { createKernelMemory, reservedBytes } from '../runtime/memory.ts';
import type { TaskOptions } from '../runtime/runtime.ts';
import { createThreads } from '../runtime/threads.ts';
import type { Rows } from '../scalars/rows.ts';
import type { ScalarVector } from '../scalars/scalars.ts';
import type { Bytes, HeldPart, HostAnswer, HostCall, HostMessage, HostStart } from './messages.ts';

type Post = (answer: HostAnswer, transfer?: readonly Transferable[]) => void;

type Running = {
  readonly stopping: AbortController;
  /** Takes the bytes that the call waits for. */
  take?: ((bytes: Bytes | undefined) => void) | undefined;
};

/** @throws KernelsError `start_failed` */
export async function createHost({ module, multiplier, maximumBytes }: HostStart, post: Post) {
  const memory = createKernelMemory(reservedBytes, maximumBytes, false);
  const threads = await createThreads(1, { module, memory: memory.memory });
  const kernels = createProvingOperations({ threads, memory, multiplier });
  const residents = new Map<number, PointTable | Rows>();
  const calls = new Map<number, Running>();
  let last: Promise<unknown> = Promise.resolve();
  let lastResident = 0;

  const hold = (made: PointTable | Rows): HeldPart => {
    lastResident += 1;
    residents.set(lastResident, made);
    const { bytes } = made;
    return { resident: lastResident, bytes, ...('a' in made ? { a: made.a, b: made.b } : {}) };
  };
  const find = (number: number): PointTable | Rows => {
    const found = residents.get(number);
    if (found === undefined) throw new KernelsError('input_refused', 'the data was released');
    return found;
  };
  /** The page has sent only numbers that it had as results of that kind. */
  const findTable = (number: number) => find(number) as PointTable;
  const findRows = (number: number) => find(number) as Rows;

  /** Takes scalars into the memory for one call, and wipes the bytes of the message. */
  const withScalars = async <T>(
    bytes: Bytes,
    work: (vector: ScalarVector) => Promise<T>,
  ): Promise<T> => {
    const vector = await kernels
      .loadScalars(bytes.length / scalarBytes, bytes)
      .finally(() => bytes.fill(0));
    return await work(vector).finally(vector.release);
  };

  const execute = async (id: number, call: HostCall, running: Running): Promise<unknown> => {
    const { signal } = running.stopping;
    const options: TaskOptions = {
      signal,
      onProgress: (fraction) => {
        post({ type: 'progress', id, fraction });
      },
    };
    const read = async (start: number, count: number, into: Uint8Array): Promise<void> => {
      const arrived = new Promise<Bytes | undefined>((resolve) => {
        running.take = resolve;
      });
      post({ type: 'read', id, start, count, bytes: into.length });
      const bytes = await arrived;
      signal.throwIfAborted();
      if (bytes === undefined) throw new Error('the page could not read');
      into.set(bytes);
    };
    switch (call.op) {
      case 'loadPoints':
        return hold(await kernels.loadPoints(call.group, call.count, read, options));
      case 'loadRows':
        return hold(await kernels.loadRows(call.input, options));
      case 'restoreImage': {
        const { shape, size } = call;
        const image = { shape, size, read: (at: number, into: Bytes) => read(at, 0, into) };
        return hold(await kernels.restoreImage(image, options));
      }
      case 'readImage': {
        const bytes = new Uint8Array(call.length);
        await kernels.createImage(find(call.resident)).read(call.position, bytes);
        return bytes;
      }
      case 'computeQuotient':
        return await withScalars(call.witness, async (witness) => {
          const quotient = await kernels.computeQuotient(findRows(call.rows), witness, options);
          const bytes = memory.view(quotient.address, quotient.bytes).slice();
          quotient.release();
          return bytes;
        });
      case 'computeMsm': {
        const [first, second] = call.terms;
        if (first === undefined) throw new KernelsError('input_refused', 'there is no term');
        return await withScalars(first.scalars, async (scalars) => {
          const one = { points: findTable(first.table), scalars };
          if (second === undefined) return await kernels.computeJointMsm([one], options);
          return await withScalars(second.scalars, (others) =>
            kernels.computeJointMsm(
              [one, { points: findTable(second.table), scalars: others }],
              options,
            ),
          );
        });
      }
      case 'release':
        find(call.resident).release();
        residents.delete(call.resident);
        return undefined;
    }
  };

  const run = async (id: number, call: HostCall, running: Running): Promise<void> => {
    try {
      running.stopping.signal.throwIfAborted();
      const result = await execute(id, call, running);
      post(
        { type: 'done', id, result },
        result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : [],
      );
    } catch (error) {
      const known = error instanceof KernelsError ? error : undefined;
      post({
        type: 'failed',
        id,
        code: known?.code ?? 'kernel_failed',
        message: known?.message ?? (error instanceof Error ? error.message : 'unknown'),
        retryable: known?.retryable ?? false,
      });
    } finally {
      if (call.op === 'computeQuotient') call.witness.fill(0);
      if (call.op === 'computeMsm') for (const { scalars } of call.terms) scalars.fill(0);
      calls.delete(id);
    }
  };

  return {
    memory,
    receive: (message: HostMessage): void => {
      switch (message.type) {
        case 'call': {
          const { id, call } = message;
          const running: Running = { stopping: new AbortController() };
          calls.set(id, running);
          last = last.then(() => run(id, call, running));
          break;
        }
        case 'abort':
          calls.get(message.id)?.stopping.abort();
          break;
        case 'bytes':
          calls.get(message.id)?.take?.(message.bytes);
          break;
        case 'close':
          for (const { stopping, take } of calls.values()) {
            stopping.abort();
            take?.(undefined);
          }
          void Promise.all([threads.close(), last]).then(() => {
            memory.wipe();
            post({ type: 'closed' });
          });
      }
    },
  };
}
