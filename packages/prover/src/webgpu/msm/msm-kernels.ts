/**
 * The pipelines of multi-scalar multiplications on one device, compiled once for all keys. They share one layout of bindings, which
 * lets a sum use a single bind group (msm-bindings.ts).
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import type { Group } from '../curve/curve-fields.ts';
import type { Gpu } from '../device/device.ts';
import type { LimbLayout } from '../field/limbs.ts';
import { generateBuckets } from './buckets-wgsl.ts';
import { msmLayout } from './msm-bindings.ts';
import { sortWgsl } from './sort-wgsl.ts';
import { generateTables, tableLayout } from './tables-wgsl.ts';
import { digitsWgsl } from './windows-wgsl.ts';

const digitEntries = ['count_digits', 'scatter_digits'] as const;
const placeEntries = ['total_blocks', 'plan_segments', 'place_keys'] as const;
const bucketEntries = ['sum_segments', 'add_parts', 'weigh_chunks'] as const;
const pointEntries = ['enter_points'] as const;
const multipleEntries = ['double_points', 'normalize_points'] as const;

type Named<Name extends string> = Readonly<Record<Name, GPUComputePipeline>>;

export type GroupKernels = {
  readonly group: Group;
  /** Layout of group 0 of the kernels below. */
  readonly bindings: GPUBindGroupLayout;
  readonly tableBindings: GPUBindGroupLayout;
  readonly sort: Named<(typeof digitEntries)[number] | (typeof placeEntries)[number]>;
  readonly buckets: Named<(typeof bucketEntries)[number]>;
  readonly points: Named<(typeof pointEntries)[number]>;
  /** Compiles on the first call: a key without precomputed multiples does not need it. */
  readonly multiples: () => Promise<Named<(typeof multipleEntries)[number]>>;
};

export type MsmKernels = {
  readonly layout: LimbLayout;
  /** Compiles on the first call for a group. */
  readonly of: (group: Group) => Promise<GroupKernels>;
};

export function createMsmKernels(gpu: Gpu, layout: LimbLayout): MsmKernels {
  const { device } = gpu;
  const bindings = device.createBindGroupLayout({ label: 'msm', entries: [...msmLayout] });
  const tableBindings = device.createBindGroupLayout({
    label: 'tables',
    entries: [...tableLayout],
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
      compile(digitsWgsl, digitEntries, bindings),
      compile(sortWgsl, placeEntries, bindings),
    ]).then(([digits, places]) => ({ ...digits, ...places }));
    const tables = generateTables(group, layout);
    const [sorting, buckets, points] = await Promise.all([
      sort,
      compile(generateBuckets(group, layout), bucketEntries, bindings),
      compile(tables, pointEntries, tableBindings),
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
        multiples ??= gpu.guard(() => compile(tables, multipleEntries, tableBindings));
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
}
