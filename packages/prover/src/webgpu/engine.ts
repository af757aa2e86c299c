/**
 * The engine on a graphics device. Proofs and keys wait for their turn on the device: one of them fills it.
 *
 * @module
 */

import { closedError, ProverError } from '../base/errors.ts';
import type { Engine, EngineOptions, ResidentKey } from '../engine/engine.ts';
import type { Zkey } from '../zkey/zkey.ts';
import { createBuffers } from './device/buffers.ts';
import type { Gpu } from './device/device.ts';
import { createPipelines } from './device/pipelines.ts';
import { loadDeviceKey } from './engine-key.ts';
import {
  defaultMemoryBudgetBytes,
  defaultTableShare,
  estimateDeviceBytes,
  leastDeviceBytes,
} from './engine-memory.ts';
import type { LimbLayout } from './field/limbs.ts';
import { createMsmContext } from './msm/msm.ts';
import { assertQuotientFits } from './quotient/quotient.ts';

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
