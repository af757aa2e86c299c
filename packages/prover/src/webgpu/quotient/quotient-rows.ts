/**
 * The matrices of a circuit on the device, and the steps that multiply them with a witness: entries times wires, summed row by row,
 * level by level, in as many parts as the device's limits require.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { scalarBytes } from '@pool/kernels';
import { ProverError } from '../../base/errors.ts';
import type { ZkeyCoefficients } from '../../zkey/zkey.ts';
import {
  type Bound,
  bind,
  bindingAlignment,
  limitError,
  storageLimit,
} from '../device/bindings.ts';
import { dispatch, runOnce } from '../device/pipelines.ts';
import type { GpuContext } from './ntt.ts';
import {
  generateEnterValues,
  generateEntrySums,
  generateSumSums,
  quotientWorkgroup,
} from './quotient-wgsl.ts';

// How the sums of the rows are divided so that no binding exceeds a device's limit: parts of consecutive sums, with the
// terms that they add up. Pure arithmetic on sizes.

/** Offsets into elements are multiples of this. */
const alignedElements = bindingAlignment / scalarBytes;
/** Wire and value of an entry. */
const bytesPerEntry = 8;

/** Sums first … first+count-1 of a level, which add up terms firstTerm … firstTerm+terms-1. */
type RowPart = {
  readonly first: number;
  readonly count: number;
  readonly firstTerm: number;
  readonly terms: number;
};

type PartLimits = {
  /** Bytes of the largest binding. */
  readonly bindingBytes: number;
  /** Bytes of a term. */
  readonly termBytes: number;
  /** Terms are read in place, so a part of them begins at an aligned offset. */
  readonly areTermsInPlace: boolean;
  /** A part ends before these sums, because the others are in another buffer. */
  readonly cuts: readonly number[];
};

/** The largest aligned index up to this one. */
function alignDown(index: number): number {
  return index - (index % alignedElements);
}

/**
 * Parts of one level, as few as possible; `starts` as in `planRows`.
 * @throws ProverError `accelerator_limit_exceeded` for a device that cannot bind eight sums and their terms
 */
export function divideRows(starts: Uint32Array, limits: PartLimits): readonly RowPart[] {
  const { bindingBytes, termBytes, areTermsInPlace, cuts } = limits;
  const total = starts.length - 1;
  const mostSums = alignDown(
    Math.min(Math.floor(bindingBytes / scalarBytes), Math.floor(bindingBytes / 4) - 1),
  );
  const mostTerms = Math.floor(bindingBytes / termBytes);
  const ends = [...cuts.filter((cut) => cut > 0 && cut < total), total].toSorted((a, b) => a - b);
  const parts: RowPart[] = [];
  let first = 0;
  for (const end of ends) {
    while (first < end) {
      const start = starts[first] ?? 0;
      const firstTerm = areTermsInPlace ? alignDown(start) : start;
      const fits = (last: number): boolean =>
        last - first <= mostSums && (starts[last] ?? 0) - firstTerm <= mostTerms;
      let last = end;
      if (!fits(end)) {
        // The most groups of aligned sums that fit: `starts` never decreases, so a binary search finds them.
        let [least, most] = [0, Math.floor((end - first) / alignedElements)];
        while (least < most) {
          const middle = Math.ceil((least + most) / 2);
          if (fits(first + middle * alignedElements)) least = middle;
          else most = middle - 1;
        }
        last = first + least * alignedElements;
        if (last === first) {
          const needed = (starts[Math.min(end, first + alignedElements)] ?? 0) - firstTerm;
          throw limitError('a part of the rows', needed * termBytes, bindingBytes);
        }
      }
      parts.push({ first, count: last - first, firstTerm, terms: (starts[last] ?? 0) - firstTerm });
      first = last;
    }
  }
  return parts;
}

/** The part's own starts, counted from its first term. */
export function partStarts(starts: Uint32Array, part: RowPart): Uint32Array {
  const own = starts.slice(part.first, part.first + part.count + 1);
  if (part.firstTerm > 0) {
    for (let i = 0; i < own.length; i++) own[i] = (own[i] ?? 0) - part.firstTerm;
  }
  return own;
}

// The matrices A and B of a circuit, laid out for a device: entries in the order of their rows, and rows too long for one
// thread cut into segments whose sums are summed again, level by level. Pure arithmetic on indexes.

/** Terms that one thread adds up. */
export const segmentTerms = 32;

type RowsPlan = {
  /** Entry k: wire entries[2k], value entries[2k+1] of the dictionary. */
  readonly entries: Uint32Array;
  /**
   * Sum i of a level adds terms starts[i] … starts[i+1]-1: entries on the first level, sums of the level before on the others. The last
   * level has two sums per row of the domain: all of A, then all of B.
   */
  readonly levels: readonly Uint32Array[];
};

function accumulate(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  let total = 0;
  counts.forEach((count, index) => {
    total += count;
    starts[index + 1] = total;
  });
  return starts;
}

function longest(starts: Uint32Array): number {
  let most = 0;
  for (let i = 1; i < starts.length; i++) {
    most = Math.max(most, (starts[i] ?? 0) - (starts[i - 1] ?? 0));
  }
  return most;
}

/** Cuts every group into segments; `groups` counts the segments of each. */
function cut(starts: Uint32Array): {
  readonly segments: Uint32Array;
  readonly groups: Uint32Array;
} {
  const counts = new Uint32Array(starts.length - 1);
  for (let i = 0; i < counts.length; i++) {
    counts[i] = Math.ceil(((starts[i + 1] ?? 0) - (starts[i] ?? 0)) / segmentTerms);
  }
  const groups = accumulate(counts);
  const segments = new Uint32Array((groups.at(-1) ?? 0) + 1);
  let at = 0;
  for (let i = 0; i < counts.length; i++) {
    const end = starts[i + 1] ?? 0;
    for (let from = starts[i] ?? 0; from < end; from += segmentTerms) segments[at++] = from;
  }
  segments[at] = starts.at(-1) ?? 0;
  return { segments, groups };
}

/** @throws ProverError `zkey_malformed` for a row, wire or value that does not exist */
export function planRows(
  coefficients: ZkeyCoefficients,
  domainSize: number,
  wires: number,
): RowsPlan {
  const { matrix, row, wire, value, values } = coefficients;
  const valueCount = values.byteLength / 32;
  const counts = new Uint32Array(2 * domainSize);
  const place = (k: number): number => (matrix[k] === 0 ? 0 : domainSize) + (row[k] ?? 0);
  for (let k = 0; k < matrix.length; k++) {
    const isInside =
      (row[k] ?? domainSize) < domainSize &&
      (wire[k] ?? wires) < wires &&
      (value[k] ?? valueCount) < valueCount;
    if (!isInside) {
      throw new ProverError('zkey_malformed', `entry ${k} of the matrices points nowhere`);
    }
    const at = place(k);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const rowStarts = accumulate(counts);
  const next = rowStarts.slice(0, -1);
  const entries = new Uint32Array(2 * matrix.length);
  for (let k = 0; k < matrix.length; k++) {
    const at = place(k);
    const position = next[at] ?? 0;
    next[at] = position + 1;
    entries[2 * position] = wire[k] ?? 0;
    entries[2 * position + 1] = value[k] ?? 0;
  }
  const levels: Uint32Array[] = [];
  let starts = rowStarts;
  while (longest(starts) > segmentTerms) {
    const { segments, groups } = cut(starts);
    levels.push(segments);
    starts = groups;
  }
  levels.push(starts);
  return { entries, levels };
}

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
      const offset = (first - (buffers.length === 1 ? 0 : index * size)) * scalarBytes;
      return { buffer, offset, size: count * scalarBytes };
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
  const copied = new Uint8Array(terms * scalarBytes);
  for (let k = 0; k < terms; k++) {
    const from = (own[2 * k + 1] ?? 0) * scalarBytes;
    copied.set(values.subarray(from, from + scalarBytes), k * scalarBytes);
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
    const count = bytes.byteLength / scalarBytes;
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
          [keep(buffers.take(count * scalarBytes, { label: 'row parts' }), { secret: true })],
          count,
        );
    const entryBytes = hasOwnValues ? scalarBytes : bytesPerEntry;
    const parts = divideRows(starts, {
      bindingBytes,
      termBytes: terms === undefined ? entryBytes : scalarBytes,
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
