/**
 * The graphics device that an engine runs on: found, opened, watched and closed. The package `webgpu` (Dawn) is optional and loaded
 * on the first call only.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { setTimeout } from 'node:timers/promises';
import { ProverError } from '../../base/errors.ts';
import {
  type AdapterIdentity,
  describeAdapter,
  describeDevice,
  identifyAdapter,
  isSoftwareAdapter,
} from './adapter.ts';
import { hasVulkanDriver } from './vulkan.ts';

export type DeviceOptions = {
  /** Accept a renderer that runs on the processor (SwiftShader, llvmpipe). For tests: it is slower than the CPU engine. */
  readonly allowSoftwareAdapter?: boolean;
  /** `null`: shaders are checked and nothing is computed; needs no driver. For tests. */
  readonly backend?: 'null' | 'vulkan' | 'metal' | 'd3d12';
};

/** An open device. After it is lost or closed, nothing that it made can be used. */
export type Gpu = {
  readonly device: GPUDevice;
  /** The adapter's name, for people. */
  readonly name: string;
  readonly adapter: AdapterIdentity;
  readonly isSoftware: boolean;
  readonly hasSubgroups: boolean;
  readonly hasTimestamps: boolean;
  /** Resolves, with the driver's message, when the device is permanently lost; also after `close`. */
  readonly lost: Promise<string>;
  /**
   * @throws ProverError `accelerator_lost` if the device is gone, `accelerator_refused` if it reported an error unprompted,
   *   `memory_budget_exceeded` if its memory ran out
   */
  readonly assertHealthy: () => void;
  /** Makes an object that needs memory. If there is none, `assertHealthy` and `guard` report it later. */
  readonly allocate: <T>(make: () => T) => T;
  /** The error to throw after a failed call to the device: the loss of the device, if that is the cause and known within a short time. */
  readonly explain: (error: unknown) => Promise<ProverError>;
  /** Runs `work` and turns errors that the device reports about it into a ProverError. */
  readonly guard: <T>(work: () => T | Promise<T>) => Promise<T>;
  readonly close: () => void;
};

type WebGpuModule = { readonly create: (options: string[]) => GPU };

async function loadWebGpu(): Promise<WebGpuModule | undefined> {
  try {
    return await import('webgpu');
  } catch {
    // Not installed, or no build for this platform: the CPU engine is used, and there is no error.
    return undefined;
  }
}

function lostError(reason: string): ProverError {
  return new ProverError('accelerator_lost', `the graphics device is gone (${reason})`, {
    retryable: true,
  });
}

function refusedError(message: string, cause?: unknown): ProverError {
  return new ProverError(
    'accelerator_refused',
    `the graphics device refused the work: ${message}`,
    {
      cause,
    },
  );
}

function exhaustedError(message: string): ProverError {
  return new ProverError(
    'memory_budget_exceeded',
    `the graphics device has no memory left: ${message}`,
  );
}

/** Dawn reports a loss a little after the calls that fail because of it. */
const lossReportMs = 250;

function watch(device: GPUDevice, adapter: GPUAdapter): Gpu {
  let lostReason: string | undefined;
  let uncaptured: string | undefined;
  let exhausted: string | undefined;
  const lost = device.lost.then((info) => {
    lostReason ??= info.message === '' ? info.reason : info.message;
    return lostReason;
  });
  device.addEventListener('uncapturederror', ({ error }) => {
    // By name: Dawn for Node has no globals to compare with.
    if (error.constructor.name === 'GPUOutOfMemoryError') exhausted ??= error.message;
    else uncaptured ??= error.message;
  });
  const assertHealthy = (): void => {
    if (lostReason !== undefined) throw lostError(lostReason);
    // An unprompted error means that some earlier work may not have run, so no later result of this device can be trusted. The
    // device itself is not lost.
    if (uncaptured !== undefined) throw refusedError(uncaptured);
    if (exhausted !== undefined) {
      const message = exhausted;
      exhausted = undefined;
      throw exhaustedError(message);
    }
  };
  return {
    device,
    name: describeAdapter(adapter.info),
    adapter: identifyAdapter(adapter.info),
    isSoftware: isSoftwareAdapter(adapter.info),
    hasSubgroups: device.features.has('subgroups'),
    hasTimestamps: device.features.has('timestamp-query'),
    lost,
    assertHealthy,
    allocate: (make) => {
      device.pushErrorScope('out-of-memory');
      try {
        return make();
      } finally {
        device.popErrorScope().then(
          (error) => {
            exhausted ??= error?.message;
          },
          () => undefined,
        );
      }
    },
    explain: async (error) => {
      if (error instanceof ProverError) return error;
      await Promise.race([lost, setTimeout(lossReportMs)]);
      try {
        assertHealthy();
      } catch (known) {
        if (known instanceof ProverError) return known;
      }
      return refusedError('it stopped in the middle', error);
    },
    guard: async (work) => {
      assertHealthy();
      device.pushErrorScope('out-of-memory');
      device.pushErrorScope('validation');
      // Scopes nest by call order, so they are popped before anything else can run on this device.
      let result: ReturnType<typeof work>;
      let scopes: readonly Promise<GPUError | null>[] = [];
      try {
        result = work();
      } finally {
        scopes = [device.popErrorScope(), device.popErrorScope()];
      }
      const errors = await Promise.all(scopes).catch(() => []);
      const [validation, memory] = errors;
      if (memory) throw exhaustedError(memory.message);
      if (validation) throw refusedError(validation.message);
      const value = await result;
      assertHealthy();
      return value;
    },
    close: () => {
      lostReason ??= 'closed';
      device.destroy();
    },
  };
}

/**
 * What `create` returned, for each backend, kept until the process ends: after such an object is collected, the next one crashes the
 * process (webgpu 0.6.2 on SwiftShader). It uses no time while no device is open, and does not keep the process alive.
 */
const instances = new Map<string, GPU>();

const noDriver = { reason: 'no graphics driver (Vulkan, Metal or Direct3D 12) was found' };

/** Opens the fastest adapter, or returns the reason why there is none. */
export async function openDevice(
  options: DeviceOptions = {},
): Promise<{ readonly gpu: Gpu } | { readonly reason: string }> {
  const module = await loadWebGpu();
  if (module === undefined) return { reason: 'the optional package webgpu is not installed' };
  const backend = options.backend ?? '';
  if (backend !== 'null' && !hasVulkanDriver()) return noDriver;
  const instance =
    instances.get(backend) ?? module.create(backend === '' ? [] : [`backend=${backend}`]);
  instances.set(backend, instance);
  const adapter = await instance.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return noDriver;
  if (isSoftwareAdapter(adapter.info) && options.allowSoftwareAdapter !== true) {
    return { reason: `${describeAdapter(adapter.info)} runs on the processor` };
  }
  try {
    const device = await adapter.requestDevice(describeDevice(adapter));
    return { gpu: watch(device, adapter) };
  } catch (error) {
    return { reason: `the graphics device did not open: ${String(error)}` };
  }
}
