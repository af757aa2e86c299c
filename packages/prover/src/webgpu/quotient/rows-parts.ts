/**
 * How the sums of the rows are divided so that no binding exceeds a device's limit: parts of consecutive sums, with the
 * terms that they add up. Pure arithmetic on sizes.
 *
 * @module
 */
import { bindingAlignment, limitError } from '../device/bindings.ts';
import { elementBytes } from '../device/elements.ts';

/** Offsets into elements are multiples of this. */
const alignedElements = bindingAlignment / elementBytes;
/** Wire and value of an entry. */
export const bytesPerEntry = 8;

/** Sums first … first+count-1 of a level, which add up terms firstTerm … firstTerm+terms-1. */
export type RowPart = {
  readonly first: number;
  readonly count: number;
  readonly firstTerm: number;
  readonly terms: number;
};

export type PartLimits = {
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
export function alignDown(index: number): number {
  return index - (index % alignedElements);
}

/**
 * Parts of one level, as few as possible; `starts` as in rows-plan.ts.
 * @throws ProverError `accelerator_limit_exceeded` for a device that cannot bind eight sums and their terms
 */
export function divideRows(starts: Uint32Array, limits: PartLimits): readonly RowPart[] {
  const { bindingBytes, termBytes, areTermsInPlace, cuts } = limits;
  const total = starts.length - 1;
  const mostSums = alignDown(
    Math.min(Math.floor(bindingBytes / elementBytes), Math.floor(bindingBytes / 4) - 1),
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
