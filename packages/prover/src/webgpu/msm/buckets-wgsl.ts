/**
 * WGSL that turns sorted entries into the sum of each group of buckets, without a loop whose length a witness decides.
 *
 * 1. `sum_segments`: the entries are cut into segments of equal length, one thread each, independently of the buckets. A bucket
 *    within a segment is complete; a bucket that crosses segments leaves parts: heads (from the segment's start) and tails.
 * 2. Joining segments (`add_parts`), a level at a time: two neighbouring nodes that belong to one bucket are added, so that a bucket of many
 *    segments is summed as a tree. With random scalars hardly any thread has work here; with half a million ones this is the whole sum.
 * 3. Joining buckets (`add_parts`): one thread per bucket adds tail, nodes and head (at most about twice the logarithm of their number).
 * 4. `weigh_chunks`: running sums over a few buckets: R = sum of (i+1) S_i and D = chunk * sum of S_i.
 * 5. Merging chunks (`add_parts`), a level at a time: R = R_left + R_right + D_right, D = 2 (D_left + D_right). The last R is the group's sum.
 *
 * Every kernel has its addition once, in a loop: unrolled, the code would exceed instruction caches and compile slowly.
 *
 * @module
 */
import { type Group, generateAccess, generateCoordinates } from '../curve/curve-fields.ts';
import { pointsWgsl } from '../curve/curve-points.ts';
import type { LimbLayout } from '../field/limbs.ts';
import {
  joinBuckets,
  joinSegments,
  mergeChunks,
  msmBindings,
  planEntries,
  planSegment,
  planSegments,
} from './msm-bindings.ts';
import { segmentWorkgroup } from './sort-wgsl.ts';

export const bucketWorkgroup = 64;

const kernels = `
// First node of a level; level 0 are the heads, tails lie behind all levels.
fn level_base(level: u32) -> u32 { return 2u * (params.segment_room - (params.segment_room >> level)); }
fn tail_base() -> u32 { return 2u * params.segment_room; }

fn entry_point(entry: vec2<u32>) -> Affine {
  return affine_negate_if(points_affine(entry.y >> 1u), (entry.y & 1u) != 0u);
}

@compute @workgroup_size(${segmentWorkgroup})
fn sum_segments(@builtin(global_invocation_id) id: vec3<u32>) {
  let segment = stage.first + id.x;
  if (id.x >= params.slice_segments || segment >= plan[${planSegments}u]) { return; }
  let total = plan[${planEntries}u];
  let start = segment * plan[${planSegment}u];
  let end = min(start + plan[${planSegment}u], total);
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

// One kernel for everything that adds parts: the uses differ only in which parts they add, and the addition takes the time to compile.
@compute @workgroup_size(${bucketWorkgroup})
fn add_parts(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= stage.count) { return; }
  let length = plan[${planSegment}u];
  // First part to add, or the place of the parts of a bucket.
  var first = 0u;
  var place = 0u;
  var first_segment = 0u;
  var last_segment = 0u;
  var last_node = 0u;
  var needs_tail = false;
  var needs_head = false;
  var is_width = false;
  switch stage.kind {
    case ${joinSegments}u: {
      let start = id.x * (length << stage.level);
      let end = start + (length << stage.level);
      if (end > plan[${planEntries}u]) { return; }
      if (entries[start].x != entries[end - 1u].x) { return; }
      first = level_base(stage.level - 1u) + 2u * id.x;
      place = level_base(stage.level) + id.x;
    }
    case ${joinBuckets}u: {
      place = id.x;
      var start = 0u;
      if (place > 0u) { start = keys[place - 1u]; }
      let end = keys[place];
      if (start < end) {
        first_segment = start / length;
        last_segment = (end - 1u) / length;
        if (first_segment == last_segment) { return; }
        // Whole segments of this bucket: first, up to but without last_node.
        first = (start + length - 1u) / length;
        last_node = end / length;
        needs_tail = start % length != 0u;
        needs_head = end % length != 0u;
      }
    }
    default: {
      // Reads stage.count nodes of each kind from stage.source, twice as many lie there; writes as many to stage.first.
      let half = stage.count >> 1u;
      is_width = id.x >= half;
      first = stage.source + 2u * id.x;
      place = stage.first + id.x;
      // R takes the right neighbour's D besides.
      last_node = stage.source + 2u * (half + id.x) + 1u;
    }
  }
  var sum = sum_zero();
  for (var step = 0u; ; step++) {
    var part = 0u;
    var is_doubling = false;
    if (stage.kind == ${joinBuckets}u) {
      if (needs_tail) {
        needs_tail = false;
        part = tail_base() + first_segment;
      } else if (first < last_node) {
        // The largest aligned tree that begins here and ends in time; countTrailingZeros(0) is 32.
        let level = min(countTrailingZeros(first), firstLeadingBit(last_node - first));
        part = level_base(level) + (first >> level);
        first += 1u << level;
      } else if (needs_head) {
        needs_head = false;
        part = last_segment;
      } else {
        break;
      }
    } else if (step < 2u) {
      part = first + step;
    } else if (step == 2u && stage.kind == ${mergeChunks}u) {
      part = last_node;
      is_doubling = is_width;
    } else {
      break;
    }
    var other = sum;
    if (!is_doubling) { other = parts_sum(part); }
    sum = sum_add(sum, other);
  }
  if (stage.kind == ${joinBuckets}u) {
    buckets_store_sum(place, sum);
  } else {
    parts_store_sum(place, sum);
  }
}

// Writes R to nodes first …, D to the count nodes behind them.
@compute @workgroup_size(${bucketWorkgroup})
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
`;

/** Entry points sum_segments, add_parts and weigh_chunks. */
export function generateBuckets(group: Group, layout: LimbLayout): string {
  return [
    generateCoordinates(group, layout),
    pointsWgsl,
    msmBindings.params,
    msmBindings.stage,
    msmBindings.points,
    msmBindings.keys,
    msmBindings.entries,
    msmBindings.buckets,
    msmBindings.parts,
    msmBindings.plan,
    generateAccess(group, 'points', 'read'),
    generateAccess(group, 'buckets', 'read_write'),
    generateAccess(group, 'parts', 'read_write'),
    kernels,
  ].join('\n');
}
