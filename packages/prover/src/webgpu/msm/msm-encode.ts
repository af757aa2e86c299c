/**
 * Records the dispatches of one part of a sum: digits, sorting, segments, buckets, weights.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { createBindGroup } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import { bucketWorkgroup } from './buckets-wgsl.ts';
import {
  joinBuckets,
  joinSegments,
  mergeChunks,
  planSlices,
  stageBytes,
  stageFields,
} from './msm-bindings.ts';
import type { GroupKernels } from './msm-kernels.ts';
import type { PartPlan } from './msm-plan.ts';
import type { MsmWorkspace, WorkspaceBuffers } from './msm-workspace.ts';
import { keysPerBlock } from './sort-wgsl.ts';
import { digitWorkgroup } from './windows-wgsl.ts';

// The dispatches of one sum that read their own uniform (`stage`, msm-bindings.ts), in order. Pure, except for the upload.

/** Uniform offsets are multiples of this on every device. */
const stageStride = 256;

/** count: threads. */
type Stage = Partial<Readonly<Record<(typeof stageFields)[number], number>>> & {
  readonly count: number;
};

type Stages = {
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

/** A part of the points, on the device. */
export type MsmPart = {
  readonly plan: PartPlan;
  readonly stages: Stages;
  readonly params: GPUBuffer;
  readonly stageValues: GPUBuffer;
  readonly indices: GPUBuffer;
  readonly points: GPUBuffer;
  /** The last binding. */
  bound:
    | { readonly scalars: GPUBuffer; readonly held: WorkspaceBuffers; readonly group: GPUBindGroup }
    | undefined;
};

export type EncodeContext = { readonly gpu: Gpu; readonly workspace: MsmWorkspace };

function bindPart(
  { gpu, workspace }: EncodeContext,
  kernels: GroupKernels,
  part: MsmPart,
  scalars: GPUBuffer,
): GPUBindGroup {
  const held = workspace.buffers();
  if (part.bound?.scalars === scalars && part.bound.held === held) return part.bound.group;
  const { keys, entries, buckets, parts, plan } = held;
  const buffers = [scalars, part.indices, part.points, keys, entries, buckets, parts, plan];
  const group = createBindGroup(gpu, kernels.bindings, [
    [0, part.params],
    [1, { buffer: part.stageValues, size: stageBytes }],
    ...buffers.map((buffer, k) => [k + 2, buffer] as const),
  ]);
  part.bound = { scalars, held, group };
  return group;
}

/** Leaves the sums of the groups in `parts` of the workspace, from `stages.resultNode` on. */
export function encodePart(
  context: EncodeContext,
  kernels: GroupKernels,
  part: MsmPart,
  encoder: GPUCommandEncoder,
  scalars: GPUBuffer,
): void {
  const group = bindPart(context, kernels, part, scalars);
  const held = context.workspace.buffers();
  const { stages } = part;
  const { params } = part.plan;
  const { sort, buckets } = kernels;
  const blocks = Math.ceil(params.keys / keysPerBlock);
  const digits = Math.ceil(params.points / digitWorkgroup);

  encoder.clearBuffer(held.keys, 0, 4 * params.keys);
  let pass = encoder.beginComputePass();
  let stageIndex = 0;
  const use = (pipeline: GPUComputePipeline, stage: number): void => {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group, [stage * stageStride]);
  };
  const run = (pipeline: GPUComputePipeline, workgroups: number): void => {
    use(pipeline, 0);
    pass.dispatchWorkgroups(workgroups);
  };
  const runStage = (pipeline: GPUComputePipeline, { count }: Stage): void => {
    use(pipeline, stageIndex++);
    pass.dispatchWorkgroups(Math.ceil(count / bucketWorkgroup));
  };
  run(sort.count_digits, digits);
  run(sort.total_blocks, blocks);
  run(sort.plan_segments, 1);
  run(sort.place_keys, blocks);
  run(sort.scatter_digits, digits);
  pass.end();
  // A buffer cannot be both the size argument of a dispatch and bound in it.
  encoder.copyBufferToBuffer(held.plan, 4 * planSlices, held.indirect, 0, 12 * params.slices);
  pass = encoder.beginComputePass();
  stages.slices.forEach((_, slice) => {
    use(buckets.sum_segments, stageIndex++);
    pass.dispatchWorkgroupsIndirect(held.indirect, 12 * slice);
  });
  for (const join of stages.joins) runStage(buckets.add_parts, join);
  runStage(buckets.weigh_chunks, stages.weigh);
  for (const merge of stages.merges) runStage(buckets.add_parts, merge);
  pass.end();
}
