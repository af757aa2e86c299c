/**
 * The graphics device that an engine runs on: found, opened, watched and closed. In a browser it is the browser's own. Elsewhere the
 * package `webgpu` (Dawn) is optional and loaded on the first call only.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { findBuiltin } from '@pool/kernels';
import { ProverError } from '../../base/errors.ts';
import { type Machine, thisMachine } from './config.ts';

// Whether this machine has a Vulkan driver, without asking Dawn: where there is none, Dawn writes a trace of its own source to the
// output of the command.

/**
 * Looks for manifests of drivers where the Vulkan loader does ("Driver Discovery" of its documents). Always true on macOS and Windows,
 * where Dawn uses Metal and Direct3D 12.
 */
export function hasVulkanDriver({ platform, environment }: Machine = thisMachine): boolean {
  if (platform === 'darwin' || platform === 'win32') {
    return true;
  }
  const named = [...list(environment['VK_DRIVER_FILES']), ...list(environment['VK_ICD_FILENAMES'])];
  // The loader looks nowhere else if drivers are named.
  const places = named.length > 0 ? named : searchFolders(environment);
  return [...places, ...list(environment['VK_ADD_DRIVER_FILES'])].some(holdsManifest);
}

/** Paths of Linux: the other systems have returned before. */
function searchFolders(environment: Machine['environment']): readonly string[] {
  const home = environment['HOME'] ?? '';
  return [
    ...list(environment['XDG_CONFIG_HOME'] ?? `${home}/.config`),
    ...list(environment['XDG_CONFIG_DIRS'] ?? '/etc/xdg'),
    '/etc',
    '/usr/local/etc',
    ...list(environment['XDG_DATA_HOME'] ?? `${home}/.local/share`),
    ...list(environment['XDG_DATA_DIRS'] ?? '/usr/local/share:/usr/share'),
    // NixOS.
    '/run/opengl-driver/share',
  ].map((folder) => `${folder}/vulkan/icd.d`);
}

function list(paths: string | undefined): readonly string[] {
  return (paths ?? '').split(':').filter((path) => path !== '');
}

/** A manifest, or a folder with at least one. */
function holdsManifest(path: string): boolean {
  const files = findBuiltin('node:fs');
  try {
    return files?.statSync(path).isDirectory()
      ? files.readdirSync(path).some((name) => name.endsWith('.json'))
      : files !== undefined;
  } catch {
    return false;
  }
}

// Which graphics adapter the engine may use, and its name.

/** Renderers that run on the processor: correct, but slower than the CPU engine. */
const software = /swiftshader|llvmpipe|lavapipe|software|basic render|warp/i;

/** Names of the card, and the driver's own description (`description`). */
type AdapterIdentity = {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
};

function identifyAdapter(info: GPUAdapterInfo): AdapterIdentity {
  return {
    vendor: info.vendor.trim(),
    architecture: info.architecture.trim(),
    device: info.device.trim(),
    description: info.description.trim(),
  };
}

/** The card and its driver, as far as their names are known. */
function describeAdapter(info: GPUAdapterInfo): string {
  const { vendor, architecture, device, description } = identifyAdapter(info);
  const card = device === '' ? `${vendor} ${architecture}`.trim() : device;
  const parts = [card, description].filter((part) => part !== '');
  return parts.length === 0 ? 'unnamed adapter' : parts.join(', ');
}

function isSoftwareAdapter(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter ||
    software.test(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`)
  );
}

/** Limits that the engine asks for at the adapter's maximum: the defaults are for phones. */
const wantedLimits = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupsPerDimension',
] as const;

const wantedFeatures = ['subgroups', 'timestamp-query'] as const;

function describeDevice(adapter: GPUAdapter): GPUDeviceDescriptor {
  return {
    requiredLimits: Object.fromEntries(wantedLimits.map((name) => [name, adapter.limits[name]])),
    requiredFeatures: wantedFeatures.filter((name) => adapter.features.has(name)),
  };
}

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

/** In a variable and with these comments, so that no bundler looks for the optional package. */
const packageName = 'webgpu';

async function loadWebGpu(): Promise<WebGpuModule | undefined> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ packageName)) as WebGpuModule;
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
      await Promise.race([lost, new Promise((resolve) => setTimeout(resolve, lossReportMs))]);
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

/** WebGPU of the browser, or of Dawn. A reason where there is none. */
async function findInstance(backend: string): Promise<GPU | string> {
  if (thisMachine.platform === undefined) {
    const { gpu } = navigator as { readonly gpu?: GPU };
    return gpu ?? 'this browser has no WebGPU here';
  }
  const module = await loadWebGpu();
  if (module === undefined) return 'the optional package webgpu is not installed';
  if (backend !== 'null' && !hasVulkanDriver()) return noDriver.reason;
  const instance =
    instances.get(backend) ?? module.create(backend === '' ? [] : [`backend=${backend}`]);
  instances.set(backend, instance);
  return instance;
}

/** Opens the fastest adapter, or returns the reason why there is none. */
export async function openDevice(
  options: DeviceOptions = {},
): Promise<{ readonly gpu: Gpu } | { readonly reason: string }> {
  const instance = await findInstance(options.backend ?? '');
  if (typeof instance === 'string') return { reason: instance };
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
