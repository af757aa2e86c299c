// The compiled kernels, and which of their two multipliers this machine can run.
//
// Both modules export the same functions over the same memory format (codegen/README.md); constants depend on the
// multiplier's R: the two modules never share a memory.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { code as probeCode } from '../generated/probe.ts';
import { code as smallCode } from '../generated/scan-integer.ts';
import { canShareMemory } from './thread-port.ts';

export type Multiplier = 'float' | 'integer';

/** A set of kernels, by multiplier. Each module is loaded when it is compiled, as a file of its own: a page needs few of them. */
export type KernelSet = Readonly<Record<Multiplier, () => Promise<{ readonly code: string }>>>;

/** The curve and the transforms of a prover, and both fields. */
export const provingSet: KernelSet = {
  float: () => import('../generated/proving-float.ts'),
  integer: () => import('../generated/proving-integer.ts'),
};

/** Baby Jubjub, Poseidon, and the scalar field. */
export const scanSet: KernelSet = {
  float: () => import('../generated/scan-float.ts'),
  integer: async () => ({ code: smallCode }),
};

/**
 * `float` if relaxed SIMD exists and its multiply-add rounds once, else `integer`. A probe tests the processor instead of the
 * engine's version: relaxed_madd may round twice on a processor without FMA.
 */
export function detectMultiplier(): Multiplier {
  const bytes = Uint8Array.from(hexToBytes(probeCode));
  if (!WebAssembly.validate(bytes)) return 'integer';
  const { probe } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  return typeof probe === 'function' && (probe as () => unknown)() === 1 ? 'float' : 'integer';
}

/** The end of the memory import, with the flag of its limits: a maximum (1), and shared between threads (2). */
const memoryImport = [...new TextEncoder().encode('\x06memory'), 2];
const [flagUnshared, flagShared] = [1, 3];

/** The bytes of a module that imports a memory of its own: the kernels use no atomic instruction, so one flag is the difference. */
function decodeModule(code: string, shared: boolean): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(hexToBytes(code));
  if (shared) return bytes;
  const flag = memoryImport.length;
  const at = bytes.findIndex(
    (_, start) =>
      bytes[start + flag] === flagShared &&
      memoryImport.every((byte, index) => bytes[start + index] === byte),
  );
  bytes[at + flag] = flagUnshared;
  return bytes;
}

/**
 * Compiles the scan kernels of the `integer` multiplier, the smallest code, at once: about 1 ms, because the engine compiles a
 * function when it is first called. The module imports `env.memory`, not shared, with at least one page.
 */
export function compileSmallKernels(): WebAssembly.Module {
  return new WebAssembly.Module(decodeModule(smallCode, false));
}

/** Compiles the kernels. The module imports `env.memory`, with at least one page. @param shared - whether that memory is shared */
export async function compileKernels(
  set: KernelSet,
  multiplier: Multiplier,
  shared: boolean = canShareMemory(),
): Promise<WebAssembly.Module> {
  const { code } = await set[multiplier]();
  return await WebAssembly.compile(decodeModule(code, shared));
}

/** SHA-256 of the compiled code of a prover: another one may lay out its memory in another way. */
export async function digestProvingKernels(multiplier: Multiplier): Promise<string> {
  const { code } = await provingSet[multiplier]();
  const bytes = new TextEncoder().encode(code);
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
