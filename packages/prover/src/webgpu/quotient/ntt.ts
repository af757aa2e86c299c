/**
 * The transforms of a Groth16 quotient: values on the domain become values on the odd coset. Decimation in frequency down to the
 * coefficients, which lie in bit-reversed order then, their scaling by the coset's powers and 1/n, and decimation in time back up: no
 * pass that only moves data, and the innermost passes of both transforms are one.
 *
 * Several polynomials of one size are stored one after the other in one buffer and transformed together.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { invert } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { encodeIntegers } from '@pool/kernels';
import { ProverError } from '../../base/errors.ts';
import { scalarFieldOrder } from '../../base/field.ts';
import { createBindGroup } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import { type Pipelines, runOnce, splitWorkgroups } from '../device/pipelines.ts';
import { generateField, toMontgomery, wordsPrelude } from '../field/field.ts';
import type { LimbLayout } from '../field/limbs.ts';

// How a number-theoretic transform of 2^bits elements is cut into passes over tiles that fit the memory of a workgroup, and the roots
// of unity that it uses. Pure arithmetic.

const twoAdicity = 28;
/** The smallest number that is not a square modulo r: ffjavascript, and so every snarkjs key, derives its roots from it. */
const nonResidue = 5n;
/** The odd coset needs a root of twice the domain's size. */
const mostDomainBits = twoAdicity - 1;
const elementBytes = 32;

/** A root of unity of order 2^bits in the scalar field. */
export function rootOfUnity(bits: number): bigint {
  return bn254.fields.Fr.pow(nonResidue, (scalarFieldOrder - 1n) >> BigInt(bits));
}

/**
 * One pass: a tile holds the elements whose indexes differ in bits low … low+bits-1 and in the lowest `run` ones, so that memory is
 * read in runs of 2^run elements.
 */
type NttPass = { readonly low: number; readonly bits: number; readonly run: number };

/** Passes from the highest bits of the index down; the last one has low = 0. */
export function planPasses(domainBits: number, workgroupBytes: number): readonly NttPass[] {
  const tileBits = Math.floor(Math.log2(workgroupBytes / elementBytes));
  const count = Math.max(1, Math.ceil(domainBits / tileBits));
  const passes: NttPass[] = [];
  let left = domainBits;
  for (let pass = 0; pass < count; pass++) {
    const bits = Math.ceil(left / (count - pass));
    left -= bits;
    passes.push({ low: left, bits, run: Math.min(left, tileBits - bits) });
  }
  return passes;
}

/** The basis of every part of the engine. */
export type GpuContext = {
  readonly gpu: Gpu;
  readonly buffers: Buffers;
  readonly pipelines: Pipelines;
  readonly layout: LimbLayout;
};

/** Elements move as two vec4, the widest load there is. */
export function loadElement(name: string, type: 'read' | 'read_write', binding: number): string {
  return `@group(0) @binding(${binding}) var<storage, ${type}> ${name}: array<vec4<u32>>;
fn load_${name}(i: u32) -> U256 {
  let low = ${name}[2u * i];
  let high = ${name}[2u * i + 1u];
  return U256(low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
}
`;
}

export function storeElement(name: string): string {
  return `fn store_${name}(i: u32, a: U256) {
  ${name}[2u * i] = vec4<u32>(a[0], a[1], a[2], a[3]);
  ${name}[2u * i + 1u] = vec4<u32>(a[4], a[5], a[6], a[7]);
}
`;
}

/** Parameters of a compute shader's main, and the number of its workgroup where two dimensions are one. */
export const mainParameters =
  '@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32';
export const groupIndex = '(group.y * groups.x + group.x)';

type Direction = 'down' | 'middle' | 'up';

/** Stages of one pass on the tile. `down` multiplies after the subtraction by inverse roots, `up` before it by roots. */
function generateStages(
  direction: 'down' | 'up',
  domainBits: number,
  { low, bits, run }: NttPass,
  threads: number,
): string {
  const pairs = 2 ** (bits + run - 1);
  if (bits === 0) return '';
  const order =
    direction === 'down'
      ? `for (var stage = ${bits}u; stage > 0u; stage--)`
      : `for (var stage = 1u; stage <= ${bits}u; stage++)`;
  // w^-j = -w^(n/2 - j): one table serves both directions.
  const butterfly =
    direction === 'down'
      ? `store_tile(first, fr_add(u, v));
      if (stage + ${low}u == 1u) {
        store_tile(second, fr_sub(u, v));
      } else {
        store_tile(second, fr_mul(fr_sub(v, u), load_roots(${2 ** domainBits / 2}u - exponent)));
      }`
      : `var turned = v;
      if (stage + ${low}u != 1u) {
        turned = fr_mul(v, load_roots(exponent));
      }
      store_tile(first, fr_add(u, turned));
      store_tile(second, fr_sub(u, turned));`;
  return `${order} {
    let half = 1u << (stage - 1u);
    for (var pair = lane; pair < ${pairs}u; pair += ${threads}u) {
      let near = pair & ${2 ** run - 1}u;
      let rest = pair >> ${run}u;
      let turn = rest & (half - 1u);
      let first = ((((rest >> (stage - 1u)) << stage) | turn) << ${run}u) | near;
      let second = first + (half << ${run}u);
      let exponent = ((turn << ${low}u) | column | near) << (${domainBits - low}u - stage);
      let u = load_tile(first);
      let v = load_tile(second);
      ${butterfly}
    }
    workgroupBarrier();
  }`;
}

function generatePass(
  direction: Direction,
  domainBits: number,
  pass: NttPass,
  layout: LimbLayout,
  threads: number,
): string {
  const { low, bits, run } = pass;
  const size = 2 ** (bits + run);
  const move = (text: string): string =>
    `for (var i = lane; i < ${size}u; i += ${threads}u) {
    let at = base + (((i >> ${run}u) << ${low}u) | (i & ${2 ** run - 1}u));
    ${text}
  }
  workgroupBarrier();`;
  const scale = move(
    `store_tile(i, fr_mul(load_tile(i), load_scale(at & ${2 ** domainBits - 1}u)));`,
  );
  return `${wordsPrelude}${generateField('fr', layout)}
${loadElement('data', 'read_write', 0)}${storeElement('data')}
${bits > 0 ? loadElement('roots', 'read', 1) : ''}
${direction === 'middle' ? loadElement('scale', 'read', 2) : ''}
// Word by word, so that neighbouring threads touch neighbouring banks.
var<workgroup> tile: array<u32, ${8 * size}>;
fn load_tile(i: u32) -> U256 {
  return U256(${[0, 1, 2, 3, 4, 5, 6, 7].map((k) => `tile[${k * size}u + i]`).join(', ')});
}
fn store_tile(i: u32, a: U256) {
  ${[0, 1, 2, 3, 4, 5, 6, 7].map((k) => `tile[${k * size}u + i] = a[${k}];`).join(' ')}
}
override tiles: u32;
@compute @workgroup_size(${threads})
fn main(${mainParameters}) {
  let index = ${groupIndex};
  if (index >= tiles) { return; }
  let column = (index & ${2 ** (low - run) - 1}u) << ${run}u;
  let base = ((index >> ${low - run}u) << ${low + bits}u) | column;
  ${move('store_tile(i, load_data(at));')}
  ${direction === 'up' ? '' : generateStages('down', domainBits, pass, threads)}
  ${direction === 'middle' ? scale : ''}
  ${direction === 'down' ? '' : generateStages('up', domainBits, pass, threads)}
  ${move('store_data(at, load_tile(i));')}
}
`;
}

const powersWorkgroup = 64;

/** out[i] = first * base^i, or base^(i with its bits reversed). squares[k] = base^(2^k), squares[32] = first. */
function generatePowers(layout: LimbLayout, isReversed: boolean): string {
  return `${wordsPrelude}${generateField('fr', layout)}
${loadElement('squares', 'read', 0)}
${loadElement('powers', 'read_write', 1)}${storeElement('powers')}
@group(0) @binding(2) var<uniform> range: vec4<u32>;
@compute @workgroup_size(${powersWorkgroup})
fn main(${mainParameters}) {
  let i = ${groupIndex} * ${powersWorkgroup}u + lane;
  if (i >= range.x) { return; }
  var exponent = i;
  ${isReversed ? 'if (range.y > 0u) { exponent = reverseBits(i) >> (32u - range.y); }' : ''}
  var result = load_squares(32u);
  for (var bit = 0u; bit < range.y; bit++) {
    if (((exponent >> bit) & 1u) != 0u) {
      result = fr_mul(result, load_squares(bit));
    }
  }
  store_powers(i, result);
}
`;
}

async function computePowers(
  { gpu, buffers, pipelines, layout }: GpuContext,
  options: {
    readonly first: bigint;
    readonly base: bigint;
    readonly count: number;
    readonly exponentBits: number;
    readonly isReversed: boolean;
  },
): Promise<GPUBuffer> {
  const { first, base, count, exponentBits, isReversed } = options;
  const pipeline = await pipelines.compile(generatePowers(layout, isReversed), { label: 'powers' });
  const squares: bigint[] = [];
  let square = base;
  for (let bit = 0; bit < 32; bit++) {
    squares.push(square);
    square = (square * square) % scalarFieldOrder;
  }
  squares.push(first);
  const given = buffers.upload(
    encodeIntegers(squares.map((value) => toMontgomery(value, scalarFieldOrder, layout))),
  );
  const range = buffers.uniform([count, exponentBits, 0, 0]);
  const powers = buffers.take(count * 32, { label: 'powers' });
  try {
    await runOnce(gpu, pipeline, [given, powers, range], Math.ceil(count / powersWorkgroup));
    return powers;
  } catch (error) {
    buffers.release(powers);
    throw error;
  } finally {
    buffers.release(given);
    buffers.release(range);
  }
}

export type CosetTransform = {
  /** Its tables. */
  readonly buffers: readonly GPUBuffer[];
  /**
   * Records the transform of the polynomials in `data`, elements in Montgomery form, natural order in and out.
   * @param group - made by `bindData`
   */
  readonly record: (pass: GPUComputePassEncoder, bound: BoundTransform) => void;
  readonly bindData: (data: GPUBuffer) => BoundTransform;
  readonly release: () => void;
};

/** 1024 elements: two passes up to 2^20. */
const hardwareTileBytes = 32_768;
/** Synchronising threads is slow if they are emulated. */
const softwareTileBytes = 2_048;

type BoundTransform = { readonly groups: readonly GPUBindGroup[] };

/**
 * Prepares the transform from a domain of 2^domainBits to its odd coset.
 * @param polynomials - how many are stored one after the other
 * @param tileBytes - memory of a workgroup to use, at most; the device's limit holds too
 * @throws ProverError `memory_budget_exceeded` for a domain that the field has no coset for
 */
export async function createCosetTransform(
  context: GpuContext,
  domainBits: number,
  polynomials: number,
  tileBytes = context.gpu.isSoftware ? softwareTileBytes : hardwareTileBytes,
): Promise<CosetTransform> {
  const { gpu, buffers, pipelines, layout } = context;
  if (domainBits > mostDomainBits) {
    throw new ProverError('memory_budget_exceeded', 'the circuit is too large for its field');
  }
  const { limits } = gpu.device;
  const size = 2 ** domainBits;
  const down = planPasses(domainBits, Math.min(limits.maxComputeWorkgroupStorageSize, tileBytes));
  const steps: readonly (readonly [Direction, NttPass])[] = [
    ...down.slice(0, -1).map((pass) => ['down', pass] as const),
    ...down.slice(-1).map((pass) => ['middle', pass] as const),
    ...down
      .slice(0, -1)
      .toReversed()
      .map((pass) => ['up', pass] as const),
  ];
  const compiled = await Promise.all(
    steps.map(async ([direction, pass]) => {
      const tileSize = 2 ** (pass.bits + pass.run);
      const threads = Math.max(
        1,
        Math.min(tileSize / 2, 256, limits.maxComputeInvocationsPerWorkgroup),
      );
      const tiles = (polynomials * size) / tileSize;
      const pipeline = await pipelines.compile(
        generatePass(direction, domainBits, pass, layout, threads),
        { label: `transform ${direction}`, constants: { tiles } },
      );
      const counts = splitWorkgroups(tiles, limits.maxComputeWorkgroupsPerDimension);
      return { direction, bits: pass.bits, pipeline, counts };
    }),
  );
  const roots = await computePowers(context, {
    first: 1n,
    base: rootOfUnity(domainBits),
    count: size / 2 + 1,
    exponentBits: domainBits,
    isReversed: false,
  });
  const scale = await computePowers(context, {
    first: invert(BigInt(size), scalarFieldOrder),
    base: rootOfUnity(domainBits + 1),
    count: size,
    exponentBits: domainBits,
    isReversed: true,
  }).catch((error: unknown) => {
    buffers.release(roots);
    throw error;
  });
  return {
    buffers: [roots, scale],
    bindData: (data) => ({
      groups: compiled.map(({ direction, bits, pipeline }) =>
        createBindGroup(gpu, pipeline.getBindGroupLayout(0), [
          [0, data],
          ...(bits > 0 ? [[1, roots] as const] : []),
          ...(direction === 'middle' ? [[2, scale] as const] : []),
        ]),
      ),
    }),
    record: (pass, { groups }) => {
      compiled.forEach(({ pipeline, counts: [x, y] }, index) => {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, groups[index]);
        pass.dispatchWorkgroups(x, y);
      });
    },
    release: () => {
      buffers.release(roots);
      buffers.release(scale);
    },
  };
}
