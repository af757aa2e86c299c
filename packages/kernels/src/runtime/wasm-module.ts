// The compiled kernels, and which of their two multipliers this machine can run.
//
// Both modules export the same functions over the same memory format (codegen/README.md); constants depend on the
// multiplier's R: the two modules never share a memory.

import { bytesToHex } from '@noble/hashes/utils.js';
import { WASM } from '../generated/wasm.ts';
import { canShareMemory } from './thread-port.ts';

export type Multiplier = 'float' | 'integer';

function decode(base64: string): Uint8Array<ArrayBuffer> {
  // A browser has no Buffer.
  return typeof Buffer === 'function'
    ? Uint8Array.from(Buffer.from(base64, 'base64'))
    : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/**
 * `float` if relaxed SIMD exists and its multiply-add rounds once, else `integer`. A probe tests the processor instead of the
 * engine's version: relaxed_madd may round twice on a processor without FMA.
 */
export function detectMultiplier(): Multiplier {
  const bytes = decode(WASM.probe);
  if (!WebAssembly.validate(bytes)) return 'integer';
  const { probe } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  return typeof probe === 'function' && (probe as () => unknown)() === 1 ? 'float' : 'integer';
}

/** The end of the memory import, with the flag of its limits: a maximum (1), and shared between threads (2). */
const memoryImport = [...new TextEncoder().encode('\x06memory'), 2];
const [flagUnshared, flagShared] = [1, 3];

/** The bytes of a module that imports a memory of its own: the kernels use no atomic instruction, so one flag is the difference. */
function decodeModule(multiplier: Multiplier, shared: boolean): Uint8Array<ArrayBuffer> {
  const bytes = decode(WASM[multiplier]);
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
 * Compiles the kernels at once: about 1 ms, because the engine compiles a function when it is first called. The module imports
 * `env.memory`, not shared, with at least one page.
 */
export function compileKernelsNow(multiplier: Multiplier): WebAssembly.Module {
  return new WebAssembly.Module(decodeModule(multiplier, false));
}

/** Compiles the kernels. The module imports `env.memory`, with at least one page. @param shared - whether that memory is shared */
export function compileKernels(
  multiplier: Multiplier,
  shared: boolean = canShareMemory(),
): Promise<WebAssembly.Module> {
  return WebAssembly.compile(decodeModule(multiplier, shared));
}

/** SHA-256 of the compiled code: another one may lay out its memory in another way. */
export async function digestKernels(multiplier: Multiplier): Promise<string> {
  const code = new TextEncoder().encode(WASM[multiplier]);
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', code)));
}
