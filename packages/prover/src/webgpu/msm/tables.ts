/**
 * The points of one sum on the device: read from their source piece by piece, points at infinity left out (many wires of a circuit
 * have one in B), converted to the device's form, and followed by their precomputed multiples (msm-plan.ts).
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { affineBytes, coordinateVectors, type Group, sumBytes } from '../curve/curve-fields.ts';
import { createBindGroup, storageLimit } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import type { GroupKernels } from './msm-kernels.ts';
import type { WindowPlan } from './msm-plan.ts';
import { pointsPerInversion, tableWorkgroup } from './tables-wgsl.ts';

/**
 * Fills the beginning of `into` with points start … start+count-1 as a zkey has them: 64 bytes each in G1, 128 in G2, coordinates
 * times 2^256 mod q, little-endian; all zeros is infinity.
 */
export type ReadPoints = (start: number, count: number, into: Uint8Array) => Promise<void>;

/** Points that are read, converted or doubled at once. It limits memory, and the time of a dispatch to much less than any watchdog. */
const blockPoints = 1 << 16;

/** Points that are not infinity, on the host: their bytes in order, and the place of each. */
export type FinitePoints = { readonly bytes: Uint8Array; readonly indices: Uint32Array };

/** @throws errors of `read`, and the signal's reason */
export async function readFinitePoints(
  group: Group,
  count: number,
  read: ReadPoints,
  signal?: AbortSignal,
): Promise<FinitePoints> {
  const size = affineBytes(group);
  const words = size / 4;
  const bytes = new Uint8Array(count * size);
  const indices = new Uint32Array(count);
  const view = new Uint32Array(bytes.buffer);
  let kept = 0;
  for (let start = 0; start < count; start += blockPoints) {
    signal?.throwIfAborted();
    const length = Math.min(blockPoints, count - start);
    // Read to where the finite points end; those among the new ones are moved down over the infinite ones.
    await read(start, length, bytes.subarray(kept * size, (kept + length) * size));
    const first = kept;
    for (let k = 0; k < length; k++) {
      const from = (first + k) * words;
      let any = 0;
      for (let word = 0; word < words && any === 0; word++) any |= view[from + word] ?? 0;
      if (any === 0) continue;
      if (kept !== first + k) view.copyWithin(kept * words, from, from + words);
      indices[kept++] = start + k;
    }
  }
  return { bytes: bytes.subarray(0, kept * size), indices: indices.subarray(0, kept) };
}

export type TableOptions = {
  readonly gpu: Gpu;
  readonly buffers: Buffers;
  readonly kernels: GroupKernels;
  readonly plan: WindowPlan;
  /** Finite points as the file has them. */
  readonly bytes: Uint8Array;
  readonly signal?: AbortSignal | undefined;
};

/** Converts and multiplies. Resolves with the buffer of all tables when the device has finished. */
export async function buildTables(options: TableOptions): Promise<GPUBuffer> {
  const { gpu, buffers, kernels, plan, bytes, signal } = options;
  const { device } = gpu;
  const size = affineBytes(kernels.group);
  const count = bytes.byteLength / size;
  const block = Math.min(
    blockPoints,
    count,
    Math.floor(storageLimit(gpu) / sumBytes(kernels.group)),
  );
  const points = buffers.take(count * plan.tables * size, { label: 'points' });
  const raw = buffers.take(block * size, { label: 'points as read' });
  const sums = buffers.take(block * sumBytes(kernels.group), { label: 'multiples' });
  const products = buffers.take(block * 16 * coordinateVectors(kernels.group));
  const uniforms: GPUBuffer[] = [];

  const run = (
    steps: readonly (readonly [GPUComputePipeline, number])[],
    values: readonly number[],
  ): void => {
    const uniform = buffers.uniform(values);
    uniforms.push(uniform);
    const group = createBindGroup(
      gpu,
      kernels.tableBindings,
      [uniform, raw, points, sums, products].map((buffer, binding) => [binding, buffer] as const),
    );
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setBindGroup(0, group);
    for (const [pipeline, threads] of steps) {
      pass.setPipeline(pipeline);
      pass.dispatchWorkgroups(Math.ceil(threads / tableWorkgroup));
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  };

  try {
    const multiples = plan.tables > 1 ? await kernels.multiples() : undefined;
    for (let first = 0; first < count; first += block) {
      const length = Math.min(block, count - first);
      await gpu.guard(() => {
        buffers.write(raw, 0, bytes.subarray(first * size, (first + length) * size));
        run([[kernels.points.enter_points, length]], [first, length, 0, 0, 0]);
        if (multiples === undefined) return;
        for (let table = 1; table < plan.tables; table++) {
          run(
            [
              [multiples.double_points, length],
              [multiples.normalize_points, Math.ceil(length / pointsPerInversion)],
            ],
            [first, length, (table - 1) * count, table * count, plan.bits * plan.groups],
          );
        }
      });
      // One block at a time: the queue stays short, and an abort takes effect soon.
      await device.queue.onSubmittedWorkDone();
      gpu.assertHealthy();
      for (const uniform of uniforms.splice(0)) buffers.release(uniform);
      signal?.throwIfAborted();
    }
    return points;
  } catch (error) {
    buffers.release(points);
    throw error;
  } finally {
    for (const buffer of [raw, sums, products, ...uniforms]) buffers.release(buffer);
  }
}
