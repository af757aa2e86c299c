/**
 * WGSL that prepares the points of a sum once, when a key is loaded: from the form of the file to that of the device, and the precomputed
 * multiples 2^(k t) P.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { type Group, generateAccess, generateCoordinates } from '../curve/curve-fields.ts';
import { pointsWgsl } from '../curve/curve-points.ts';
import type { LimbLayout } from '../field/limbs.ts';
import { computeStage } from './msm-bindings.ts';

/** Binding number and kind of what the kernels below use. */
export const tableLayout: readonly GPUBindGroupLayoutEntry[] = [
  { binding: 0, visibility: computeStage, buffer: { type: 'uniform' } },
  { binding: 1, visibility: computeStage, buffer: { type: 'read-only-storage' } },
  ...[2, 3, 4].map((binding) => ({
    binding,
    visibility: computeStage,
    buffer: { type: 'storage' as const },
  })),
];

export const tableWorkgroup = 64;
/** Points whose inversions one thread shares. */
export const pointsPerInversion = 16;

const kernels = `
struct Block {
  // First point of the block in its table, and how many there are.
  first: u32,
  count: u32,
  // Place of the table read and of the table written.
  source: u32,
  target_table: u32,
  doublings: u32,
}
@group(0) @binding(0) var<uniform> block: Block;
@group(0) @binding(1) var<storage, read> raw: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> points: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> products: array<vec4<u32>>;
`;

const steps = `
// Points as a zkey has them: coordinates times 2^256.
@compute @workgroup_size(${tableWorkgroup})
fn enter_points(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= block.count) { return; }
  let point = raw_affine(id.x);
  points_store_affine(block.target_table + block.first + id.x, Affine(f_enter(point.x), f_enter(point.y)));
}

@compute @workgroup_size(${tableWorkgroup})
fn double_points(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= block.count) { return; }
  var sum = sum_of_affine(points_affine(block.source + block.first + id.x));
  for (var k = 0u; k < block.doublings; k++) { sum = sum_double(sum); }
  sums_store_sum(id.x, sum);
}

// Montgomery's trick: one inversion for the ZZZ of several points. A point that is not on the curve can bring a zero; it is left
// out, so that it spoils nothing but itself.
@compute @workgroup_size(${tableWorkgroup})
fn normalize_points(@builtin(global_invocation_id) id: vec3<u32>) {
  let stride = (block.count + ${pointsPerInversion - 1}u) / ${pointsPerInversion}u;
  if (id.x >= stride) { return; }
  var product = f_one();
  for (var at = id.x; at < block.count; at += stride) {
    products_store_coordinate(at * coordinate_vectors, product);
    let zzz = sums_sum(at).zzz;
    product = f_mul(product, f_select(zzz, f_one(), f_is_zero(zzz)));
  }
  var inverse = f_inv(product);
  for (var back = 0u; back < ${pointsPerInversion}u; back++) {
    let at = id.x + (${pointsPerInversion - 1}u - back) * stride;
    if (at >= block.count) { continue; }
    let sum = sums_sum(at);
    let of_zzz = f_mul(inverse, products_coordinate(at * coordinate_vectors));
    inverse = f_mul(inverse, f_select(sum.zzz, f_one(), f_is_zero(sum.zzz)));
    // ZZ / ZZZ = 1 / Z.
    let of_z = f_mul(sum.zz, of_zzz);
    points_store_affine(
      block.target_table + block.first + at,
      Affine(f_mul(sum.x, f_sqr(of_z)), f_mul(sum.y, of_zzz)),
    );
  }
}
`;

/** Entry points enter_points, double_points and normalize_points. */
export function generateTables(group: Group, layout: LimbLayout): string {
  return [
    generateCoordinates(group, layout),
    pointsWgsl,
    `const coordinate_vectors = ${group === 'g1' ? 2 : 4}u;`,
    kernels,
    generateAccess(group, 'raw', 'read'),
    generateAccess(group, 'points', 'read_write'),
    generateAccess(group, 'sums', 'read_write'),
    generateAccess(group, 'products', 'read_write'),
    steps,
  ].join('\n');
}
