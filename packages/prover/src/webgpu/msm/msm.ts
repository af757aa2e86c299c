/**
 * Multi-scalar multiplication on the device: the sum of s_i P_i for fixed points and changing scalars, by Pippenger's buckets
 * (N. Pippenger, "On the evaluation of powers and related problems", FOCS 1976)
 * (docs/gpu.md). The points are fixed when it is created; each run reads its scalars from a buffer on the device and leaves a few
 * sums, which the host turns into one affine point.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { invert } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { decodeIntegers } from '@pool/kernels';
import { baseFieldOrder } from '../../base/field.ts';
import type { G1Affine, G2Affine } from '../../base/points.ts';
import { affineBytes, type Group, sumBytes } from '../curve/curve-fields.ts';
import { storageLimit } from '../device/bindings.ts';
import type { Buffers } from '../device/buffers.ts';
import type { Gpu } from '../device/device.ts';
import type { LimbLayout } from '../field/limbs.ts';
import { msmParams } from './msm-bindings.ts';
import { encodePart, listStages, type MsmPart, uploadStages } from './msm-encode.ts';
import { createMsmKernels, type MsmKernels } from './msm-kernels.ts';
import { type MsmTuning, type PartPlan, planMsm } from './msm-plan.ts';
import { createMsmWorkspace, type MsmWorkspace } from './msm-workspace.ts';
import { buildTables, type ReadPoints, readFinitePoints } from './tables.ts';

// Sums returned by the device, on the host: from X, Y, ZZ, ZZZ in the device's Montgomery form to affine coordinates, and
// the last few additions over the groups of digits (msm-plan.ts).

const { Fp2 } = bn254.fields;
const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
type G1Point = typeof G1.ZERO;
type G2Point = typeof G2.ZERO;

/** The operations that the points of both groups have. */
type Addable<T> = { readonly add: (other: T) => T; readonly double: () => T };

/** sum over g of 2^(bits g) sums[g]. */
function combineGroups<T extends Addable<T>>(sums: readonly T[], bits: number, zero: T): T {
  let total = zero;
  for (const sum of sums.toReversed()) {
    for (let k = 0; k < bits; k++) total = total.double();
    total = total.add(sum);
  }
  return total;
}

/** Coordinates of all sums, out of Montgomery form. */
function leaveMontgomery(bytes: Uint8Array, layout: LimbLayout): readonly bigint[] {
  const inverse = invert(1n << BigInt(layout.radixBits), baseFieldOrder);
  return decodeIntegers(bytes).map((value) => (value * inverse) % baseFieldOrder);
}

function decodeG1([x = 0n, y = 0n, zz = 0n, zzz = 0n]: readonly bigint[]): G1Point {
  if (zz === 0n) return G1.ZERO;
  return G1.fromAffine({
    x: (x * invert(zz, baseFieldOrder)) % baseFieldOrder,
    y: (y * invert(zzz, baseFieldOrder)) % baseFieldOrder,
  });
}

function decodeG2(words: readonly bigint[]): G2Point {
  const [x, y, zz, zzz] = [0, 2, 4, 6].map((k) =>
    Fp2.create({ c0: words[k] ?? 0n, c1: words[k + 1] ?? 0n }),
  );
  if (x === undefined || y === undefined || zz === undefined || zzz === undefined || Fp2.is0(zz)) {
    return G2.ZERO;
  }
  return G2.fromAffine({ x: Fp2.div(x, zz), y: Fp2.div(y, zzz) });
}

/** Cuts a list into runs of equal length. */
function runs(values: readonly bigint[], length: number): readonly (readonly bigint[])[] {
  return Array.from({ length: values.length / length }, (_, k) =>
    values.slice(k * length, (k + 1) * length),
  );
}

/** The result of one multi-scalar multiplication: for each part of its points the sums of its groups. */
type PartResult = { readonly groups: number; readonly bits: number };

function decodeParts<T extends Addable<T>>(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  group: Group,
  decode: (part: Uint8Array) => readonly T[],
  zero: T,
): T {
  let offset = 0;
  let total = zero;
  for (const part of parts) {
    const length = part.groups * sumBytes(group);
    total = total.add(
      combineGroups(decode(bytes.subarray(offset, offset + length)), part.bits, zero),
    );
    offset += length;
  }
  return total;
}

/** @throws Error (of the curve library) if the device returned something that is not a point */
function decodeG1Result(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  layout: LimbLayout,
): G1Affine {
  const decode = (part: Uint8Array) => runs(leaveMontgomery(part, layout), 4).map(decodeG1);
  const total = decodeParts(bytes, parts, 'g1', decode, G1.ZERO);
  return total.is0() ? undefined : total.toAffine();
}

/** @throws Error (of the curve library) if the device returned something that is not a point */
function decodeG2Result(
  bytes: Uint8Array,
  parts: readonly PartResult[],
  layout: LimbLayout,
): G2Affine {
  const decode = (part: Uint8Array) => runs(leaveMontgomery(part, layout), 8).map(decodeG2);
  const total = decodeParts(bytes, parts, 'g2', decode, G2.ZERO);
  if (total.is0()) return undefined;
  const { x, y } = total.toAffine();
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
}

/** The parts that all sums on a device share. */
export type MsmContext = {
  readonly gpu: Gpu;
  readonly buffers: Buffers;
  readonly kernels: MsmKernels;
  /** Wipe it (`recordClear`) after a proof: it contains values derived from a witness. */
  readonly workspace: MsmWorkspace;
};

export function createMsmContext(gpu: Gpu, buffers: Buffers, layout: LimbLayout): MsmContext {
  return {
    gpu,
    buffers,
    kernels: createMsmKernels(gpu, layout),
    workspace: createMsmWorkspace(buffers),
  };
}

export type MsmOptions = {
  /** Points, infinity included. */
  readonly count: number;
  readonly read: ReadPoints;
  /** Point i goes with scalar firstScalar + i of the buffer; default 0. */
  readonly firstScalar?: number;
  /** Memory for the points and their precomputed multiples; default: the points alone. */
  readonly tableBudgetBytes?: number;
  /** Share of scalars that are large, 0..1, as expected; default 1. Decides the width of the digits. */
  readonly density?: number;
  readonly signal?: AbortSignal | undefined;
  readonly tuning?: MsmTuning;
};

export type Msm<Point> = {
  readonly group: Group;
  /** Points that are not infinity. */
  readonly points: number;
  /** Memory of the points and their multiples, in bytes; the workspace is not counted. */
  readonly bytes: number;
  /** Bytes that `encode` writes: a multiple of 128. */
  readonly resultBytes: number;
  /** How each part is divided, for people and reports. */
  readonly plans: readonly PartPlan[];
  /**
   * Records the sum. `scalars`: a storage buffer of canonical scalars, eight u32 each, below r. `result` needs COPY_DST. Any number of
   * sums can be recorded one after the other; they use the workspace in turn.
   */
  readonly encode: (
    encoder: GPUCommandEncoder,
    scalars: GPUBuffer,
    result: GPUBuffer,
    resultOffset: number,
  ) => void;
  /** The point, from the bytes that `encode` left. Undefined is infinity. */
  readonly decode: (bytes: Uint8Array) => Point;
  /** Runs one sum by itself. */
  readonly compute: (scalars: GPUBuffer) => Promise<Point>;
  readonly release: () => void;
};

async function create<Point>(
  context: MsmContext,
  group: Group,
  options: MsmOptions,
  decodeResult: (bytes: Uint8Array, parts: readonly PartPlan[]) => Point,
): Promise<Msm<Point>> {
  const { gpu, buffers, workspace } = context;
  const { count, firstScalar = 0, density = 1, tableBudgetBytes = 0, signal } = options;
  const kernels = await context.kernels.of(group);
  const finite = await readFinitePoints(group, count, options.read, signal);
  const points = finite.indices.length;
  const plans = planMsm(points, {
    group,
    bindingBytes: storageLimit(gpu),
    tableBudgetBytes,
    density,
    tuning: options.tuning ?? {},
  });
  const size = affineBytes(group);
  const parts: MsmPart[] = [];
  const release = (): void => {
    for (const part of parts.splice(0)) {
      for (const buffer of [part.params, part.stageValues, part.indices, part.points]) {
        buffers.release(buffer);
      }
    }
  };
  try {
    let start = 0;
    for (const plan of plans) {
      const end = start + plan.params.points;
      const stages = listStages(plan);
      workspace.reserve(plan.needs);
      parts.push({
        plan,
        points: await buildTables({
          gpu,
          buffers,
          kernels,
          plan: plan.windows,
          bytes: finite.bytes.subarray(start * size, end * size),
          signal,
        }),
        params: buffers.uniform(msmParams.map((name) => plan.params[name])),
        stages,
        stageValues: uploadStages(buffers, stages),
        indices: buffers.upload(
          finite.indices.slice(start, end).map((index) => index + firstScalar),
        ),
        bound: undefined,
      });
      start = end;
    }
  } catch (error) {
    release();
    throw error;
  }

  const resultBytes = plans.reduce((sum, plan) => sum + plan.windows.groups * sumBytes(group), 0);
  const bytes = parts.reduce((sum, part) => sum + part.points.size + part.indices.size, 0);
  const encode: Msm<Point>['encode'] = (encoder, scalars, result, resultOffset) => {
    let offset = resultOffset;
    for (const part of parts) {
      encodePart(context, kernels, part, encoder, scalars);
      const length = part.plan.windows.groups * sumBytes(group);
      encoder.copyBufferToBuffer(
        workspace.buffers().parts,
        part.stages.resultNode * sumBytes(group),
        result,
        offset,
        length,
      );
      offset += length;
    }
  };
  const decode = (result: Uint8Array): Point => decodeResult(result, plans);
  return {
    group,
    points,
    bytes,
    resultBytes,
    plans,
    encode,
    decode,
    compute: async (scalars) => {
      if (resultBytes === 0) return decode(new Uint8Array(0));
      const result = buffers.take(resultBytes, { label: 'msm result' });
      try {
        await gpu.guard(() => {
          const encoder = gpu.device.createCommandEncoder();
          encode(encoder, scalars, result, 0);
          gpu.device.queue.submit([encoder.finish()]);
        });
        return decode(await buffers.read(result, 0, resultBytes));
      } finally {
        buffers.release(result, { secret: true });
      }
    },
    release,
  };
}

function listResults(plans: readonly PartPlan[]) {
  return plans.map(({ windows }) => ({ groups: windows.groups, bits: windows.bits }));
}

/**
 * @throws the signal's reason, errors of `read`, ProverError `memory_budget_exceeded`, `accelerator_limit_exceeded`,
 *   `accelerator_lost`, `accelerator_refused`
 */
export function createG1Msm(context: MsmContext, options: MsmOptions): Promise<Msm<G1Affine>> {
  return create(context, 'g1', options, (bytes, plans) =>
    decodeG1Result(bytes, listResults(plans), context.kernels.layout),
  );
}

/** As createG1Msm. */
export function createG2Msm(context: MsmContext, options: MsmOptions): Promise<Msm<G2Affine>> {
  return create(context, 'g2', options, (bytes, plans) =>
    decodeG2Result(bytes, listResults(plans), context.kernels.layout),
  );
}
