// The compiled kernels, and which of their two multipliers this machine can run.
//
// Both modules export the same functions over the same memory format (codegen/README.md); constants depend on the
// multiplier's R: the two modules never share a memory.

import { WASM } from '../generated/wasm.ts';

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

/** Compiles the kernels at once: about 1 ms, because the engine compiles a function when it is first called. */
export function compileKernelsNow(multiplier: Multiplier): WebAssembly.Module {
  return new WebAssembly.Module(decode(WASM[multiplier]));
}

/** Compiles the kernels. The module imports `env.memory`, shared, with at least one page. */
export function compileKernels(multiplier: Multiplier): Promise<WebAssembly.Module> {
  return WebAssembly.compile(decode(WASM[multiplier]));
}
