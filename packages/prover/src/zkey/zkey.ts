/**
 * A Groth16 proving key for an engine: a checked header, and sections that are read piece by piece.
 *
 * @module
 */
import type { ZkeyCoefficients, ZkeyHeaderFields, ZkeyPointSection } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';

// Errors of the prover for failures while a proving key is read.

/** The error for a proving key that is damaged, or not a Groth16 key over BN254. */
export function malformed(message: string): ProverError {
  return new ProverError('zkey_malformed', message);
}

/**
 * Waits for work on a key and converts its errors: errors of the format become `zkey_malformed`, arrays that cannot be allocated
 * `memory_budget_exceeded`.
 */
export async function translate<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProverError) {
      throw error;
    }
    if (error instanceof Error && 'code' in error && error.code === 'zkey_malformed') {
      throw malformed(error.message);
    }
    if (error instanceof RangeError) {
      throw new ProverError(
        'memory_budget_exceeded',
        'A section of the proving key is larger than an array can be. Use a smaller key.',
        { cause: error },
      );
    }
    throw error;
  }
}

export type { ZkeyCoefficients } from '@pool/kernels';

/**
 * Sections of points. `a`, `b1` (G1), `b2` (G2): one point per wire; `c`: one per private wire; `h`: one per row of the domain.
 */
export type PointSection = ZkeyPointSection;

export type ZkeyHeader = ZkeyHeaderFields & {
  /** Non-zero entries of the matrices A and B, including the rows for public signals. */
  readonly coefficients: number;
};

export type Zkey = {
  readonly header: ZkeyHeader;
  /** Number of points in a section. */
  readonly countPoints: (section: PointSection) => number;
  /**
   * Reads points start … start+count-1 in the encoding of the file: 64 bytes each in G1, 128 in G2 (x.c0, x.c1, y.c0, y.c1);
   * coordinates times 2^256 mod q, little-endian; all zeros is the point at infinity. Writes to the beginning of `into`.
   * @throws ProverError `zkey_malformed` if the file ended or a coordinate is not below q
   */
  readonly readPoints: (
    section: PointSection,
    start: number,
    count: number,
    into: Uint8Array,
  ) => Promise<void>;
  /**
   * The entries of A and B in one pass, in the order of the file: `matrix` 0 is A, 1 is B. Values are indices into a dictionary,
   * because circuits use few different ones.
   */
  readonly readCoefficients: () => Promise<ZkeyCoefficients>;
  readonly close: () => Promise<void>;
};
