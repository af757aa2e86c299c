/**
 * What proves, as told to people and to readiness checks.
 *
 * @module
 */

/** What the proofs run on; for a readiness route. */
export type AcceleratorDescription = {
  /** `none` before the first proof decides, and for dry runs. */
  readonly kind: 'cpu' | 'webgpu' | 'none';
  readonly detail: string;
};
