/**
 * WGSL of the running totals that turn the buckets' counts into their first places among the entries, and of the plan that follows
 * from the grand total: into how many segments the entries are cut.
 *
 * Three kernels (sums of blocks, totals of the sums, totals within blocks), as parallel prefix sums go; see Blelloch 1990.
 *
 * @module
 */
import {
  MOST_BLOCKS,
  MSM_BINDINGS,
  PLAN_BLOCKS,
  PLAN_ENTRIES,
  PLAN_SEGMENT,
  PLAN_SEGMENTS,
  PLAN_SLICES,
} from './msm-bindings.ts';

const THREADS = 256;
const KEYS_PER_THREAD = 8;
/** Keys that one workgroup totals. */
export const KEYS_PER_BLOCK = THREADS * KEYS_PER_THREAD;
/** Threads of a workgroup that sums segments. */
export const SEGMENT_WORKGROUP = 64;

export const SORT_WGSL = `${MSM_BINDINGS.params}
${MSM_BINDINGS.keys}
${MSM_BINDINGS.plan}
var<workgroup> totals: array<u32, ${THREADS}>;

// Sum of what the threads before this one brought; totals[last] is left as the sum of all.
fn sum_before(lane: u32, own: u32) -> u32 {
  totals[lane] = own;
  workgroupBarrier();
  for (var reach = 1u; reach < ${THREADS}u; reach <<= 1u) {
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
  for (var k = 0u; k < ${KEYS_PER_THREAD}u; k++) {
    if (first + k < params.keys) { sum += keys[first + k]; }
  }
  return sum;
}

@compute @workgroup_size(${THREADS})
fn total_blocks(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let before = sum_before(lane, sum_keys((block.x * ${THREADS}u + lane) * ${KEYS_PER_THREAD}u));
  if (lane == ${THREADS - 1}u) { plan[${PLAN_BLOCKS}u + block.x] = totals[${THREADS - 1}u]; }
}

// One workgroup.
@compute @workgroup_size(${THREADS})
fn plan_segments(@builtin(local_invocation_index) lane: u32) {
  let blocks = (params.keys + ${KEYS_PER_BLOCK - 1}u) / ${KEYS_PER_BLOCK}u;
  var sum = 0u;
  for (var k = 0u; k < ${MOST_BLOCKS / THREADS}u; k++) {
    let block = lane * ${MOST_BLOCKS / THREADS}u + k;
    if (block < blocks) { sum += plan[${PLAN_BLOCKS}u + block]; }
  }
  var running = sum_before(lane, sum);
  for (var k = 0u; k < ${MOST_BLOCKS / THREADS}u; k++) {
    let block = lane * ${MOST_BLOCKS / THREADS}u + k;
    if (block < blocks) {
      let held = plan[${PLAN_BLOCKS}u + block];
      plan[${PLAN_BLOCKS}u + block] = running;
      running += held;
    }
  }
  if (lane == ${THREADS - 1}u) {
    let entries = totals[${THREADS - 1}u];
    let even = (entries + params.segments_wanted - 1u) / params.segments_wanted;
    let segment = clamp(even, params.segment_least, params.segment_most);
    let segments = (entries + segment - 1u) / segment;
    plan[${PLAN_ENTRIES}u] = entries;
    plan[${PLAN_SEGMENT}u] = segment;
    plan[${PLAN_SEGMENTS}u] = segments;
    for (var slice = 0u; slice < params.slices; slice++) {
      let first = slice * params.slice_segments;
      let count = min(segments - min(segments, first), params.slice_segments);
      plan[${PLAN_SLICES}u + 3u * slice] = (count + ${SEGMENT_WORKGROUP - 1}u) / ${SEGMENT_WORKGROUP}u;
      plan[${PLAN_SLICES}u + 3u * slice + 1u] = 1u;
      plan[${PLAN_SLICES}u + 3u * slice + 2u] = 1u;
    }
  }
}

@compute @workgroup_size(${THREADS})
fn place_keys(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = (block.x * ${THREADS}u + lane) * ${KEYS_PER_THREAD}u;
  var running = plan[${PLAN_BLOCKS}u + block.x] + sum_before(lane, sum_keys(first));
  for (var k = 0u; k < ${KEYS_PER_THREAD}u; k++) {
    if (first + k < params.keys) {
      let held = keys[first + k];
      keys[first + k] = running;
      running += held;
    }
  }
}
`;
