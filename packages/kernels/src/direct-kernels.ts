/**
 * Single hashes and products, at once and on the calling thread: for the few of them that one note takes. Many are faster on all
 * threads (`createScanKernels`).
 *
 * Side channels: as in scan/babyjubjub.ts. Inputs, results and everything between them are erased from the kernels' memory at the
 * end of each call.
 *
 * @module
 */
import { KernelsError } from './runtime/errors.ts';
import { instantiateKernels } from './runtime/instantiate-kernels.ts';
import { decodeInteger, encodeIntegers, scalarBytes } from './runtime/integers.ts';
import { createKernelMemory } from './runtime/memory.ts';
import {
  compileKernels,
  compileSmallKernels,
  detectMultiplier,
  scanSet,
} from './runtime/wasm-module.ts';
import { recodeScalar } from './scan/babyjubjub.ts';
import { elementBytes, listConstants, type PoseidonConstants, pairBytes } from './scan/poseidon.ts';

/** A Baby Jubjub point in affine coordinates, each below r. */
export type CurvePoint = { readonly x: bigint; readonly y: bigint };

export type DirectKernels = {
  /**
   * One Poseidon hash.
   * @param inputs - `width - 1` numbers below r
   * @throws KernelsError `input_refused` for constants that are not complete
   */
  readonly hashPoseidon: (constants: PoseidonConstants, inputs: readonly bigint[]) => bigint;
  /**
   * Unpacks and checks points (see scan/babyjubjub.ts), and multiplies each by the scalar, if there is one.
   * @param packed - one or two points of 32 bytes each, concatenated; untrusted. Two take as long as one
   * @param scalar - 1 … l-1, secret
   * @returns undefined for each point that is refused
   * @throws KernelsError `input_refused` for a scalar out of range
   */
  readonly multiplyPoints: (
    packed: Uint8Array,
    scalar?: bigint,
  ) => readonly (CurvePoint | undefined)[];
};

const pageBytes = 65_536;
/** The kernels' own constants, their scratch memory, and the constants of Poseidon for every width: 200 kB. */
const memoryBytes = 8 * pageBytes;
const lanes = 2;
const maximumWords = 7;
const pointBytes = 2 * scalarBytes;

/** @throws KernelsError `input_refused` unless 0 < scalar < l */
function recode(scalar: bigint): Uint8Array {
  // A longer number would be cut.
  const bytes = encodeIntegers([scalar >> 256n === 0n ? scalar : 0n]);
  try {
    return recodeScalar(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** About 0.1 s of work. */
const fewCalls = 256;

/** It begins with the smallest code. After some calls it loads the fastest, which gives the same results. */
export function createDirectKernels(): DirectKernels {
  let current = openDirectKernels(compileSmallKernels());
  let calls = 0;
  const pick = (): DirectKernels => {
    calls += 1;
    if (calls === fewCalls && detectMultiplier() === 'float') void loadFastest();
    return current;
  };
  const loadFastest = async (): Promise<void> => {
    try {
      current = openDirectKernels(await compileKernels(scanSet, 'float', false));
    } catch {
      // A page whose server is gone cannot load it. The small code does the same.
    }
  };
  return {
    hashPoseidon: (...args) => pick().hashPoseidon(...args),
    multiplyPoints: (...args) => pick().multiplyPoints(...args),
  };
}

/** @param module - scan kernels, for a memory that is not shared */
export function openDirectKernels(module: WebAssembly.Module): DirectKernels {
  const { memory, allocate, view } = createKernelMemory(pageBytes, memoryBytes, false);
  const kernels = instantiateKernels(module, memory);
  const call = (name: string, ...numbers: readonly number[]): unknown => {
    const kernel = kernels.get(name);
    if (kernel === undefined) throw new KernelsError('start_failed', `no kernel is named ${name}`);
    return kernel(...numbers);
  };
  const scratchBytes = Math.max(Number(call('bj_scratchBytes', 1)), 2 * maximumWords * pairBytes);
  const inputs = allocate(lanes * maximumWords * scalarBytes).address;
  const results = allocate(lanes * pointBytes).address;
  const valid = allocate(lanes).address;
  const digits = allocate(recodeScalar(encodeIntegers([1n])).length).address;
  const scratch = allocate(scratchBytes).address;
  // The blocks lie one after the other, in fresh memory, which is zero.
  const erase = (): void => {
    view(inputs, scratch + scratchBytes - inputs).fill(0);
  };

  const tables = new Map<PoseidonConstants, number>();
  const load = (constants: PoseidonConstants): number => {
    const known = tables.get(constants);
    if (known !== undefined) return known;
    const list = listConstants(constants);
    const table = allocate(list.length * elementBytes).address;
    const plain = allocate(list.length * scalarBytes);
    encodeIntegers(list, view(plain.address, plain.bytes));
    call('r_fromCanonical', table, plain.address, list.length);
    plain.release();
    tables.set(constants, table);
    return table;
  };

  return {
    hashPoseidon(constants, words) {
      const { width, partialRounds } = constants;
      const table = load(constants);
      try {
        encodeIntegers(words, view(inputs, (width - 1) * scalarBytes));
        call('poseidon_hash', results, inputs, 1, table, width, partialRounds, scratch);
        return decodeInteger(view(results, scalarBytes), 0);
      } finally {
        erase();
      }
    },
    multiplyPoints(packed, scalar) {
      if (packed.length !== scalarBytes && packed.length !== lanes * scalarBytes) {
        throw new KernelsError('input_refused', 'there must be one or two points of 32 bytes');
      }
      const recoded = scalar === undefined ? undefined : recode(scalar);
      try {
        view(inputs, packed.length).set(packed);
        call('bj_unpack', inputs, valid, 1, scratch);
        if (recoded !== undefined) {
          view(digits, recoded.length).set(recoded);
          call('bj_multiplyAll', digits, 1, scratch);
        }
        call('bj_affine', results, 1, scratch);
        return Array.from({ length: packed.length / scalarBytes }, (_, lane) => {
          const point = view(results + lane * pointBytes, pointBytes);
          return view(valid, lanes)[lane] === 1
            ? { x: decodeInteger(point, 0), y: decodeInteger(point, 1) }
            : undefined;
        });
      } finally {
        recoded?.fill(0);
        erase();
      }
    },
  };
}
