/**
 * The value test of a limb layout: products computed on the device itself against BigInt. A layout that fails it, because the chip
 * rounds or the driver rewrites differently from what the layout needs, is never used.
 *
 * @module
 */
import { invert } from '@noble/curves/abstract/modular.js';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import { decodeElements, elementBytes, encodeElements } from '../device/elements.ts';
import { runOnce } from '../device/pipelines.ts';
import { fieldModulus } from './field.ts';
import type { LimbLayout } from './limbs.ts';

export const checkWorkgroup = 64;
const fields = ['fq', 'fr'] as const;

/** Entry point `check`: both products and squares of every pair. Needs both fields. */
export const checkShader = `
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
export async function isLayoutCorrect(
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
  const given = buffers.upload(encodeElements(inputs.flat()));
  const products = buffers.take(4 * count * elementBytes);
  try {
    await runOnce(gpu, pipeline, [given, products], Math.ceil(count / checkWorkgroup));
    const results = decodeElements(await buffers.read(products, 0, 4 * count * elementBytes));
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
