/**
 * The start-up micro-benchmark: which limb layouts are correct on this device, how many multiplications per second each makes, and which
 * one to use.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { invert } from '@noble/curves/abstract/modular.js';
import { decodeIntegers, encodeIntegers, scalarBytes } from '@pool/kernels';
import { ProverError } from '../../base/errors.ts';
import { bind } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import { dispatch, type Pipelines, runOnce } from '../device/pipelines.ts';
import { fieldModulus, generateField, wordsPrelude } from './field.ts';
import { type LimbLayout, type LimbLayoutName, limbLayouts } from './limbs.ts';

// The value test of a limb layout: products computed on the device itself against BigInt. A layout that fails it, because the chip
// rounds or the driver rewrites differently from what the layout needs, is never used.

const checkWorkgroup = 64;
const fields = ['fq', 'fr'] as const;

/** Entry point `check`: both products and squares of every pair. Needs both fields. */
const checkShader = `
@group(0) @binding(0) var<storage, read> pairs: array<U256>;
@group(0) @binding(1) var<storage, read_write> products: array<U256>;
@compute @workgroup_size(${checkWorkgroup})
fn check(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x;
  if (4u * i >= arrayLength(&pairs)) { return; }
  products[4u * i] = fq_mul(pairs[4u * i], pairs[4u * i + 1u]);
  products[4u * i + 1u] = fq_sqr(pairs[4u * i]);
  products[4u * i + 2u] = fr_mul(pairs[4u * i + 2u], pairs[4u * i + 3u]);
  products[4u * i + 3u] = fr_sqr(pairs[4u * i + 2u]);
}
`;

/**
 * Pairs on which a multiplier is most likely to fail (ends of the range, digits all ones, powers of two), then a public fixed sequence
 * that looks random.
 */
export function checkPairs(modulus: bigint, count: number): readonly (readonly [bigint, bigint])[] {
  const half = modulus >> 1n;
  const edges = [0n, 1n, 2n, modulus - 1n, modulus - 2n, half, half + 1n, (1n << 253n) - 1n];
  for (const width of [13n, 14n, 15n, 16n, 22n, 32n]) {
    edges.push((1n << width) - 1n, 1n << width, ((1n << 240n) - 1n) ^ ((1n << width) - 1n));
  }
  const pairs = edges.flatMap((a) => edges.map((b) => [a, b] as const));
  let state = 0x9e3779b97f4a7c15n;
  const next = (): bigint => {
    let value = 0n;
    for (let k = 0; k < 5; k++) {
      state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
      value = (value << 52n) | (state >> 12n);
    }
    return value % modulus;
  };
  while (pairs.length < count) pairs.push([next(), next()]);
  return pairs;
}

/** True if the device multiplies and squares as BigInt does, in both fields. `pipeline` is the layout's `check`. */
async function isLayoutCorrect(
  gpu: Gpu,
  buffers: Buffers,
  pipeline: GPUComputePipeline,
  layout: LimbLayout,
  pairCount = 1024,
): Promise<boolean> {
  const radix = 1n << BigInt(layout.radixBits);
  const pairs = fields.map((field) => checkPairs(fieldModulus(field), pairCount));
  const count = pairs[0]?.length ?? 0;
  const inputs = Array.from({ length: count }, (_, i) => pairs.flatMap((list) => list[i] ?? []));
  const given = buffers.upload(encodeIntegers(inputs.flat()));
  const products = buffers.take(4 * count * scalarBytes);
  try {
    await runOnce(gpu, pipeline, [given, products], Math.ceil(count / checkWorkgroup));
    const results = decodeIntegers(await buffers.read(products, 0, 4 * count * scalarBytes));
    return fields.every((field, f) => {
      const modulus = fieldModulus(field);
      const fromRadix = invert(radix, modulus);
      return pairs[f]?.every(
        ([a, b], i) =>
          results[4 * i + 2 * f] === (a * b * fromRadix) % modulus &&
          results[4 * i + 2 * f + 1] === (a * a * fromRadix) % modulus,
      );
    });
  } finally {
    buffers.release(given);
    buffers.release(products);
  }
}

export type LayoutMeasurement = {
  readonly name: LimbLayoutName;
  /** False: the device computes wrong results in this layout, so it is not used. */
  readonly isCorrect: boolean;
  /** Of the whole device, all threads together; undefined if it was not measured. */
  readonly multiplicationsPerSecond: number | undefined;
};

/** Multiplications in one iteration of the chain. */
const turn = 10;

// As many products and squares as a point addition has, on as many live values: a layout whose code overflows the instruction cache, or
// whose limbs overflow the registers, must show it here.
const chainShader = `
@group(0) @binding(0) var<storage, read_write> values: array<U256>;
@group(0) @binding(1) var<uniform> turns: vec4<u32>;
@compute @workgroup_size(${checkWorkgroup})
fn chain(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = values[id.x];
  var y = fq_one();
  var z = fq_add(x, y);
  for (var turn = 0u; turn < turns.x; turn++) {
    let a = fq_mul(x, y);
    let b = fq_mul(y, z);
    let c = fq_sqr(z);
    let d = fq_mul(a, c);
    let e = fq_mul(b, c);
    let f = fq_sqr(d);
    x = fq_mul(e, f);
    z = fq_mul(a, fq_sub(f, x));
    y = fq_mul(fq_mul(d, f), c);
  }
  values[id.x] = fq_add(x, fq_add(y, z));
}
`;

const hardwareThreads = 1 << 17;
const softwareThreads = 1 << 8;
const longEnoughMs = 4;
const mostTurns = 1 << 12;

type Candidate = {
  readonly layout: LimbLayout;
  readonly check: GPUComputePipeline;
  readonly chain: GPUComputePipeline;
};

function generateFields(layout: LimbLayout): string {
  return wordsPrelude + generateField('fq', layout) + generateField('fr', layout);
}

/** Everything that is compiled and timed, as text. */
export function describeCandidates(layouts: readonly LimbLayout[]): string {
  return [
    checkShader,
    chainShader,
    ...layouts.flatMap((each) => [each.name, generateFields(each)]),
  ].join('\n');
}

async function compileCandidate(pipelines: Pipelines, layout: LimbLayout): Promise<Candidate> {
  const fields = generateFields(layout);
  const label = `field ${layout.name}`;
  const [check, chain] = await Promise.all([
    pipelines.compile(fields + checkShader, { label, entryPoint: 'check' }),
    pipelines.compile(fields + chainShader, { label, entryPoint: 'chain' }),
  ]);
  return { layout, check, chain };
}

/** Multiplications per second. The work is doubled until it takes long enough to be timed. */
async function measureChain(gpu: Gpu, buffers: Buffers, { chain }: Candidate): Promise<number> {
  const threads = gpu.isSoftware ? softwareThreads : hardwareThreads;
  const values = buffers.take(threads * scalarBytes);
  const time = async (turns: number): Promise<number> => {
    const uniform = buffers.uniform([turns, 0, 0, 0]);
    const startedAt = performance.now();
    await gpu.guard(async () => {
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      dispatch(gpu, pass, chain, bind(gpu, chain, [values, uniform]), threads / checkWorkgroup);
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
      await gpu.device.queue.onSubmittedWorkDone();
    });
    const took = performance.now() - startedAt;
    buffers.release(uniform);
    return took;
  };
  try {
    await time(1);
    let turns = 2;
    let took = await time(turns);
    while (took < longEnoughMs && turns < mostTurns) {
      turns *= 4;
      took = await time(turns);
    }
    took = Math.min(took, await time(turns));
    return (threads * turns * turn * 1000) / took;
  } finally {
    buffers.release(values);
  }
}

/** Tests and times every layout on this device. Takes much less than a second if the driver caches the shaders. */
export async function measureLayouts(
  gpu: Gpu,
  buffers: Buffers,
  pipelines: Pipelines,
  layouts: readonly LimbLayout[] = limbLayouts,
): Promise<readonly LayoutMeasurement[]> {
  const candidates = await Promise.all(
    layouts.map((layout) => compileCandidate(pipelines, layout)),
  );
  const measurements: LayoutMeasurement[] = [];
  for (const candidate of candidates) {
    const { layout, check } = candidate;
    const isCorrect = await isLayoutCorrect(gpu, buffers, check, layout);
    const multiplicationsPerSecond = isCorrect
      ? await measureChain(gpu, buffers, candidate)
      : undefined;
    measurements.push({ name: layout.name, isCorrect, multiplicationsPerSecond });
  }
  return measurements;
}

/** The value test alone. */
export async function testLayout(
  gpu: Gpu,
  buffers: Buffers,
  pipelines: Pipelines,
  layout: LimbLayout,
): Promise<boolean> {
  const check = await pipelines.compile(generateFields(layout) + checkShader, {
    label: `field ${layout.name}`,
    entryPoint: 'check',
  });
  return await isLayoutCorrect(gpu, buffers, check, layout);
}

/**
 * The fastest of the correct layouts.
 * @throws ProverError `accelerator_unavailable` if the device computes all of them incorrectly
 */
export function chooseLayout(measurements: readonly LayoutMeasurement[]): LayoutMeasurement {
  const [best] = measurements
    .filter(({ isCorrect }) => isCorrect)
    .toSorted((a, b) => (b.multiplicationsPerSecond ?? 0) - (a.multiplicationsPerSecond ?? 0));
  if (best === undefined) {
    throw new ProverError(
      'accelerator_unavailable',
      'the graphics device computes wrong products in every layout; use the CPU',
    );
  }
  return best;
}
