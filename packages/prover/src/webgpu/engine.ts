/**
 * The engine on a graphics device. Proofs and keys wait for their turn on the device: one of them fills it.
 *
 * @module
 */

import { closedError, ProverError } from '../base/errors.ts';
import type { Engine, EngineOptions, ResidentKey } from '../engine/engine.ts';
import type { Zkey } from '../zkey/zkey.ts';
import { createBuffers } from './device/buffers.ts';
import { type Gpu, openDevice } from './device/device.ts';
import { createPipelines } from './device/pipelines.ts';
import { loadDeviceKey } from './engine-key.ts';
import {
  defaultMemoryBudgetBytes,
  defaultTableShare,
  estimateDeviceBytes,
  leastDeviceBytes,
} from './engine-memory.ts';
import {
  chooseLayout,
  type LayoutMeasurement,
  measureLayouts,
  testLayout,
} from './field/benchmark.ts';
import { describeLayoutKey, findMeasurements, openLayoutCache } from './field/layout-cache.ts';
import {
  findLimbLayout,
  type LimbLayout,
  type LimbLayoutName,
  limbLayouts,
} from './field/limbs.ts';
import { createMsmContext } from './msm/msm.ts';
import { assertQuotientFits } from './quotient/quotient.ts';

// Proving on a graphics device through WebGPU (Dawn for Node). Loaded only when it is requested.

export type WebGpuEngineOptions = {
  /** Accept a renderer that runs on the processor. For tests: it is slower than the CPU engine. */
  readonly allowSoftwareAdapter?: boolean | undefined;
  /** Device memory for keys, their tables and the work on them; default 4 GiB. */
  readonly memoryBudgetBytes?: number | undefined;
  /** Use this limb layout, if it computes correctly, instead of the fastest. */
  readonly layout?: LimbLayoutName | undefined;
  /** Folder that keeps the measured layouts between starts. Default: they are measured at every start. */
  readonly cacheDir?: string | undefined;
  /**
   * Multiplications per second of the processor, measured when there is a device. A device with fewer is not used. Default: every
   * device is used.
   */
  readonly measureProcessor?: (() => Promise<number>) | undefined;
};

export type WebGpuEngine =
  | { readonly engine: Engine; readonly measurements: readonly LayoutMeasurement[] }
  /** The reason why there is none. */
  | { readonly reason: string };

/** Kept in this process: an engine that is opened again on the same device, after a loss, does not read a file. */
const measured = new Map<string, readonly LayoutMeasurement[]>();

async function measure(
  gpu: Gpu,
  { layout: only, cacheDir }: WebGpuEngineOptions,
): Promise<readonly LayoutMeasurement[]> {
  const layouts = only === undefined ? limbLayouts : [findLimbLayout(only)];
  const key = await describeLayoutKey(gpu, layouts);
  const name = JSON.stringify(key);
  const known = measured.get(name);
  if (known !== undefined) return known;
  const buffers = createBuffers(gpu);
  const pipelines = createPipelines(gpu);
  const cache = cacheDir === undefined ? undefined : openLayoutCache(cacheDir);
  const measurements = await findMeasurements(cache, key, {
    measure: () => measureLayouts(gpu, buffers, pipelines, layouts),
    isCorrect: (layout) => testLayout(gpu, buffers, pipelines, findLimbLayout(layout)),
  });
  measured.set(name, measurements);
  return measurements;
}

function describeRate(multiplicationsPerSecond: number): string {
  return `${(multiplicationsPerSecond / 1e9).toPrecision(3)} billion multiplications a second`;
}

/** Opens the device, tests and times its arithmetic, and makes an engine on it if it is the faster one. */
export async function createWebGpuEngine(options: WebGpuEngineOptions = {}): Promise<WebGpuEngine> {
  const opened = await openDevice({ allowSoftwareAdapter: options.allowSoftwareAdapter ?? false });
  if ('reason' in opened) return opened;
  const { gpu } = opened;
  try {
    const measurements = await measure(gpu, options);
    const { name, multiplicationsPerSecond = 0 } = chooseLayout(measurements);
    const ofProcessor = (await options.measureProcessor?.()) ?? 0;
    if (multiplicationsPerSecond < ofProcessor) {
      gpu.close();
      const rates = [multiplicationsPerSecond, ofProcessor]
        .map(describeRate)
        .join(', the processor ');
      return { reason: `${gpu.name}: ${rates}` };
    }
    const engine = createDeviceEngine(gpu, {
      layout: findLimbLayout(name),
      memoryBudgetBytes: options.memoryBudgetBytes,
      detail: `${name}, ${describeRate(multiplicationsPerSecond)}`,
    });
    return { engine, measurements };
  } catch (error) {
    gpu.close();
    return { reason: `${gpu.name}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

export type DeviceEngineOptions = {
  readonly layout: LimbLayout;
  /** Device memory for all keys and the work on them. */
  readonly memoryBudgetBytes?: number | undefined;
  /** Share of it that precomputed multiples of one key's points may use, 0..1; none on a software renderer, which computes them slowly. */
  readonly tableShare?: number | undefined;
  /** The text after the device's name: the layout's measured speed. */
  readonly detail?: string | undefined;
};

/** Runs one task after the other, in the order of the calls. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>): Promise<T> => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
}

/** An engine on a device that is open; closing the engine closes the device. */
export function createDeviceEngine(gpu: Gpu, options: DeviceEngineOptions): Engine {
  const {
    layout,
    memoryBudgetBytes = defaultMemoryBudgetBytes,
    tableShare = gpu.isSoftware ? 0 : defaultTableShare,
  } = options;
  const buffers = createBuffers(gpu);
  const context = {
    gpu: { gpu, buffers, pipelines: createPipelines(gpu), layout },
    msm: createMsmContext(gpu, buffers, layout),
    memoryBudgetBytes,
    tableShare,
  };
  const queue = createQueue();
  let isClosed = false;

  /** Runs the task in turn, and converts errors of the device into the prover's. */
  const enqueue = <T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> =>
    queue(async () => {
      signal?.throwIfAborted();
      if (isClosed) throw closedError();
      try {
        gpu.assertHealthy();
        const result = await task();
        // The memory of a device that was lost meanwhile can contain anything.
        gpu.assertHealthy();
        return result;
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (isClosed) throw closedError();
        throw await gpu.explain(error);
      }
    });

  const load = async (zkey: Zkey, loadOptions: EngineOptions): Promise<ResidentKey> => {
    assertQuotientFits(gpu, zkey.header);
    const before = buffers.bytesInUse();
    const assertWithinBudget = (bytes: number): void => {
      if (bytes <= memoryBudgetBytes) return;
      throw new ProverError(
        'memory_budget_exceeded',
        `the proving key needs ${bytes - before} bytes of device memory beside ${before} in use; the budget is ${memoryBudgetBytes}`,
      );
    };
    assertWithinBudget(before + leastDeviceBytes(zkey.header));
    const key = await loadDeviceKey(context, zkey, loadOptions);
    try {
      assertWithinBudget(buffers.bytesInUse());
    } catch (error) {
      key.release();
      throw error;
    }
    let isReleased = false;
    return {
      bytes: key.bytes,
      computeSums: (witness, proofOptions = {}) =>
        enqueue(proofOptions.signal, () => {
          if (isReleased) throw new ProverError('proof_failed', 'the proving key was released');
          return key.computeSums(witness, proofOptions);
        }),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        // Runs after the current proof, if there is one: its buffers must exist until its commands end.
        void queue(() => {
          if (!isClosed) key.release();
          return Promise.resolve();
        });
      },
    };
  };

  return {
    kind: 'webgpu',
    detail: `WebGPU, ${gpu.name}, ${options.detail ?? layout.name}`,
    load: (zkey, loadOptions = {}) => enqueue(loadOptions.signal, () => load(zkey, loadOptions)),
    estimateBytes: (header) => estimateDeviceBytes(header, memoryBudgetBytes, tableShare),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      gpu.close();
      await queue(() => Promise.resolve());
    },
  };
}
