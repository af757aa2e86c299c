/**
 * A device whose limits are lower than those of the adapter behind it. Every WebGPU device has at least the default limits (128 MiB per binding),
 * which small circuits do not reach. So this device checks the lower limits and reports a violation as Dawn does: as a validation error in
 * the open scope, or not at all.
 */
/// <reference types="@webgpu/types" />
import type { Gpu } from '../src/webgpu/device/device.ts';

export type LowLimits = {
  readonly maxStorageBufferBindingSize?: number;
  readonly maxBufferSize?: number;
};

const uniform = 0x0040;
/** Usages that no buffer can combine: making one is an error. */
const impossibleUsage = 0x0082;

export function limitGpu(gpu: Gpu, limits: LowLimits): Gpu {
  const { device } = gpu;
  const lowered = new Proxy(device.limits, {
    get: (target, name) => Reflect.get(limits, name) ?? Reflect.get(target, name, target),
  });
  const breach = (): void => {
    device.createBuffer({ size: 16, usage: impossibleUsage });
  };
  const createBindGroup: GPUDevice['createBindGroup'] = (descriptor) => {
    for (const { resource } of descriptor.entries) {
      if (!('buffer' in resource)) continue;
      const { buffer, offset = 0, size = buffer.size - offset } = resource;
      if ((buffer.usage & uniform) === 0 && size > lowered.maxStorageBufferBindingSize) breach();
    }
    return device.createBindGroup(descriptor);
  };
  const createBuffer: GPUDevice['createBuffer'] = (descriptor) => {
    if (descriptor.size > lowered.maxBufferSize) breach();
    return device.createBuffer(descriptor);
  };
  const replaced: Readonly<Record<string, unknown>> = {
    limits: lowered,
    createBindGroup,
    createBuffer,
  };
  const limited = new Proxy(device, {
    get: (target, name) => {
      if (typeof name === 'string' && name in replaced) return replaced[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...gpu, device: limited };
}
