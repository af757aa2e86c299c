/**
 * The pipelines of multi-scalar multiplications on one device, compiled once for all keys. They share one layout of bindings, which
 * lets a sum make do with a single bind group (msm-bindings.ts).
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { generateBuckets } from './buckets-wgsl.ts';
import type { Group } from './curve-fields.ts';
import type { Gpu } from './device.ts';
import type { LimbLayout } from './limbs.ts';
import { MSM_LAYOUT } from './msm-bindings.ts';
import { SORT_WGSL } from './sort-wgsl.ts';
import { generateTables, TABLE_LAYOUT } from './tables-wgsl.ts';
import { DIGITS_WGSL } from './windows-wgsl.ts';

const DIGIT_ENTRIES = ['count_digits', 'scatter_digits'] as const;
const PLACE_ENTRIES = ['total_blocks', 'plan_segments', 'place_keys'] as const;
const BUCKET_ENTRIES = [
  'sum_segments',
  'join_segments',
  'join_buckets',
  'weigh_chunks',
  'merge_chunks',
] as const;
const TABLE_ENTRIES = ['enter_points', 'double_points', 'normalize_points'] as const;

type Named<Name extends string> = Readonly<Record<Name, GPUComputePipeline>>;

export type GroupKernels = {
  readonly group: Group;
  /** Layout of group 0 of the kernels below. */
  readonly bindings: GPUBindGroupLayout;
  readonly tableBindings: GPUBindGroupLayout;
  readonly sort: Named<(typeof DIGIT_ENTRIES)[number] | (typeof PLACE_ENTRIES)[number]>;
  readonly buckets: Named<(typeof BUCKET_ENTRIES)[number]>;
  readonly tables: Named<(typeof TABLE_ENTRIES)[number]>;
};

export type MsmKernels = {
  readonly layout: LimbLayout;
  /** Compiles on the first call for a group. */
  readonly of: (group: Group) => Promise<GroupKernels>;
};

export const createMsmKernels = (gpu: Gpu, layout: LimbLayout): MsmKernels => {
  const { device } = gpu;
  const bindings = device.createBindGroupLayout({ label: 'msm', entries: [...MSM_LAYOUT] });
  const tableBindings = device.createBindGroupLayout({
    label: 'tables',
    entries: [...TABLE_LAYOUT],
  });

  const compile = async <Name extends string>(
    code: string,
    names: readonly Name[],
    layoutOfGroup: GPUBindGroupLayout,
  ): Promise<Named<Name>> => {
    const module = device.createShaderModule({ code });
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layoutOfGroup] });
    const compiled = await Promise.all(
      names.map(async (entryPoint) => [
        entryPoint,
        await device.createComputePipelineAsync({
          label: entryPoint,
          layout: pipelineLayout,
          compute: { module, entryPoint },
        }),
      ]),
    );
    return Object.fromEntries(compiled) as Named<Name>;
  };

  let sort: Promise<GroupKernels['sort']> | undefined;
  const groups = new Map<Group, Promise<GroupKernels>>();
  const compileGroup = async (group: Group): Promise<GroupKernels> => {
    sort ??= Promise.all([
      compile(DIGITS_WGSL, DIGIT_ENTRIES, bindings),
      compile(SORT_WGSL, PLACE_ENTRIES, bindings),
    ]).then(([digits, places]) => ({ ...digits, ...places }));
    const [sorting, buckets, tables] = await Promise.all([
      sort,
      compile(generateBuckets(group, layout), BUCKET_ENTRIES, bindings),
      compile(generateTables(group, layout), TABLE_ENTRIES, tableBindings),
    ]);
    return { group, bindings, tableBindings, sort: sorting, buckets, tables };
  };
  return {
    layout,
    of: (group) => {
      const known = groups.get(group) ?? gpu.guard(() => compileGroup(group));
      groups.set(group, known);
      return known;
    },
  };
};
