/**
 * Proving on a graphics device through WebGPU (Dawn for Node). Loaded only when it is requested.
 *
 * @module
 */
import type { Engine } from '../engine/engine.ts';
import { createBuffers } from './device/buffers.ts';
import { type Gpu, openDevice } from './device/device.ts';
import { createPipelines } from './device/pipelines.ts';
import { createDeviceEngine } from './engine.ts';
import {
  chooseLayout,
  type LayoutMeasurement,
  measureLayouts,
  testLayout,
} from './field/benchmark.ts';
import { openLayoutCache } from './field/layout-cache.ts';
import { describeLayoutKey, findMeasurements } from './field/layout-choice.ts';
import { findLimbLayout, type LimbLayoutName, limbLayouts } from './field/limbs.ts';

export type WebGpuEngineOptions = {
  /** Accept a renderer that runs on the processor. For tests: it is slower than the CPU engine. */
  readonly allowSoftwareAdapter?: boolean | undefined;
  /** Device memory for keys, their tables and the work on them; default 4 GiB. */
  readonly memoryBudgetBytes?: number | undefined;
  /** Use this limb layout, if it computes correctly, instead of the fastest. */
  readonly layout?: LimbLayoutName | undefined;
  /** Folder that keeps the measured layouts between starts. Default: they are measured at every start. */
  readonly cacheDir?: string | undefined;
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

function describeSpeed({ name, multiplicationsPerSecond = 0 }: LayoutMeasurement): string {
  return `${name}, ${(multiplicationsPerSecond / 1e9).toPrecision(3)} billion multiplications a second`;
}

/** Opens the device, tests and times its arithmetic, and makes an engine on it. */
export async function createWebGpuEngine(options: WebGpuEngineOptions = {}): Promise<WebGpuEngine> {
  const opened = await openDevice({ allowSoftwareAdapter: options.allowSoftwareAdapter ?? false });
  if ('reason' in opened) return opened;
  const { gpu } = opened;
  try {
    const measurements = await measure(gpu, options);
    const best = chooseLayout(measurements);
    const engine = createDeviceEngine(gpu, {
      layout: findLimbLayout(best.name),
      memoryBudgetBytes: options.memoryBudgetBytes,
      detail: describeSpeed(best),
    });
    return { engine, measurements };
  } catch (error) {
    gpu.close();
    return { reason: `${gpu.name}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
