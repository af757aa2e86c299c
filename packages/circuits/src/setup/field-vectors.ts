/**
 * Arithmetic in BN254's base field F_q on whole vectors, by the WebAssembly kernels, on one thread. A vector is an address in the
 * module's memory; its elements are 5 doubles each (the kernels' own format), all zeros for 0.
 *
 * @module
 */
import { compileKernels, detectMultiplier, instantiateKernels } from '@pool/kernels';
import { ELEMENT_BYTES } from './scalars.ts';

/** Doubles in an element. */
export const LIMBS = 5;
const VECTOR_ELEMENT_BYTES = 8 * LIMBS;
/** Below lie the kernels' constants. */
const HEAP_START = 65_536;
const PAGE_BYTES = 65_536;
/** Pairs that the inversion needs for itself. */
const INVERSION_PAIRS = 18;

export type FieldVectors = {
  /** The memory as doubles: element i of a vector begins at vector / 8 + 5 i. */
  readonly doubles: Float64Array;
  /** Room for `count` elements. */
  readonly allocate: (count: number) => number;
  /** to[i] = a[i] * b[i]; `to` may be an operand, here and below. */
  readonly multiply: (to: number, a: number, b: number, count: number) => void;
  readonly square: (to: number, a: number, count: number) => void;
  readonly add: (to: number, a: number, b: number, count: number) => void;
  /** Afterwards 0 has only zero limbs. */
  readonly subtract: (to: number, a: number, b: number, count: number) => void;
  readonly negate: (to: number, a: number, count: number) => void;
  /** Inverts in place; no element may be 0, and `count` is at most what the vectors were created for. */
  readonly invert: (values: number, count: number) => void;
  /** Elements from integers below q, 32 bytes little-endian each. */
  readonly importIntegers: (to: number, integers: Uint8Array) => void;
  /** Integers below q, times 2^256 mod q if `montgomery`: as a `.zkey` stores coordinates. Good until the next call. */
  readonly exportIntegers: (from: number, count: number, montgomery: boolean) => Uint8Array;
};

export type FieldVectorsOptions = {
  /** Elements that will be allocated, at most. */
  readonly elements: number;
  /** Length of the longest vector to invert, import or export. */
  readonly longest: number;
};

/** Compiles the kernels and sets memory aside. */
export const createFieldVectors = async ({
  elements,
  longest,
}: FieldVectorsOptions): Promise<FieldVectors> => {
  const pairs = Math.ceil(longest / 2);
  const pairBytes = 2 * VECTOR_ELEMENT_BYTES;
  const integersAt = HEAP_START;
  const pairsAt = integersAt + longest * ELEMENT_BYTES;
  const scratchAt = pairsAt + pairs * pairBytes;
  const heapAt = scratchAt + (INVERSION_PAIRS + pairs) * pairBytes;
  const pages = Math.ceil((heapAt + elements * VECTOR_ELEMENT_BYTES) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const kernels = instantiateKernels(await compileKernels(detectMultiplier()), memory);
  const kernel = (name: string) => {
    const found = kernels.get(`q_${name}`);
    if (found === undefined) {
      throw new TypeError(`the kernels have no q_${name}`);
    }
    return found;
  };
  const doubles = new Float64Array(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  const [multiply, square, add, subtract, negate, invertPairs] = [
    kernel('multiply'),
    kernel('square'),
    kernel('add'),
    kernel('subtract'),
    kernel('negate'),
    kernel('invertPairs'),
  ] as const;
  const [fromCanonical, toCanonical, toMontgomery256] = [
    kernel('fromCanonical'),
    kernel('toCanonical'),
    kernel('toMontgomery256'),
  ] as const;
  let next = heapAt;

  const vectors: FieldVectors = {
    doubles,
    allocate: (count) => {
      const address = next;
      next += count * VECTOR_ELEMENT_BYTES;
      if (next > memory.buffer.byteLength) {
        throw new RangeError('more elements than the vectors were created for');
      }
      return address;
    },
    multiply: (to, a, b, count) => void multiply(to, a, b, count),
    square: (to, a, count) => void square(to, a, count),
    add: (to, a, b, count) => void add(to, a, b, count),
    subtract: (to, a, b, count) => void subtract(to, a, b, count),
    negate: (to, a, count) => void negate(to, a, count),
    invert: (values, count) => {
      if (count === 0) {
        return;
      }
      // The kernel wants the elements in pairs, limb by limb; the partner of an odd last one is itself.
      const used = Math.ceil(count / 2);
      const from = values / 8;
      const paired = pairsAt / 8;
      for (let pair = 0; pair < used; pair++) {
        const first = from + 2 * pair * LIMBS;
        const second = 2 * pair + 1 < count ? first + LIMBS : first;
        const to = paired + 2 * pair * LIMBS;
        for (let limb = 0; limb < LIMBS; limb++) {
          doubles[to + 2 * limb] = doubles[first + limb] ?? 0;
          doubles[to + 2 * limb + 1] = doubles[second + limb] ?? 0;
        }
      }
      invertPairs(pairsAt, used, scratchAt);
      for (let i = 0; i < count; i++) {
        const source = paired + 2 * (i >> 1) * LIMBS + (i & 1);
        for (let limb = 0; limb < LIMBS; limb++) {
          doubles[from + i * LIMBS + limb] = doubles[source + 2 * limb] ?? 0;
        }
      }
    },
    importIntegers: (to, integers) => {
      bytes.set(integers, integersAt);
      fromCanonical(to, integersAt, integers.length / ELEMENT_BYTES);
    },
    exportIntegers: (from, count, montgomery) => {
      (montgomery ? toMontgomery256 : toCanonical)(integersAt, from, count);
      return bytes.subarray(integersAt, integersAt + count * ELEMENT_BYTES);
    },
  };
  return vectors;
};
