/**
 * WGSL of the running totals that turn the buckets' counts into their first places among the entries, and of the plan that results
 * from the total: the number of segments into which the entries are divided.
 *
 * Three kernels (sums of blocks, totals of the sums, totals within blocks), as parallel prefix sums go; see Blelloch 1990.
 *
 * @module
 */
import {
  mostBlocks,
  msmBindings,
  planBlocks,
  planEntries,
  planSegment,
  planSegments,
  planSlices,
} from './msm-bindings.ts';

const threads = 256;
const keysPerThread = 8;
/** Keys that one workgroup totals. */
export const keysPerBlock = threads * keysPerThread;
/** Threads of a workgroup that sums segments. */
export const segmentWorkgroup = 64;

export const sortWgsl = `${msmBindings.params}
${msmBindings.keys}
${msmBindings.plan}
var<workgroup> totals: array<u32, ${threads}>;

// Sum of the values of the threads before this one; totals[last] is left as the sum of all.
fn sum_before(lane: u32, own: u32) -> u32 {
  totals[lane] = own;
  workgroupBarrier();
  for (var reach = 1u; reach < ${threads}u; reach <<= 1u) {
    var other = 0u;
    if (lane >= reach) { other = totals[lane - reach]; }
    workgroupBarrier();
    totals[lane] += other;
    workgroupBarrier();
  }
  return totals[lane] - own;
}

fn sum_keys(first: u32) -> u32 {
  var sum = 0u;
  for (var k = 0u; k < ${keysPerThread}u; k++) {
    if (first + k < params.keys) { sum += keys[first + k]; }
  }
  return sum;
}

@compute @workgroup_size(${threads})
fn total_blocks(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let before = sum_before(lane, sum_keys((block.x * ${threads}u + lane) * ${keysPerThread}u));
  if (lane == ${threads - 1}u) { plan[${planBlocks}u + block.x] = totals[${threads - 1}u]; }
}

// One workgroup.
@compute @workgroup_size(${threads})
fn plan_segments(@builtin(local_invocation_index) lane: u32) {
  let blocks = (params.keys + ${keysPerBlock - 1}u) / ${keysPerBlock}u;
  var sum = 0u;
  for (var k = 0u; k < ${mostBlocks / threads}u; k++) {
    let block = lane * ${mostBlocks / threads}u + k;
    if (block < blocks) { sum += plan[${planBlocks}u + block]; }
  }
  var running = sum_before(lane, sum);
  for (var k = 0u; k < ${mostBlocks / threads}u; k++) {
    let block = lane * ${mostBlocks / threads}u + k;
    if (block < blocks) {
      let held = plan[${planBlocks}u + block];
      plan[${planBlocks}u + block] = running;
      running += held;
    }
  }
  if (lane == ${threads - 1}u) {
    let entries = totals[${threads - 1}u];
    let even = (entries + params.segments_wanted - 1u) / params.segments_wanted;
    let segment = clamp(even, params.segment_least, params.segment_most);
    let segments = (entries + segment - 1u) / segment;
    plan[${planEntries}u] = entries;
    plan[${planSegment}u] = segment;
    plan[${planSegments}u] = segments;
    for (var slice = 0u; slice < params.slices; slice++) {
      let first = slice * params.slice_segments;
      let count = min(segments - min(segments, first), params.slice_segments);
      plan[${planSlices}u + 3u * slice] = (count + ${segmentWorkgroup - 1}u) / ${segmentWorkgroup}u;
      plan[${planSlices}u + 3u * slice + 1u] = 1u;
      plan[${planSlices}u + 3u * slice + 2u] = 1u;
    }
  }
}

@compute @workgroup_size(${threads})
fn place_keys(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = (block.x * ${threads}u + lane) * ${keysPerThread}u;
  var running = plan[${planBlocks}u + block.x] + sum_before(lane, sum_keys(first));
  for (var k = 0u; k < ${keysPerThread}u; k++) {
    if (first + k < params.keys) {
      let held = keys[first + k];
      keys[first + k] = running;
      running += held;
    }
  }
}
`;
