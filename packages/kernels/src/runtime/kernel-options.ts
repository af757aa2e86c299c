/**
 * What kernels are created with, and the defaults.
 *
 * @module
 */
import { addressableBytes } from './memory.ts';
import { findBuiltin } from './module-beside.ts';
import { canShareMemory } from './thread-port.ts';
import { detectMultiplier, type Multiplier } from './wasm-module.ts';

export type KernelsOptions = {
  /**
   * Default: one for each processor that the process may use. In a page that is not cross-origin isolated there is one thread, the
   * calling one: threads cannot share memory there. Kernels for provers then have workers with memories of their own.
   */
  readonly threads?: number | undefined;
  /** Memory budget, at most 4 GiB. Default: 4 GiB, or three quarters of the machine's memory if that is less. */
  readonly maximumBytes?: number | undefined;
  /** `float` needs relaxed SIMD and a processor with fused multiply-add. `auto`, the default, tests for both. */
  readonly multiplier?: 'auto' | Multiplier | undefined;
};

/** A browser does not say how much memory the machine has. */
function findDefaultBudget(): number {
  const total = findBuiltin('node:os')?.totalmem() ?? Number.POSITIVE_INFINITY;
  return Math.min(addressableBytes, 0.75 * total);
}

/** Some browsers hide it. */
export function findProcessors(): number {
  const { hardwareConcurrency } = navigator as { readonly hardwareConcurrency?: number };
  return hardwareConcurrency ?? 1;
}

/** The options with their defaults. */
export function completeOptions(options: KernelsOptions) {
  const {
    threads = findProcessors(),
    maximumBytes = findDefaultBudget(),
    multiplier: wanted = 'auto',
  } = options;
  return {
    ...{ threads, maximumBytes },
    multiplier: wanted === 'auto' ? detectMultiplier() : wanted,
  };
}

/** For people. */
export function describeInstructions(multiplier: Multiplier): string {
  return multiplier === 'float' ? 'relaxed SIMD' : 'SIMD';
}

/** Description of what kernels run on, for people. @param count - of threads */
export function describeKernels(count: number, multiplier: Multiplier): string {
  const isolation = canShareMemory() ? '' : ' (the page is not cross-origin isolated)';
  return `WebAssembly, ${count} thread${count === 1 ? '' : 's'}${isolation}, ${describeInstructions(multiplier)}`;
}
