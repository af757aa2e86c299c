/**
 * The quotient of a Groth16 proof on the device: witness in, the scalars for the h points out, exactly as snarkjs computes them:
 * a = A w, b = B w, c = a b on the domain; all three carried to the odd coset (powers of the root of twice the order); a b - c there.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import type { ZkeyCoefficients } from '../zkey/zkey.ts';
import { ELEMENT_BYTES } from './elements.ts';
import { createCosetTransform, type GpuContext } from './ntt.ts';
import { bind, dispatch } from './pipelines.ts';
import {
  generateEnterValues,
  generateEntrySums,
  generateProducts,
  generateQuotient,
  generateSumSums,
  QUOTIENT_WORKGROUP,
} from './quotient-wgsl.ts';
import { planRows } from './rows-plan.ts';

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

/** @throws ProverError `zkey_malformed`, `memory_budget_exceeded` */
export const createQuotient = async (
  context: GpuContext,
  { coefficients, domainSize, wires }: QuotientInput,
): Promise<Quotient> => {
  const { gpu, buffers, pipelines, layout } = context;
  const plan = planRows(coefficients, domainSize, wires);
  const compile = (wgsl: string, label: string) => pipelines.compile(wgsl, { label });
  const [enterValues, entrySums, sumSums, products, quotient] = await Promise.all([
    compile(generateEnterValues(layout), 'enter values'),
    compile(generateEntrySums(layout), 'row products'),
    compile(generateSumSums(layout), 'row sums'),
    compile(generateProducts(layout), 'products'),
    compile(generateQuotient(layout), 'quotient'),
  ]);
  const held: GPUBuffer[] = [];
  const keep = (buffer: GPUBuffer): GPUBuffer => {
    held.push(buffer);
    return buffer;
  };
  const release = (): void => {
    for (const buffer of held.splice(0)) buffers.release(buffer);
  };
  try {
    const transform = await createCosetTransform(context, Math.log2(domainSize), 3);
    const witness = keep(buffers.take(wires * ELEMENT_BYTES, { label: 'witness' }));
    const data = keep(buffers.take(3 * domainSize * ELEMENT_BYTES, { label: 'a, b, c' }));
    const scalars = keep(buffers.take(domainSize * ELEMENT_BYTES, { label: 'quotient' }));
    const values = keep(buffers.upload(coefficients.values, { label: 'values' }));
    const entries = keep(buffers.upload(plan.entries, { label: 'entries' }));
    const secrets = [witness, data, scalars];
    const steps: { pipeline: GPUComputePipeline; group: GPUBindGroup; count: number }[] = [];
    const add = (
      pipeline: GPUComputePipeline,
      count: number,
      bound: readonly GPUBuffer[],
    ): void => {
      const range = keep(buffers.uniform([count, 0, 0, 0]));
      steps.push({ pipeline, count, group: bind(gpu, pipeline, [range, ...bound]) });
    };
    let parts: GPUBuffer | undefined;
    plan.levels.forEach((starts, level) => {
      const count = starts.length - 1;
      const isLast = level === plan.levels.length - 1;
      const sums = isLast
        ? data
        : keep(buffers.take(count * ELEMENT_BYTES, { label: 'row parts' }));
      if (!isLast) secrets.push(sums);
      const offsets = keep(buffers.upload(starts, { label: 'row starts' }));
      if (parts === undefined) add(entrySums, count, [offsets, entries, values, witness, sums]);
      else add(sumSums, count, [offsets, parts, sums]);
      parts = sums;
    });
    add(products, domainSize, [data]);
    const beforeTransform = steps.length;
    add(quotient, domainSize, [data, scalars]);
    const bound = transform.bindData(data);
    const run = (pass: GPUComputePassEncoder, { pipeline, group, count }: (typeof steps)[0]) => {
      dispatch(gpu, pass, pipeline, group, Math.ceil(count / QUOTIENT_WORKGROUP));
    };
    const valueCount = coefficients.values.byteLength / ELEMENT_BYTES;
    if (valueCount > 0) {
      const range = keep(buffers.uniform([valueCount, 0, 0, 0]));
      await gpu.guard(() => {
        const encoder = gpu.device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        const group = bind(gpu, enterValues, [range, values]);
        run(pass, { pipeline: enterValues, group, count: valueCount });
        pass.end();
        gpu.device.queue.submit([encoder.finish()]);
      });
    }
    return {
      bytes: held.reduce((sum, buffer) => sum + buffer.size, 0) + transform.bytes,
      witness,
      scalars,
      record: (pass) => {
        for (const step of steps.slice(0, beforeTransform)) run(pass, step);
        transform.record(pass, bound);
        for (const step of steps.slice(beforeTransform)) run(pass, step);
      },
      recordClear: (encoder) => {
        for (const buffer of secrets) encoder.clearBuffer(buffer);
      },
      release: () => {
        for (const buffer of secrets) buffers.clear(buffer);
        release();
        transform.release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
};
