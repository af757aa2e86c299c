/**
 * Converts between snarkjs' proof and the calldata of a Solidity verifier. The verifier's pairing precompile (EIP-197) takes the
 * imaginary part of a G2 coordinate first.
 *
 * @module
 */
import { argumentError, ProverError } from '../base/errors.ts';
import type { Groth16Proof } from '../base/prover.ts';

/** 32-byte words, `0x` and 64 lower-case hex digits, big-endian. Public. */
export type SolidityProof = {
  a: [string, string];
  b: [[string, string], [string, string]];
  c: [string, string];
};

function toWord(decimal: unknown): string {
  if (
    typeof decimal !== 'string' ||
    !/^[0-9]{1,78}$/.test(decimal) ||
    BigInt(decimal) >> 256n !== 0n
  ) {
    throw argumentError('A coordinate of the proof is not a decimal integer below 2^256.');
  }
  return `0x${BigInt(decimal).toString(16).padStart(64, '0')}`;
}
function toDecimal(word: string): string {
  if (!/^0x[0-9a-fA-F]{1,64}$/.test(word)) {
    throw argumentError('A coordinate of the proof is not a 0x-prefixed word of at most 32 bytes.');
  }
  return BigInt(word).toString();
}

/** Turns the TypeError for a proof without one of its points into a ProverError. */
function convert<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ProverError
      ? error
      : argumentError('The proof does not have the points of a Groth16 proof.', error);
  }
}

/**
 * The proof as `uint256[2] a, uint256[2][2] b, uint256[2] c`.
 * @throws ProverError `argument_invalid` for a proof of another shape
 */
export function toSolidityProof(proof: Groth16Proof): SolidityProof {
  return convert(() => {
    const { pi_a, pi_b, pi_c } = proof;
    return {
      a: [toWord(pi_a[0]), toWord(pi_a[1])],
      b: [
        [toWord(pi_b[0][1]), toWord(pi_b[0][0])],
        [toWord(pi_b[1][1]), toWord(pi_b[1][0])],
      ],
      c: [toWord(pi_c[0]), toWord(pi_c[1])],
    };
  });
}

/**
 * The inverse of {@link toSolidityProof}. It does not check the points: `verifyProof` does.
 * @throws ProverError `argument_invalid` for a proof of another shape
 */
export function fromSolidityProof(proof: SolidityProof): Groth16Proof {
  return convert(() => {
    const { a, b, c } = proof;
    return {
      pi_a: [toDecimal(a[0]), toDecimal(a[1]), '1'],
      pi_b: [
        [toDecimal(b[0][1]), toDecimal(b[0][0])],
        [toDecimal(b[1][1]), toDecimal(b[1][0])],
        ['1', '0'],
      ],
      pi_c: [toDecimal(c[0]), toDecimal(c[1]), '1'],
      protocol: 'groth16',
      curve: 'bn128',
    };
  });
}
