/** One field operation on the device, on raw words, and the expected result by BigInt. */
import { invert } from '@noble/curves/abstract/modular.js';
import { decodeIntegers, encodeIntegers, scalarBytes } from '@pool/kernels';
import { bind } from '../src/webgpu/device/bindings.ts';
import type { Buffers } from '../src/webgpu/device/buffers.ts';
import type { Gpu } from '../src/webgpu/device/device.ts';
import { dispatch, type Pipelines } from '../src/webgpu/device/pipelines.ts';
import {
  type FieldName,
  fieldModulus,
  generateField,
  wordsPrelude,
} from '../src/webgpu/field/field.ts';
import type { LimbLayout } from '../src/webgpu/field/limbs.ts';

const workgroup = 64;

export const operations = [
  'mul',
  'sqr',
  'add',
  'sub',
  'neg',
  'dbl',
  'inv',
  'enter',
  'leave',
  'enter_256',
  'leave_256',
  'enter_512',
] as const;
export type Operation = (typeof operations)[number];
const twoOperands: readonly Operation[] = ['mul', 'add', 'sub'];

function generateShader(field: FieldName, layout: LimbLayout, operation: Operation): string {
  return `${wordsPrelude}${generateField(field, layout)}
@group(0) @binding(0) var<storage, read> left: array<U256>;
@group(0) @binding(1) var<storage, read> right: array<U256>;
@group(0) @binding(2) var<storage, read_write> result: array<U256>;
@compute @workgroup_size(${workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&result)) { return; }
  let b = right[id.x];
  result[id.x] = ${field}_${operation}(left[id.x]${twoOperands.includes(operation) ? ', b' : ''});
}
`;
}

export type DeviceContext = {
  readonly gpu: Gpu;
  readonly buffers: Buffers;
  readonly pipelines: Pipelines;
};

export async function computeOnDevice(
  { gpu, buffers, pipelines }: DeviceContext,
  field: FieldName,
  layout: LimbLayout,
  operation: Operation,
  pairs: readonly (readonly [bigint, bigint])[],
): Promise<readonly bigint[]> {
  const pipeline = await pipelines.compile(generateShader(field, layout, operation), {
    label: `${layout.name} ${field}_${operation}`,
  });
  const left = buffers.upload(encodeIntegers(pairs.map(([a]) => a)));
  const right = buffers.upload(encodeIntegers(pairs.map(([, b]) => b)));
  const result = buffers.take(pairs.length * scalarBytes);
  await gpu.guard(() => {
    const encoder = gpu.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    const group = bind(gpu, pipeline, [left, right, result]);
    dispatch(gpu, pass, pipeline, group, Math.ceil(pairs.length / workgroup));
    pass.end();
    gpu.device.queue.submit([encoder.finish()]);
  });
  const bytes = await buffers.read(result, 0, pairs.length * scalarBytes);
  for (const buffer of [left, right, result]) buffers.release(buffer);
  return decodeIntegers(bytes);
}

export function expectOperation(
  field: FieldName,
  layout: LimbLayout,
  operation: Operation,
  [a, b]: readonly [bigint, bigint],
): bigint {
  const modulus = fieldModulus(field);
  const radix = (1n << BigInt(layout.radixBits)) % modulus;
  const fromRadix = invert(radix, modulus);
  const from256 = invert(1n << 256n, modulus);
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
    enter_256: () => a * from256 * radix,
    leave_256: () => (a * fromRadix) << 256n,
    enter_512: () => a * from256 * from256 * radix,
  };
  return results[operation]() % modulus;
}
