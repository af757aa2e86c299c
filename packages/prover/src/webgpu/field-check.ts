/**
 * The value test of a limb layout: products computed on the device itself against BigInt. A layout that fails it, because the chip
 * rounds or the driver rewrites differently from what the layout needs, is never used.
 *
 * @module
 */
import type { Buffers } from './buffers.ts';
import type { Gpu } from './device.ts';
import { type FieldName, fieldModulus, generateField, invert, WORDS_PRELUDE } from './field.ts';
import type { LimbLayout } from './limbs.ts';
import { bind, dispatch, type Pipelines } from './pipelines.ts';

export const ELEMENT_BYTES = 32;
const WORKGROUP = 64;

export const encodeElements = (values: readonly bigint[]): Uint8Array => {
  const bytes = new Uint8Array(values.length * ELEMENT_BYTES);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => {
    for (let k = 0; k < 4; k++) {
      view.setBigUint64(
        index * ELEMENT_BYTES + 8 * k,
        (value >> BigInt(64 * k)) & ((1n << 64n) - 1n),
        true,
      );
    }
  });
  return bytes;
};

export const decodeElements = (bytes: Uint8Array): readonly bigint[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / ELEMENT_BYTES }, (_, index) => {
    let value = 0n;
    for (let k = 3; k >= 0; k--) {
      value = (value << 64n) | view.getBigUint64(index * ELEMENT_BYTES + 8 * k, true);
    }
    return value;
  });
};

export type Operation = 'mul' | 'sqr' | 'add' | 'sub' | 'neg' | 'dbl' | 'inv' | 'enter' | 'leave';
const TWO_OPERANDS: readonly Operation[] = ['mul', 'add', 'sub'];

const generateShader = (field: FieldName, layout: LimbLayout, operation: Operation): string =>
  `${WORDS_PRELUDE}${generateField(field, layout)}
@group(0) @binding(0) var<storage, read> left: array<U256>;
@group(0) @binding(1) var<storage, read> right: array<U256>;
@group(0) @binding(2) var<storage, read_write> result: array<U256>;
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&result)) { return; }
  let b = right[id.x];
  result[id.x] = ${field}_${operation}(left[id.x]${TWO_OPERANDS.includes(operation) ? ', b' : ''});
  if (u256_is_zero(b)) { return; }
}
`;

type CheckContext = { readonly gpu: Gpu; readonly buffers: Buffers; readonly pipelines: Pipelines };

/** Applies an operation to pairs of raw words on the device. */
export const computeOnDevice = async (
  { gpu, buffers, pipelines }: CheckContext,
  field: FieldName,
  layout: LimbLayout,
  operation: Operation,
  pairs: readonly (readonly [bigint, bigint])[],
): Promise<readonly bigint[]> => {
  const pipeline = await pipelines.compile(generateShader(field, layout, operation), {
    label: `${layout.name} ${field}_${operation}`,
  });
  const left = buffers.upload(encodeElements(pairs.map(([a]) => a)));
  const right = buffers.upload(encodeElements(pairs.map(([, b]) => b)));
  const result = buffers.take(pairs.length * ELEMENT_BYTES);
  try {
    await gpu.guard(() => {
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      const group = bind(gpu, pipeline, [left, right, result]);
      dispatch(gpu, pass, pipeline, group, Math.ceil(pairs.length / WORKGROUP));
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
    });
    return decodeElements(await buffers.read(result, 0, pairs.length * ELEMENT_BYTES));
  } finally {
    for (const buffer of [left, right, result]) buffers.release(buffer);
  }
};

/** What the operation must give, on raw words. */
export const expectOperation = (
  field: FieldName,
  layout: LimbLayout,
  operation: Operation,
  a: bigint,
  b: bigint,
): bigint => {
  const modulus = fieldModulus(field);
  const radix = (1n << BigInt(layout.radixBits)) % modulus;
  const fromRadix = invert(radix, modulus);
  const results: Record<Operation, () => bigint> = {
    mul: () => a * b * fromRadix,
    sqr: () => a * a * fromRadix,
    add: () => a + b,
    sub: () => a - b + modulus,
    neg: () => modulus - a,
    dbl: () => 2n * a,
    inv: () => (a === 0n ? 0n : invert(a, modulus) * radix * radix),
    enter: () => a * radix,
    leave: () => a * fromRadix,
  };
  return results[operation]() % modulus;
};

/**
 * Pairs that a multiplier is likeliest to get wrong: ends of the range, digits all ones, powers of two; and a public fixed sequence
 * that looks random.
 */
export const checkPairs = (
  modulus: bigint,
  count: number,
): readonly (readonly [bigint, bigint])[] => {
  const edges = [
    0n,
    1n,
    2n,
    modulus - 1n,
    modulus - 2n,
    modulus >> 1n,
    (1n << 253n) - 1n,
    1n << 253n,
  ];
  for (const width of [13n, 14n, 15n, 16n, 22n, 32n]) {
    edges.push((1n << width) - 1n, 1n << width, ((1n << 240n) - 1n) ^ ((1n << width) - 1n));
  }
  const pairs: (readonly [bigint, bigint])[] = [];
  for (const a of edges) for (const b of edges) pairs.push([a, b]);
  let state = 0x9e3779b97f4a7c15n;
  const next = (): bigint => {
    let value = 0n;
    for (let k = 0; k < 4; k++) {
      state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
      value = (value << 62n) | (state >> 2n);
    }
    return value % modulus;
  };
  while (pairs.length < count) pairs.push([next(), next()]);
  return pairs;
};

/** True if the device multiplies and squares in this layout as BigInt does, in both fields. */
export const isLayoutCorrect = async (
  context: CheckContext,
  layout: LimbLayout,
  pairCount = 1024,
): Promise<boolean> => {
  for (const field of ['fq', 'fr'] as const) {
    const pairs = checkPairs(fieldModulus(field), pairCount);
    for (const operation of ['mul', 'sqr'] as const) {
      const results = await computeOnDevice(context, field, layout, operation, pairs);
      const isCorrect = pairs.every(
        ([a, b], index) => results[index] === expectOperation(field, layout, operation, a, b),
      );
      if (!isCorrect) return false;
    }
  }
  return true;
};
