/**
 * WGSL that cuts scalars into signed digits, counts the buckets that they fall into, and writes each digit's entry to its bucket's
 * place. Layout and signs: msm-plan.ts. Nothing here needs field arithmetic.
 *
 * Adding to a counter in memory is fast unless all threads add to the same one. In circom witnesses many threads add to the bucket of the
 * scalars 1 and -1, so each workgroup counts those by itself first.
 *
 * @module
 */
import { scalarFieldOrder } from '../../base/field.ts';
import { literal, splitConstant } from '../field/limbs.ts';
import { msmBindings } from './msm-bindings.ts';

export const digitWorkgroup = 256;

function words(value: bigint): readonly string[] {
  return splitConstant(value, 32, 8).map(literal);
}
const modulus = words(scalarFieldOrder);
const half = words((scalarFieldOrder - 1n) / 2n);
const wordIndexes = [0, 1, 2, 3, 4, 5, 6, 7];

/** Lines that turn s0…s7 into modulus - s. */
const negateLines = wordIndexes.flatMap((k) =>
  k === 0
    ? [`let n0 = ${modulus[0] ?? ''} - s0;`, `let f0 = select(0u, 1u, ${modulus[0] ?? ''} < s0);`]
    : [
        `let g${k} = ${modulus[k] ?? ''} - s${k};`,
        `let n${k} = g${k} - f${k - 1};`,
        `let f${k} = select(0u, 1u, ${modulus[k] ?? ''} < s${k}) | select(0u, 1u, g${k} < f${k - 1});`,
      ],
);

/**
 * Text of a function body that runs `body` for every digit that is not zero, with `key`, `entry` (point of the table, shifted up by
 * one, and the sign in bit 0) and `is_unit` (the first digit, and it is 1 or -1).
 */
function forEachDigit(body: string): string {
  return `
  let base = indices[point] * 8u;
  ${wordIndexes.map((k) => `var s${k} = scalars[base + ${k}u];`).join('\n  ')}
  var above = false;
  ${wordIndexes.map((k) => `if (s${k} != ${half[k] ?? ''}) { above = s${k} > ${half[k] ?? ''}; }`).join('\n  ')}
  if (above) {
    ${negateLines.join('\n    ')}
    ${wordIndexes.map((k) => `s${k} = n${k};`).join(' ')}
  }
  let half = params.buckets;
  let mask = (half << 1u) - 1u;
  var carry = 0u;
  var group = 0u;
  var table = 0u;
  for (var window = 0u; window < params.windows; window++) {
    if ((carry | ${wordIndexes.map((k) => `s${k}`).join(' | ')}) == 0u) { break; }
    let raw = (s0 & mask) + carry;
    ${wordIndexes.map((k) => (k < 7 ? `s${k} = (s${k} >> params.bits) | (s${k + 1} << (32u - params.bits));` : 's7 = s7 >> params.bits;')).join('\n    ')}
    let negative = raw > half;
    carry = select(0u, 1u, negative);
    let magnitude = select(raw, mask + 1u - raw, negative);
    if (magnitude != 0u) {
      let key = group * half + magnitude - 1u;
      let entry = ((table * params.points + point) << 1u) | select(0u, 1u, negative != above);
      let is_unit = window == 0u && magnitude == 1u;
      ${body}
    }
    group++;
    if (group == params.groups) { group = 0u; table++; }
  }
`;
}

const counting = `
@compute @workgroup_size(${digitWorkgroup})
fn count_digits(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let point = id.x;
  if (point < params.points) {
    ${forEachDigit('if (is_unit) { atomicAdd(&unit_count, 1u); } else { atomicAdd(&keys[key], 1u); }')}
  }
  workgroupBarrier();
  if (lane == 0u) {
    let found = atomicLoad(&unit_count);
    if (found != 0u) { atomicAdd(&keys[0], found); }
  }
}
`;

const scattering = `
var<workgroup> unit_base: u32;
@compute @workgroup_size(${digitWorkgroup})
fn scatter_digits(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let point = id.x;
  var has_unit = false;
  var unit_rank = 0u;
  var unit_entry = 0u;
  if (point < params.points) {
    ${forEachDigit(`if (is_unit) {
        has_unit = true;
        unit_rank = atomicAdd(&unit_count, 1u);
        unit_entry = entry;
      } else {
        entries[atomicAdd(&keys[key], 1u)] = vec2<u32>(key, entry);
      }`)}
  }
  workgroupBarrier();
  if (lane == 0u) {
    let found = atomicLoad(&unit_count);
    if (found != 0u) { unit_base = atomicAdd(&keys[0], found); }
  }
  workgroupBarrier();
  if (has_unit) { entries[unit_base + unit_rank] = vec2<u32>(0u, unit_entry); }
}
`;

/** Entry points count_digits (keys become counts) and scatter_digits (keys are first free places and become ends). */
export const digitsWgsl = `${msmBindings.params}
${msmBindings.scalars}
${msmBindings.indices}
${msmBindings.atomicKeys}
${msmBindings.entries}
var<workgroup> unit_count: atomic<u32>;
${counting}
${scattering}`;
