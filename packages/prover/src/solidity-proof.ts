/**
 * Between snarkjs' proof and the calldata of a Solidity verifier, whose pairing precompile (EIP-197) takes the coordinates of G2
 * with the imaginary part first.
 *
 * @module
 */
import type { Groth16Proof } from './groth16.ts';

/** 32-byte words, `0x` and 64 lower-case hex digits, big-endian. Public. */
export type SolidityProof = {
  a: [string, string];
  b: [[string, string], [string, string]];
  c: [string, string];
};

function toWord(decimal: string): string {
  return `0x${BigInt(decimal).toString(16).padStart(64, '0')}`;
}
function toDecimal(word: string): string {
  return BigInt(word).toString();
}

/** The proof as `uint256[2] a, uint256[2][2] b, uint256[2] c`. */
export function toSolidityProof({ pi_a, pi_b, pi_c }: Groth16Proof): SolidityProof {
  return {
    a: [toWord(pi_a[0]), toWord(pi_a[1])],
    b: [
      [toWord(pi_b[0][1]), toWord(pi_b[0][0])],
      [toWord(pi_b[1][1]), toWord(pi_b[1][0])],
    ],
    c: [toWord(pi_c[0]), toWord(pi_c[1])],
  };
}

/** The inverse of {@link toSolidityProof}. Checks nothing: `verifyProof` does. */
export function fromSolidityProof({ a, b, c }: SolidityProof): Groth16Proof {
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
}
