/**
 * Device memory: made, counted, reused and wiped.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { limitError } from './bindings.ts';
import type { Gpu } from './device.ts';

/** GPUBufferUsage and GPUMapMode of the WebGPU specification; Dawn for Node has no globals. */
const bufferUsage = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyTarget: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
  indirect: 0x0100,
  queryResolve: 0x0200,
} as const;
const mapModeRead = 1;

const { storage, copySource, copyTarget, mapRead, uniform, indirect } = bufferUsage;

export type BufferOptions = {
  readonly label?: string;
  /** May also hold the arguments of an indirect dispatch. */
  readonly indirect?: boolean;
};

/** Memory of one device. Buffers are returned with `release`; `clear` wipes those that held a secret. */
export type Buffers = {
  /** Bytes that are in use now. */
  readonly bytesInUse: () => number;
  /** A storage buffer of at least `bytes` (rounded up to a multiple of 4); contents zero on the first use, else undefined. */
  readonly take: (bytes: number, options?: BufferOptions) => GPUBuffer;
  /** Storage buffer filled from the host. */
  readonly upload: (data: ArrayBufferView, options?: BufferOptions) => GPUBuffer;
  /** Uniform buffer of u32 values, padded to 16 bytes. */
  readonly uniform: (values: readonly number[]) => GPUBuffer;
  readonly write: (buffer: GPUBuffer, offset: number, data: ArrayBufferView) => void;
  /** Copies device memory to the host. Waits for all work submitted before. */
  readonly read: (buffer: GPUBuffer, offset: number, bytes: number) => Promise<Uint8Array>;
  /** Overwrites with zeros, after all work submitted before. */
  readonly clear: (buffer: GPUBuffer) => void;
  /** Returns a buffer; `secret` wipes it first. Does nothing for a buffer that was already returned. */
  readonly release: (buffer: GPUBuffer, options?: { readonly secret?: boolean }) => void;
};

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}

export function createBuffers(gpu: Gpu): Buffers {
  const { device } = gpu;
  const taken = new Set<GPUBuffer>();
  let bytesInUse = 0;

  const make = (bytes: number, usage: number, label: string): GPUBuffer => {
    gpu.assertHealthy();
    const size = Math.max(16, roundUp(bytes, 4));
    if (size > device.limits.maxBufferSize) {
      throw limitError(label || 'a buffer', size, device.limits.maxBufferSize);
    }
    const buffer = gpu.allocate(() => device.createBuffer({ size, usage, label }));
    taken.add(buffer);
    bytesInUse += size;
    return buffer;
  };
  const write = (buffer: GPUBuffer, offset: number, data: ArrayBufferView): void => {
    device.queue.writeBuffer(buffer, offset, data.buffer, data.byteOffset, data.byteLength);
  };
  const clear = (buffer: GPUBuffer): void => {
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(buffer);
    device.queue.submit([encoder.finish()]);
  };
  const take = (bytes: number, options: BufferOptions = {}): GPUBuffer =>
    make(
      bytes,
      storage | copySource | copyTarget | (options.indirect === true ? indirect : 0),
      options.label ?? '',
    );

  return {
    bytesInUse: () => bytesInUse,
    take,
    upload: (data, options) => {
      const buffer = take(data.byteLength, options);
      write(buffer, 0, data);
      return buffer;
    },
    uniform: (values) => {
      const buffer = make(roundUp(values.length * 4, 16), uniform | copyTarget, 'uniform');
      write(buffer, 0, Uint32Array.from(values));
      return buffer;
    },
    write,
    read: async (buffer, offset, bytes) => {
      const staging = device.createBuffer({
        size: Math.max(16, roundUp(bytes, 4)),
        usage: mapRead | copyTarget,
      });
      try {
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(buffer, offset, staging, 0, roundUp(bytes, 4));
        device.queue.submit([encoder.finish()]);
        await staging.mapAsync(mapModeRead);
        gpu.assertHealthy();
        return new Uint8Array(staging.getMappedRange().slice(0, bytes));
      } catch (error) {
        // A lost device rejects the mapping with its own message, but the caller must learn that it is lost.
        throw await gpu.explain(error);
      } finally {
        staging.destroy();
      }
    },
    clear,
    release: (buffer, options = {}) => {
      if (!taken.delete(buffer)) return;
      bytesInUse -= buffer.size;
      if (options.secret === true) clear(buffer);
      buffer.destroy();
    },
  };
}
