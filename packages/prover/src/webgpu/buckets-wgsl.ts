/**
 * WGSL that turns sorted entries into the sum of each group of buckets, without a loop whose length a witness decides.
 *
 * 1. `sum_segments`: the entries are cut into segments of equal length, one thread each, wherever buckets begin and end. A bucket
 *    that lies within a segment is done; one that crosses segments leaves parts: heads (from the segment's start) and tails.
 * 2. `join_segments`, a level at a time: two neighbouring nodes that lie wholly in one bucket are added, so that a bucket of many
 *    segments becomes a tree. On random scalars hardly any thread has anything to do here; for half a million ones it is the sum.
 * 3. `join_buckets`: a thread a bucket puts tail, nodes and head together (at most about twice the logarithm of their number).
 * 4. `weigh_chunks`: running sums over a few buckets: R = sum of (i+1) S_i and D = chunk * sum of S_i.
 * 5. `merge_chunks`, a level at a time: R = R_left + R_right + D_right, D = 2 (D_left + D_right). The last R is the group's sum.
 *
 * Every kernel has its addition once, in a loop: unrolled, the code would outgrow instruction caches and compilers' patience.
 *
 * @module
 */
import { type Group, generateAccess, generateCoordinates } from './curve-fields.ts';
import { POINTS_WGSL } from './curve-points.ts';
import type { LimbLayout } from './limbs.ts';
import { MSM_BINDINGS, PLAN_ENTRIES, PLAN_SEGMENT, PLAN_SEGMENTS } from './msm-bindings.ts';
import { SEGMENT_WORKGROUP } from './sort-wgsl.ts';

export const BUCKET_WORKGROUP = 64;

const KERNELS = `
// First node of a level; level 0 are the heads, tails lie behind all levels.
fn level_base(level: u32) -> u32 { return 2u * (params.segment_room - (params.segment_room >> level)); }
fn tail_base() -> u32 { return 2u * params.segment_room; }

fn entry_point(entry: vec2<u32>) -> Affine {
  return affine_negate_if(points_affine(entry.y >> 1u), (entry.y & 1u) != 0u);
}

@compute @workgroup_size(${SEGMENT_WORKGROUP})
fn sum_segments(@builtin(global_invocation_id) id: vec3<u32>) {
  let segment = stage.first + id.x;
  if (id.x >= params.slice_segments || segment >= plan[${PLAN_SEGMENTS}u]) { return; }
  let total = plan[${PLAN_ENTRIES}u];
  let start = segment * plan[${PLAN_SEGMENT}u];
  let end = min(start + plan[${PLAN_SEGMENT}u], total);
  let opening = entries[start];
  var key = opening.x;
  var sum = sum_of_affine(entry_point(opening));
  var is_head = true;
  var is_continued = false;
  if (start > 0u) { is_continued = entries[start - 1u].x == key; }
  for (var at = start + 1u; at < end; at++) {
    let entry = entries[at];
    let point = entry_point(entry);
    if (entry.x == key) {
      sum = sum_add_affine(sum, point);
    } else {
      if (is_head && is_continued) { parts_store_sum(segment, sum); } else { buckets_store_sum(key, sum); }
      is_head = false;
      key = entry.x;
      sum = sum_of_affine(point);
    }
  }
  var continues = false;
  if (end < total) { continues = entries[end].x == key; }
  if (is_head && (is_continued || continues)) {
    parts_store_sum(segment, sum);
  } else if (continues) {
    parts_store_sum(tail_base() + segment, sum);
  } else {
    buckets_store_sum(key, sum);
  }
}

@compute @workgroup_size(${BUCKET_WORKGROUP})
fn join_segments(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= stage.count) { return; }
  let length = plan[${PLAN_SEGMENT}u] << stage.level;
  let first = id.x * length;
  if (first + length > plan[${PLAN_ENTRIES}u]) { return; }
  if (entries[first].x != entries[first + length - 1u].x) { return; }
  let children = level_base(stage.level - 1u) + 2u * id.x;
  parts_store_sum(level_base(stage.level) + id.x, sum_add(parts_sum(children), parts_sum(children + 1u)));
}

@compute @workgroup_size(${BUCKET_WORKGROUP})
fn join_buckets(@builtin(global_invocation_id) id: vec3<u32>) {
  let key = id.x;
  if (key >= params.keys) { return; }
  var start = 0u;
  if (key > 0u) { start = keys[key - 1u]; }
  let end = keys[key];
  if (start == end) {
    buckets_store_sum(key, sum_zero());
    return;
  }
  let length = plan[${PLAN_SEGMENT}u];
  let first_segment = start / length;
  let last_segment = (end - 1u) / length;
  if (first_segment == last_segment) { return; }
  // Whole segments of this bucket: node, up to but without last_node.
  var node = (start + length - 1u) / length;
  let last_node = end / length;
  var needs_tail = start % length != 0u;
  var needs_head = end % length != 0u;
  var sum = sum_zero();
  loop {
    var part = 0u;
    if (needs_tail) {
      needs_tail = false;
      part = tail_base() + first_segment;
    } else if (node < last_node) {
      // The largest aligned tree that begins here and ends in time; countTrailingZeros(0) is 32.
      let level = min(countTrailingZeros(node), firstLeadingBit(last_node - node));
      part = level_base(level) + (node >> level);
      node += 1u << level;
    } else if (needs_head) {
      needs_head = false;
      part = last_segment;
    } else {
      break;
    }
    sum = sum_add(sum, parts_sum(part));
  }
  buckets_store_sum(key, sum);
}

// Writes R to nodes first …, D to the count nodes behind them.
@compute @workgroup_size(${BUCKET_WORKGROUP})
fn weigh_chunks(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= stage.count) { return; }
  var running = sum_zero();
  var weighted = sum_zero();
  let steps = 2u * params.chunk;
  for (var k = 0u; k < steps + params.chunk_bits; k++) {
    let is_weighing = k < steps && (k & 1u) != 0u;
    var left = running;
    var right = running;
    if (is_weighing) {
      left = weighted;
    } else if (k < steps) {
      right = buckets_sum((id.x + 1u) * params.chunk - 1u - (k >> 1u));
    }
    let sum = sum_add(left, right);
    if (is_weighing) { weighted = sum; } else { running = sum; }
  }
  parts_store_sum(stage.first + id.x, weighted);
  parts_store_sum(stage.first + stage.count + id.x, running);
}

// Reads 2 count nodes of each kind from stage.source, writes count of each kind to stage.first.
@compute @workgroup_size(${BUCKET_WORKGROUP})
fn merge_chunks(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= 2u * stage.count) { return; }
  let is_width = id.x >= stage.count;
  let index = select(id.x, id.x - stage.count, is_width);
  let widths = stage.source + 2u * stage.count;
  let left = select(stage.source, widths, is_width) + 2u * index;
  var sum = parts_sum(left);
  var other = parts_sum(left + 1u);
  for (var k = 0u; k < 2u; k++) {
    sum = sum_add(sum, other);
    if (is_width) { other = sum; } else { other = parts_sum(widths + 2u * index + 1u); }
  }
  parts_store_sum(stage.first + id.x, sum);
}
`;

/** Entry points sum_segments, join_segments, join_buckets, weigh_chunks and merge_chunks. */
export const generateBuckets = (group: Group, layout: LimbLayout): string =>
  [
    generateCoordinates(group, layout),
    POINTS_WGSL,
    MSM_BINDINGS.params,
    MSM_BINDINGS.stage,
    MSM_BINDINGS.points,
    MSM_BINDINGS.keys,
    MSM_BINDINGS.entries,
    MSM_BINDINGS.buckets,
    MSM_BINDINGS.parts,
    MSM_BINDINGS.plan,
    generateAccess(group, 'points', 'read'),
    generateAccess(group, 'buckets', 'read_write'),
    generateAccess(group, 'parts', 'read_write'),
    KERNELS,
  ].join('\n');
