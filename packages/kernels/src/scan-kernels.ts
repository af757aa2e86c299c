/**
 * The kernels for reading sealed notes and for building trees.
 *
 * The first items are worked on by the calling thread, with the smallest code: a page that reads a few notes loads no more, and
 * starts no threads. With more, the fastest code is loaded and works on all threads. Both give the same bytes.
 *
 * @module
 */
import { completeOptions, describeKernels, type KernelsOptions } from './runtime/kernel-options.ts';
import { createKernelMemory, type KernelMemory, reservedBytes } from './runtime/memory.ts';
import type { Bound, Runtime } from './runtime/runtime.ts';
import { canShareMemory } from './runtime/thread-port.ts';
import { createThreads } from './runtime/threads.ts';
import { compileKernels, scanSet } from './runtime/wasm-module.ts';
import { multiplyPackedPoints, openSealedBoxes } from './scan/babyjubjub.ts';
import { createPoseidonHasher, type PoseidonHasher } from './scan/poseidon.ts';

/** Packed Baby Jubjub points, sealed boxes, Poseidon. */
export type ScanKernels = PoseidonHasher & {
  /** scalar · point for packed, untrusted points; see babyjubjub.ts. */
  readonly multiplyPackedPoints: Bound<typeof multiplyPackedPoints>;
  /** Opens the boxes that are sealed to scalar·B8, out of many. It takes about 500 bytes of memory per box. */
  readonly openSealedBoxes: Bound<typeof openSealedBoxes>;
};

export type OpenScanKernels = ScanKernels & {
  /** Description of what many items run on, for people. */
  readonly detail: string;
  /** Memory in use, in bytes. */
  readonly bytesInUse: number;
  /** Ends the threads. Running and later operations fail with `kernels_closed`. */
  readonly close: () => Promise<void>;
};

/** Points and hashes: at most a third of a second of work. */
const fewItems = 1_000;
/** For their notes. */
const fewBytes = 16 * 1024 * 1024;
const packedPointBytes = 32;

type Started = ScanKernels & {
  readonly memory: KernelMemory;
  readonly close: () => Promise<void>;
};

async function startScanKernels(
  { threads: wanted, maximumBytes, multiplier }: ReturnType<typeof completeOptions>,
  shared: boolean,
): Promise<Started> {
  const module = await compileKernels(scanSet, multiplier, shared);
  const memory = createKernelMemory(reservedBytes, maximumBytes, shared);
  const threads = await createThreads(wanted, { module, memory: memory.memory });
  const runtime: Runtime = { threads, memory, multiplier };
  return {
    ...bindScanKernels(runtime),
    memory,
    close: async () => {
      await threads.close();
      memory.wipe();
    },
  };
}

export function bindScanKernels(runtime: Runtime): ScanKernels {
  return {
    ...createPoseidonHasher(runtime),
    multiplyPackedPoints: (...args) => multiplyPackedPoints(runtime, ...args),
    openSealedBoxes: (...args) => openSealedBoxes(runtime, ...args),
  };
}

/**
 * Starts the kernels. Idle threads do not keep the process alive.
 * @param options.multiplier - one that is named is loaded at once, with all threads
 * @throws KernelsError `start_failed`, `thread_file_missing`, here or in the first operation on many items
 */
export async function createScanKernels(options: KernelsOptions = {}): Promise<OpenScanKernels> {
  const all = completeOptions(options);
  const isNamed = options.multiplier !== undefined && options.multiplier !== 'auto';
  const running: Started[] = [];
  const startMany = async (): Promise<Started> => {
    const started = await startScanKernels(all, canShareMemory());
    running.push(started);
    return started;
  };
  const few = isNamed
    ? undefined
    : await startScanKernels({ multiplier: 'integer', threads: 1, maximumBytes: fewBytes }, false);
  if (few !== undefined) running.push(few);
  let many = isNamed ? startMany() : undefined;
  await many;
  let items = 0;
  let closed = false;

  const pick = async (count: number): Promise<ScanKernels> => {
    items += count;
    if (few !== undefined && (closed || items <= fewItems)) return few;
    const started = many ?? startMany();
    many = started;
    try {
      return await started;
    } catch (error) {
      // The next operation tries again: a page loads the code.
      many = undefined;
      throw error;
    }
  };

  return {
    detail: describeKernels(canShareMemory() ? all.threads : 1, all.multiplier),
    get bytesInUse() {
      return running.reduce((sum, { memory }) => sum + memory.bytesInUse, 0);
    },
    hashPoseidonMany: async (constants, inputs, ...rest) => {
      const count = inputs.length / (constants.width - 1) / packedPointBytes;
      return (await pick(count)).hashPoseidonMany(constants, inputs, ...rest);
    },
    multiplyPackedPoints: async (points, ...rest) =>
      (await pick(points.length / packedPointBytes)).multiplyPackedPoints(points, ...rest),
    openSealedBoxes: async (boxes, ...rest) =>
      (await pick(boxes.points.length / packedPointBytes)).openSealedBoxes(boxes, ...rest),
    close: async () => {
      closed = true;
      await many?.catch(() => undefined);
      await Promise.all(running.map((kernels) => kernels.close()));
    },
  };
}
