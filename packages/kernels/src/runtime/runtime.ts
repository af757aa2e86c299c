/**
 * The parts that every operation uses, and the options that all operations take.
 *
 * @module
 */
import { errorOf, KernelsError } from './errors.ts';
import type { Block, KernelMemory } from './memory.ts';
import { nextTurn } from './thread-port.ts';
import type { KernelTask, Threads } from './threads.ts';
import type { Multiplier } from './wasm-module.ts';

export type Runtime = {
  readonly threads: Threads;
  readonly memory: KernelMemory;
  readonly multiplier: Multiplier;
};

/** An operation as a caller sees it: on the kernels' own memory and threads. */
export type Bound<F> = F extends (runtime: Runtime, ...rest: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

export type TaskOptions = {
  /** Ends the operation between two tasks. The operation rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** fraction: 0 … 1, never decreasing. If it throws, the operation fails with that error. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

/** Data that stays in the kernels' memory. */
export type Resident = {
  /** Number of points, scalars or rows. */
  readonly count: number;
  /** Memory that it occupies, in bytes. */
  readonly bytes: number;
  /** Its address in the kernels' memory, or its number if workers hold parts of it. @throws KernelsError `input_refused` after the release */
  readonly address: number;
  /** Frees the memory. Must not be called while an operation uses it. May be called again. */
  readonly release: () => void;
};

/** A resident in one block, with its own fields beside those of every resident. */
export function createResident<Extra extends object>(
  count: number,
  block: Block,
  extra: Extra,
): Resident & Extra {
  let released = false;
  const resident = {
    count,
    bytes: block.bytes,
    get address() {
      if (released) throw new KernelsError('input_refused', 'the vector was released');
      return block.address;
    },
    release: () => {
      released = true;
      block.release();
    },
  };
  // The getter remains: it is a property of the target.
  return Object.assign(resident, extra);
}

/** Counts the finished tasks of an operation with several runs. @param total - number of tasks in all runs */
export function createTaskCounter(
  total: number,
  onProgress: ((fraction: number) => void) | undefined,
): (() => void) | undefined {
  if (onProgress === undefined) return undefined;
  let done = 0;
  return () => {
    done += 1;
    onProgress(Math.min(1, done / total));
  };
}

/** Runs the tasks of an operation that has no others. */
export function runTasks(
  { threads }: Runtime,
  tasks: readonly KernelTask[],
  { signal, onProgress }: TaskOptions,
): Promise<void> {
  return threads.run(tasks, { signal, onTaskDone: createTaskCounter(tasks.length, onProgress) });
}

/** Lets other work of the event loop run. @throws the signal's reason */
export async function yieldTurn(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  if (signal?.aborted) throw errorOf(signal.reason);
}

/** Runs `work` and releases its blocks when it ends, also if it fails. */
export async function withBlocks<T>(
  memory: KernelMemory,
  work: (allocate: (bytes: number, options?: { readonly secret?: boolean }) => Block) => Promise<T>,
): Promise<T> {
  const blocks: Block[] = [];
  try {
    return await work((bytes, options) => {
      const block = memory.allocate(bytes, options);
      blocks.push(block);
      return block;
    });
  } finally {
    for (const block of blocks) block.release();
  }
}

/** A place in memory for each thread. @throws RangeError for a number that no thread has */
export function placePerThread<T>({ threads }: Runtime, make: () => T): (thread: number) => T {
  const places = Array.from({ length: threads.count }, make);
  return (thread) => {
    const place = places[thread];
    if (place === undefined) throw new RangeError('there is no thread with this index');
    return place;
  };
}

/** The items of a task whose kernels take pairs: the last pair may have one item. */
export function splitPairs(count: number, pairsInTask: number) {
  return splitRange(count, 2 * pairsInTask).map(([first, items]) => ({
    first,
    items,
    pairs: Math.ceil(items / 2),
  }));
}

/** [start, count] of consecutive parts with at most `size` items. */
export function splitRange(total: number, size: number): (readonly [number, number])[] {
  return Array.from(
    { length: Math.ceil(total / size) },
    (_, i) => [i * size, Math.min(size, total - i * size)] as const,
  );
}
