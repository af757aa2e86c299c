/**
 * The quotient of a Groth16 proof on the device: witness in, the scalars for the h points out, exactly as snarkjs computes them:
 * a = A w, b = B w, c = a b on the domain; all three transformed to the odd coset (powers of the root of twice the order); a b - c there.
 *
 * The three polynomials are stored one after the other and transformed together if they fit one binding; otherwise each has its
 * own buffer. The witness and a polynomial are never divided.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { scalarBytes } from '@pool/kernels';
import type { ZkeyCoefficients } from '../../zkey/zkey.ts';
import { bind, limitError, storageLimit } from '../device/bindings.ts';
import type { Gpu } from '../device/device.ts';
import { createCosetTransform, type GpuContext } from './ntt.ts';
import { createRowSteps, placeIn, runStep, type Step } from './quotient-rows.ts';
import { generateProducts, generateQuotient } from './quotient-wgsl.ts';

export type QuotientInput = {
  readonly coefficients: ZkeyCoefficients;
  /** A power of two. */
  readonly domainSize: number;
  readonly wires: number;
};

export type Quotient = {
  readonly bytes: number;
  /** All wires, 32 bytes little-endian each, below r: written before `record`'s work runs. Secret. */
  readonly witness: GPUBuffer;
  /** After the recorded work: domainSize plain scalars, 32 bytes little-endian each. Secret. */
  readonly scalars: GPUBuffer;
  readonly record: (pass: GPUComputePassEncoder) => void;
  /** Records the wiping of everything that depends on a witness. */
  readonly recordClear: (encoder: GPUCommandEncoder) => void;
  readonly release: () => void;
};

/** @throws ProverError `accelerator_limit_exceeded` for a circuit whose witness or polynomials the device cannot bind; reads nothing */
export function assertQuotientFits(
  gpu: Gpu,
  { domainSize, wires }: { readonly domainSize: number; readonly wires: number },
): void {
  const limit = storageLimit(gpu);
  for (const [what, count] of [
    ['the witness', wires],
    ['a polynomial', domainSize],
  ] as const) {
    if (count * scalarBytes > limit) throw limitError(what, count * scalarBytes, limit);
  }
}

/** @throws ProverError `zkey_malformed`, `memory_budget_exceeded`, `accelerator_limit_exceeded` */
export async function createQuotient(
  context: GpuContext,
  { coefficients, domainSize, wires }: QuotientInput,
): Promise<Quotient> {
  const { gpu, buffers, pipelines, layout } = context;
  assertQuotientFits(gpu, { domainSize, wires });
  const size = domainSize * scalarBytes;
  const isTogether = 3 * size <= storageLimit(gpu);
  const shape = isTogether ? 'together' : 'apart';
  const held: GPUBuffer[] = [];
  const secrets: GPUBuffer[] = [];
  const keep = (buffer: GPUBuffer, options: { readonly secret?: boolean } = {}): GPUBuffer => {
    held.push(buffer);
    if (options.secret === true) secrets.push(buffer);
    return buffer;
  };
  const takeSecret = (bytes: number, label: string): GPUBuffer =>
    keep(buffers.take(bytes, { label }), { secret: true });
  const release = (): void => {
    for (const buffer of held.splice(0)) buffers.release(buffer);
  };
  try {
    const transform = await createCosetTransform(
      context,
      Math.log2(domainSize),
      isTogether ? 3 : 1,
    );
    held.push(...transform.buffers);
    const witness = takeSecret(wires * scalarBytes, 'witness');
    const data = isTogether
      ? [takeSecret(3 * size, 'a, b, c')]
      : ['a', 'b', 'c'].map((label) => takeSecret(size, label));
    const scalars = takeSecret(size, 'quotient');
    const rows = placeIn(data, domainSize);
    const rowSteps = await createRowSteps(context, {
      coefficients,
      domainSize,
      wires,
      witness,
      rows,
      keep,
    });
    const [products, quotient] = await Promise.all([
      pipelines.compile(generateProducts(layout, shape), { label: 'products' }),
      pipelines.compile(generateQuotient(layout, shape), { label: 'quotient' }),
    ]);
    const step = (pipeline: GPUComputePipeline, bound: readonly GPUBuffer[]): Step => {
      const range = keep(buffers.uniform([domainSize, 0, 0, 0]));
      return { pipeline, count: domainSize, group: bind(gpu, pipeline, [range, ...bound]) };
    };
    const before = [...rowSteps, step(products, data)];
    const after = step(quotient, [...data, scalars]);
    const bound = data.map((buffer) => transform.bindData(buffer));
    return {
      bytes: held.reduce((sum, buffer) => sum + buffer.size, 0),
      witness,
      scalars,
      record: (pass) => {
        for (const each of before) runStep(context, pass, each);
        for (const each of bound) transform.record(pass, each);
        runStep(context, pass, after);
      },
      recordClear: (encoder) => {
        for (const buffer of secrets) encoder.clearBuffer(buffer);
      },
      release: () => {
        for (const buffer of secrets) buffers.clear(buffer);
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
