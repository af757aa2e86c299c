/**
 * Which graphics adapter the engine may use, and how it is called.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

/** Renderers that run on the processor: right, but slower than the CPU engine. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render|warp/i;

export const describeAdapter = (info: GPUAdapterInfo): string => {
  const parts = [info.description, info.device, `${info.vendor} ${info.architecture}`];
  return parts.map((part) => part.trim()).find((part) => part !== '') ?? 'unnamed adapter';
};

export const isSoftwareAdapter = (info: GPUAdapterInfo): boolean =>
  info.isFallbackAdapter ||
  SOFTWARE.test(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`);

/** Limits that the engine asks for at the adapter's maximum: the defaults are for phones. */
const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupsPerDimension',
] as const;

const WANTED_FEATURES = ['subgroups', 'timestamp-query'] as const;

export const describeDevice = (adapter: GPUAdapter): GPUDeviceDescriptor => ({
  requiredLimits: Object.fromEntries(WANTED_LIMITS.map((name) => [name, adapter.limits[name]])),
  requiredFeatures: WANTED_FEATURES.filter((name) => adapter.features.has(name)),
});
