/**
 * Bind groups: what a shader reads and writes. Each binding is compared with the device's limits before it is made. A binding that is too
 * large causes a specific error. The driver would report it late, as an error of work that never ran.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { ProverError } from '../../base/errors.ts';
import type { Gpu } from './device.ts';

/** A buffer, or a part of one; offsets are multiples of bindingAlignment. */
export type Bound =
  | GPUBuffer
  | { readonly buffer: GPUBuffer; readonly offset?: number; readonly size: number };

/** Every device accepts offsets that are multiples of this. */
export const bindingAlignment = 256;

/** GPUBufferUsage.UNIFORM of the WebGPU specification; Dawn for Node has no globals. */
const uniform = 0x0040;

export function limitError(what: string, bytes: number, limit: number): ProverError {
  return new ProverError(
    'accelerator_limit_exceeded',
    `${what} needs ${bytes} bytes in one piece and the graphics device takes ${limit}. Choose the accelerator auto or cpu for this circuit.`,
  );
}

/** Bytes that one storage binding, and the buffer behind it, may have at most. */
export function storageLimit({ device }: Gpu): number {
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const least = Math.min(maxStorageBufferBindingSize, maxBufferSize);
  return least - (least % bindingAlignment);
}

function assertBound({ device }: Gpu, buffer: GPUBuffer, offset: number, size: number): void {
  const { maxUniformBufferBindingSize, maxStorageBufferBindingSize } = device.limits;
  const isUniform = (buffer.usage & uniform) !== 0;
  const limit = isUniform ? maxUniformBufferBindingSize : maxStorageBufferBindingSize;
  if (size > limit) throw limitError(`a binding of ${buffer.label || 'a buffer'}`, size, limit);
  if (size <= 0 || offset % bindingAlignment !== 0 || offset + size > buffer.size) {
    throw new RangeError(`${buffer.label} has no ${size} bytes at ${offset} that can be bound`);
  }
}

/**
 * A bind group of numbered bindings. The only place that makes one.
 * @throws ProverError `accelerator_limit_exceeded`
 */
export function createBindGroup(
  gpu: Gpu,
  layout: GPUBindGroupLayout,
  bindings: readonly (readonly [binding: number, bound: Bound])[],
): GPUBindGroup {
  return gpu.device.createBindGroup({
    layout,
    entries: bindings.map(([binding, bound]) => {
      const part = 'buffer' in bound ? bound : { buffer: bound, size: bound.size };
      const { buffer, size, offset = 0 } = part;
      assertBound(gpu, buffer, offset, size);
      return { binding, resource: { buffer, offset, size } };
    }),
  });
}

/** Bindings 0, 1, 2 … of group 0, in the order given. */
export function bind(
  gpu: Gpu,
  pipeline: GPUComputePipeline,
  buffers: readonly Bound[],
): GPUBindGroup {
  return createBindGroup(
    gpu,
    pipeline.getBindGroupLayout(0),
    buffers.map((bound, binding) => [binding, bound] as const),
  );
}
