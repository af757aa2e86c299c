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
const BUCKET_ENTRIES = ['sum_segments', 'add_parts', 'weigh_chunks'] as const;
const POINT_ENTRIES = ['enter_points'] as const;
const MULTIPLE_ENTRIES = ['double_points', 'normalize_points'] as const;

type Named<Name extends string> = Readonly<Record<Name, GPUComputePipeline>>;

export type GroupKernels = {
  readonly group: Group;
  /** Layout of group 0 of the kernels below. */
  readonly bindings: GPUBindGroupLayout;
  readonly tableBindings: GPUBindGroupLayout;
  readonly sort: Named<(typeof DIGIT_ENTRIES)[number] | (typeof PLACE_ENTRIES)[number]>;
  readonly buckets: Named<(typeof BUCKET_ENTRIES)[number]>;
  readonly points: Named<(typeof POINT_ENTRIES)[number]>;
  /** Compiles on the first call: a key without ready multiples does without. */
  readonly multiples: () => Promise<Named<(typeof MULTIPLE_ENTRIES)[number]>>;
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
    const tables = generateTables(group, layout);
    const [sorting, buckets, points] = await Promise.all([
      sort,
      compile(generateBuckets(group, layout), BUCKET_ENTRIES, bindings),
      compile(tables, POINT_ENTRIES, tableBindings),
    ]);
    let multiples: ReturnType<GroupKernels['multiples']> | undefined;
    return {
      group,
      bindings,
      tableBindings,
      sort: sorting,
      buckets,
      points,
      multiples: () => {
        multiples ??= gpu.guard(() => compile(tables, MULTIPLE_ENTRIES, tableBindings));
        return multiples;
      },
    };
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
