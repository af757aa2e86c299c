/**
 * Description of the device or processor that makes proofs, for people and for readiness checks.
 *
 * @module
 */

/** The device or processor that makes the proofs; for a readiness route. */
export type AcceleratorDescription = {
  /** `none` before the first proof starts an engine, and for dry runs. */
  readonly kind: 'cpu' | 'webgpu' | 'none';
  readonly detail: string;
};
