/**
 * The bindings that the kernels of a multi-scalar multiplication share: one bind group for all of them, so that a sum needs a single one,
 * and its pipelines one layout. Eight storage buffers, which every WebGPU device has.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

/** Fields of the uniform `params`, in order, one u32 each. */
export const msmParams = [
  /** Points that are not infinity. */
  'points',
  /** `WindowPlan`: width of a digit, digits of a scalar, groups, buckets of a group. */
  'bits',
  'windows',
  'groups',
  'buckets',
  /** groups * buckets. */
  'keys',
  /** Entries that one thread sums: minimum and maximum. */
  'segment_least',
  'segment_most',
  /** Number of threads that fills a device. */
  'segments_wanted',
  /** Maximum number of segments, a power of two. */
  'segment_room',
  /** Segments of one dispatch, and how many dispatches. */
  'slice_segments',
  'slices',
  /** Buckets that one thread weighs, a power of two; its exponent. */
  'chunk',
  'chunk_bits',
] as const;

export type MsmParams = Readonly<Record<(typeof msmParams)[number], number>>;

/** Fields of the uniform `stage`, which differs between dispatches. */
export const stageFields = ['kind', 'first', 'level', 'count', 'source'] as const;
/** Bytes of it, padded. */
export const stageBytes = 32;
/** Kinds of `add_parts`: which parts are added, and where the sum goes. */
export const joinSegments = 0;
export const joinBuckets = 1;
export const mergeChunks = 2;

/** Words of the buffer `plan`: values that a sum computes on the device. */
export const planEntries = 0;
export const planSegment = 1;
export const planSegments = 2;
/** Three words for each slice: arguments of its indirect dispatch. */
export const planSlices = 4;
export const mostSlices = 64;
/** Sums of the blocks of keys, for the running totals. */
export const planBlocks = planSlices + 3 * mostSlices;
export const mostBlocks = 2048;
export const planWords = planBlocks + mostBlocks;

function struct(name: string, fields: readonly string[]): string {
  return `struct ${name} {\n${fields.map((field) => `  ${field}: u32,`).join('\n')}\n}`;
}

export const msmBindings = {
  params: `${struct('Params', msmParams)}
@group(0) @binding(0) var<uniform> params: Params;`,
  stage: `${struct('Stage', stageFields)}
@group(0) @binding(1) var<uniform> stage: Stage;`,
  /** Eight words each, below r. */
  scalars: '@group(0) @binding(2) var<storage, read> scalars: array<u32>;',
  /** Scalar of each point. */
  indices: '@group(0) @binding(3) var<storage, read> indices: array<u32>;',
  /** Affine points, table after table. */
  points: '@group(0) @binding(4) var<storage, read> points: array<vec4<u32>>;',
  /** One word per bucket: its count, then its first free place among the entries, at last its end. */
  atomicKeys: '@group(0) @binding(5) var<storage, read_write> keys: array<atomic<u32>>;',
  keys: '@group(0) @binding(5) var<storage, read_write> keys: array<u32>;',
  /** Bucket and point (twice its place, plus one to subtract it), by bucket. */
  entries: '@group(0) @binding(6) var<storage, read_write> entries: array<vec2<u32>>;',
  /** Sum of each bucket. */
  buckets: '@group(0) @binding(7) var<storage, read_write> buckets: array<vec4<u32>>;',
  /** Sums of parts of buckets, later of weighted chunks. */
  parts: '@group(0) @binding(8) var<storage, read_write> parts: array<vec4<u32>>;',
  plan: '@group(0) @binding(9) var<storage, read_write> plan: array<u32>;',
} as const;

/** GPUShaderStage.COMPUTE of the specification; Dawn for Node has no globals. */
export const computeStage = 4;

/** Binding number and kind of everything above. */
export const msmLayout: readonly GPUBindGroupLayoutEntry[] = [
  { binding: 0, visibility: computeStage, buffer: { type: 'uniform' } },
  { binding: 1, visibility: computeStage, buffer: { type: 'uniform', hasDynamicOffset: true } },
  ...[2, 3, 4].map((binding) => ({
    binding,
    visibility: computeStage,
    buffer: { type: 'read-only-storage' as const },
  })),
  ...[5, 6, 7, 8, 9].map((binding) => ({
    binding,
    visibility: computeStage,
    buffer: { type: 'storage' as const },
  })),
];
