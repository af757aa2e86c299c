/**
 * The kernels for single hashes and products. They are compiled once per process, when they are first needed; calls leave nothing in them.
 *
 * @module
 */
import { createDirectKernels, type DirectKernels } from '@pool/kernels';

let compiled: DirectKernels | undefined;

export function directKernels(): DirectKernels {
  compiled ??= createDirectKernels();
  return compiled;
}
