/**
 * Records the dispatches of one part of a sum: digits, sorting, segments, buckets, weights.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { createBindGroup } from '../device/bindings.ts';
import type { Gpu } from '../device/device.ts';
import { bucketWorkgroup } from './buckets-wgsl.ts';
import { planSlices, stageBytes } from './msm-bindings.ts';
import type { GroupKernels } from './msm-kernels.ts';
import type { PartPlan } from './msm-plan.ts';
import { type Stage, type Stages, stageStride } from './msm-stages.ts';
import type { MsmWorkspace, WorkspaceBuffers } from './msm-workspace.ts';
import { keysPerBlock } from './sort-wgsl.ts';
import { digitWorkgroup } from './windows-wgsl.ts';

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
