/**
 * The matrices of a circuit on the device, and the steps that multiply them with a witness: entries times wires, summed row by row,
 * level by level (rows-plan.ts), in as many parts as the device's limits require (rows-parts.ts).
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import type { ZkeyCoefficients } from '../../zkey/zkey.ts';
import { type Bound, bind, storageLimit } from '../device/bindings.ts';
import { elementBytes } from '../device/elements.ts';
import { dispatch, runOnce } from '../device/pipelines.ts';
import type { GpuContext } from './ntt.ts';
import {
  generateEnterValues,
  generateEntrySums,
  generateSumSums,
  quotientWorkgroup,
} from './quotient-wgsl.ts';
import { alignDown, bytesPerEntry, divideRows, partStarts, type RowPart } from './rows-parts.ts';
import { planRows } from './rows-plan.ts';

/** One dispatch with a thread for each of `count` elements. */
export type Step = {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly count: number;
};

/** The location of elements: elements first … of each piece, in order. All pieces but the last begin at aligned places. */
export type Place = {
  /** The piece of buffer that holds elements first … first+count-1; they are never in two pieces. */
  readonly slice: (first: number, count: number) => Bound;
  /** Elements before which another buffer begins. */
  readonly cuts: readonly number[];
};

/** Elements of one buffer, or of several of `size` elements each. */
export function placeIn(buffers: readonly GPUBuffer[], size: number): Place {
  return {
    slice: (first, count) => {
      const index = buffers.length === 1 ? 0 : Math.floor(first / size);
      const buffer = buffers[index];
      if (buffer === undefined) throw new RangeError(`element ${first} has no place`);
      const offset = (first - (buffers.length === 1 ? 0 : index * size)) * elementBytes;
      return { buffer, offset, size: count * elementBytes };
    },
    cuts: buffers.length === 1 ? [] : buffers.map((_, index) => index * size),
  };
}

export function runStep(
  { gpu }: GpuContext,
  pass: GPUComputePassEncoder,
  { pipeline, group, count }: Step,
): void {
  dispatch(gpu, pass, pipeline, group, Math.ceil(count / quotientWorkgroup));
}

export type RowsInput = {
  readonly coefficients: ZkeyCoefficients;
  readonly domainSize: number;
  readonly wires: number;
  readonly witness: GPUBuffer;
  /** The location of the products: A's rows, then B's. */
  readonly rows: Place;
  /** Receives every buffer that is made. `secret`: it will depend on the witness. */
  readonly keep: (buffer: GPUBuffer, options?: { readonly secret?: boolean }) => GPUBuffer;
};

/** The values that the entries of a part refer to, in the form of the file, and the entries with their indexes into these values. */
function cutEntries(
  entries: Uint32Array,
  values: Uint8Array,
  { firstTerm, terms }: RowPart,
  hasOwnValues: boolean,
): { readonly entries: Uint32Array; readonly values: Uint8Array } {
  const own = entries.subarray(2 * firstTerm, 2 * (firstTerm + terms));
  if (!hasOwnValues) return { entries: own, values };
  const renumbered = own.slice();
  const copied = new Uint8Array(terms * elementBytes);
  for (let k = 0; k < terms; k++) {
    const from = (own[2 * k + 1] ?? 0) * elementBytes;
    copied.set(values.subarray(from, from + elementBytes), k * elementBytes);
    renumbered[2 * k + 1] = k;
  }
  return { entries: renumbered, values: copied };
}

/**
 * Uploads the matrices and returns the steps from the witness to the rows.
 * @throws ProverError `zkey_malformed`, `memory_budget_exceeded`, `accelerator_limit_exceeded`
 */
export async function createRowSteps(
  context: GpuContext,
  { coefficients, domainSize, wires, witness, rows, keep }: RowsInput,
): Promise<readonly Step[]> {
  const { gpu, buffers, pipelines, layout } = context;
  const plan = planRows(coefficients, domainSize, wires);
  const compile = (wgsl: string, label: string) => pipelines.compile(wgsl, { label });
  const [enterValues, entrySums, sumSums] = await Promise.all([
    compile(generateEnterValues(layout), 'enter values'),
    compile(generateEntrySums(layout), 'row products'),
    compile(generateSumSums(layout), 'row sums'),
  ]);
  const bindingBytes = storageLimit(gpu);
  const steps: Step[] = [];
  const add = (pipeline: GPUComputePipeline, count: number, bound: readonly Bound[]): void => {
    const range = keep(buffers.uniform([count, 0, 0, 0]));
    steps.push({ pipeline, count, group: bind(gpu, pipeline, [range, ...bound]) });
  };

  /** Uploads values and converts them into the form that products use. */
  const enter = async (bytes: Uint8Array): Promise<GPUBuffer> => {
    const values = keep(buffers.upload(bytes, { label: 'values' }));
    const count = bytes.byteLength / elementBytes;
    if (count === 0) return values;
    const range = buffers.uniform([count, 0, 0, 0]);
    try {
      await runOnce(gpu, enterValues, [range, values], Math.ceil(count / quotientWorkgroup));
    } finally {
      buffers.release(range);
    }
    return values;
  };

  // If the dictionary is too large for a binding, each part of the entries has its own values.
  const hasOwnValues = coefficients.values.byteLength > bindingBytes;
  const shared = hasOwnValues ? undefined : await enter(coefficients.values);
  let terms: { readonly place: Place; readonly count: number } | undefined;
  for (const [level, starts] of plan.levels.entries()) {
    const count = starts.length - 1;
    const isLast = level === plan.levels.length - 1;
    const sums = isLast
      ? rows
      : placeIn(
          [keep(buffers.take(count * elementBytes, { label: 'row parts' }), { secret: true })],
          count,
        );
    const entryBytes = hasOwnValues ? elementBytes : bytesPerEntry;
    const parts = divideRows(starts, {
      bindingBytes,
      termBytes: terms === undefined ? entryBytes : elementBytes,
      areTermsInPlace: terms !== undefined,
      cuts: sums.cuts,
    });
    for (const part of parts) {
      const offsets = keep(buffers.upload(partStarts(starts, part), { label: 'row starts' }));
      const target = sums.slice(part.first, part.count);
      if (terms === undefined) {
        const cut = cutEntries(plan.entries, coefficients.values, part, hasOwnValues);
        const entries = keep(buffers.upload(cut.entries, { label: 'entries' }));
        const values = shared ?? (await enter(cut.values));
        add(entrySums, part.count, [offsets, entries, values, witness, target]);
      } else {
        // A part of empty rows still binds one element, which is not read.
        const first = Math.min(part.firstTerm, alignDown(terms.count - 1));
        const source = terms.place.slice(first, Math.max(1, part.firstTerm + part.terms - first));
        add(sumSums, part.count, [offsets, source, target]);
      }
    }
    terms = { place: sums, count };
  }
  return steps;
}
