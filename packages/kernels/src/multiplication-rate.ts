/**
 * How fast this processor multiplies, to compare it with another device.
 *
 * @module
 */
import { KernelsError } from './runtime/errors.ts';
import { instantiateKernels } from './runtime/instantiate-kernels.ts';
import { encodeIntegers, scalarBytes, scalarFieldOrder } from './runtime/integers.ts';
import { findProcessors } from './runtime/kernel-options.ts';
import { createKernelMemory } from './runtime/memory.ts';
import { compileKernels, detectMultiplier, provingSet } from './runtime/wasm-module.ts';
import { elementBytes } from './scan/poseidon.ts';

const count = 1 << 10;
const pageBytes = 65_536;
/** The kernels' own constants, and elements in both forms. */
const memoryBytes = 4 * pageBytes;
/** Long enough for a clock of 1 ms. The engine optimises the code in the first rounds; the fastest round counts. */
const roundMs = 5;
const rounds = 4;

/**
 * Multiplies elements of the scalar field on the calling thread for 20 ms: the conversion into Montgomery form is one multiplication
 * for each.
 * @param threads - default: all cores
 * @returns multiplications per second of that many threads, as if none slowed down another
 */
export async function measureMultiplications(threads = findProcessors()): Promise<number> {
  const { memory, allocate, view } = createKernelMemory(pageBytes, memoryBytes, false);
  const module = await compileKernels(provingSet, detectMultiplier(), false);
  const convert = instantiateKernels(module, memory).get('r_fromCanonical');
  if (convert === undefined)
    throw new KernelsError('start_failed', 'no kernel is named r_fromCanonical');
  const plain = allocate(count * scalarBytes);
  const elements = allocate(count * elementBytes).address;
  encodeIntegers(
    Array<bigint>(count).fill(scalarFieldOrder - 1n),
    view(plain.address, plain.bytes),
  );
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    let calls = 0;
    let tookMs = 0;
    do {
      convert(elements, plain.address, count);
      calls += 1;
      tookMs = performance.now() - startedAt;
    } while (tookMs < roundMs);
    best = Math.max(best, (1000 * calls * count) / tookMs);
  }
  return threads * best;
}
