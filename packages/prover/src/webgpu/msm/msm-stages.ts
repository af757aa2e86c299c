/**
 * The dispatches of one sum that read their own uniform (`stage`, msm-bindings.ts), in order. Pure, except for the upload.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import type { Buffers } from '../device/buffers.ts';
import { joinBuckets, joinSegments, mergeChunks, stageFields } from './msm-bindings.ts';
import type { PartPlan } from './msm-plan.ts';

/** Uniform offsets are multiples of this on every device. */
export const stageStride = 256;

/** count: threads. */
export type Stage = Partial<Readonly<Record<(typeof stageFields)[number], number>>> & {
  readonly count: number;
};

export type Stages = {
  readonly slices: readonly Stage[];
  /** Parts of buckets, level by level, and then the buckets. */
  readonly joins: readonly Stage[];
  readonly weigh: Stage;
  readonly merges: readonly Stage[];
  /** Where the last merge leaves the sums of the groups, in `parts`. */
  readonly resultNode: number;
};

export function listStages({ params }: PartPlan): Stages {
  const slices = Array.from({ length: params.slices }, (_, slice) => ({
    first: slice * params.slice_segments,
    count: params.slice_segments,
  }));
  const joins: readonly Stage[] = Array.from(
    { length: Math.log2(params.segment_room) },
    (_, k) => ({ kind: joinSegments, level: k + 1, count: params.segment_room >> (k + 1) }),
  );
  let count = params.keys / params.chunk;
  let first = 0;
  const weigh = { first, count };
  const merges: Stage[] = [];
  while (count > params.groups) {
    const source = first;
    first += 2 * count;
    // The number of sums of each kind equals the number of pairs, so the number of threads equals the earlier number of sums of a kind.
    merges.push({ kind: mergeChunks, first, source, count });
    count /= 2;
  }
  return {
    slices,
    joins: [...joins, { kind: joinBuckets, count: params.keys }],
    weigh,
    merges,
    resultNode: first,
  };
}

/** All stages one after the other, stageStride apart. */
export function uploadStages(
  buffers: Buffers,
  { slices, joins, weigh, merges }: Stages,
): GPUBuffer {
  const stages: readonly Stage[] = [...slices, ...joins, weigh, ...merges];
  const values = new Array<number>((stages.length * stageStride) / 4).fill(0);
  stages.forEach((stage, index) => {
    stageFields.forEach((field, k) => {
      values[(index * stageStride) / 4 + k] = stage[field] ?? 0;
    });
  });
  return buffers.uniform(values);
}
