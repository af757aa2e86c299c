/**
 * Which graphics adapter the engine may use, and its name.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

/** Renderers that run on the processor: correct, but slower than the CPU engine. */
const software = /swiftshader|llvmpipe|lavapipe|software|basic render|warp/i;

/** Names of the card, and the driver's own description (`description`). */
export type AdapterIdentity = {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
};

export function identifyAdapter(info: GPUAdapterInfo): AdapterIdentity {
  return {
    vendor: info.vendor.trim(),
    architecture: info.architecture.trim(),
    device: info.device.trim(),
    description: info.description.trim(),
  };
}

/** The card and its driver, as far as their names are known. */
export function describeAdapter(info: GPUAdapterInfo): string {
  const { vendor, architecture, device, description } = identifyAdapter(info);
  const card = device === '' ? `${vendor} ${architecture}`.trim() : device;
  const parts = [card, description].filter((part) => part !== '');
  return parts.length === 0 ? 'unnamed adapter' : parts.join(', ');
}

export function isSoftwareAdapter(info: GPUAdapterInfo): boolean {
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

export function describeDevice(adapter: GPUAdapter): GPUDeviceDescriptor {
  return {
    requiredLimits: Object.fromEntries(wantedLimits.map((name) => [name, adapter.limits[name]])),
    requiredFeatures: wantedFeatures.filter((name) => adapter.features.has(name)),
  };
}
