/**
 * The start-up micro-benchmark: which limb layouts are correct on this device, how many multiplications per second each makes, and which
 * one to use.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { ProverError } from '../../base/errors.ts';
import { bind } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import { elementBytes } from '../device/elements.ts';
import { dispatch, type Pipelines } from '../device/pipelines.ts';
import { generateField, wordsPrelude } from './field.ts';
import { checkShader, checkWorkgroup, isLayoutCorrect } from './field-check.ts';
import { type LimbLayout, type LimbLayoutName, limbLayouts } from './limbs.ts';

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
  const values = buffers.take(threads * elementBytes);
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
