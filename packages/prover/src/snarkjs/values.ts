/**
 * Proofs, public signals and verification keys as callers of snarkjs hold them: from its files, or with BigInts, `0x` strings or
 * numbers instead of decimal strings.
 *
 * @module
 */
import type { VerificationKey } from '@pool/kernels';
import { argumentError } from '../base/errors.ts';
import type { Groth16Proof } from '../base/prover.ts';
import { toSolidityProof } from '../proof/solidity-proof.ts';

/** Deeper than a verification key. Stops cycles. */
const maximumDepth = 8;

/**
 * Writes numbers as the verifier takes them: BigInts, `0x` strings, decimal strings with leading zeros, and safe integers in arrays become
 * canonical decimal strings. Other values stay as they are: the verifier checks every value, and refuses these.
 */
function toDecimals(value: unknown, depth = 0): unknown {
  if (
    typeof value === 'bigint' ||
    (typeof value === 'string' && /^([0-9]{1,90}|0x[0-9a-fA-F]{1,64})$/.test(value))
  ) {
    return String(BigInt(value));
  }
  if (depth >= maximumDepth || typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown) =>
      Number.isSafeInteger(item) ? String(item) : toDecimals(item, depth + 1),
    );
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, toDecimals(inner, depth + 1)]),
  );
}

/** The arguments of a verifier, which checks them. */
export function toVerifierArguments(
  verificationKey: object,
  publicSignals: readonly unknown[],
  proof: object,
): [VerificationKey, readonly string[], Groth16Proof] {
  return [
    toDecimals(verificationKey) as VerificationKey,
    toDecimals(publicSignals) as readonly string[],
    toDecimals(proof) as Groth16Proof,
  ];
}

/**
 * The arguments of a Solidity verifier, as text for a call by hand.
 * @throws ProverError `argument_invalid` for a proof of another shape
 */
export function renderCallData(proof: object, publicSignals: readonly unknown[]): string {
  if (!Array.isArray(publicSignals)) {
    throw argumentError('The public signals are not an array. The proof comes first.');
  }
  const { a, b, c } = toSolidityProof(toDecimals(proof) as Groth16Proof);
  const pair = (words: readonly [string, string]) => `["${words[0]}", "${words[1]}"]`;
  const signals = publicSignals.map((signal: unknown) => {
    const [decimal] = toDecimals([signal]) as [unknown];
    const value = typeof decimal === 'string' && /^[0-9]+$/.test(decimal) ? BigInt(decimal) : -1n;
    if (value < 0n || value >> 256n !== 0n) {
      throw argumentError(
        'A public signal is not an integer from 0 to 2^256 - 1: use BigInts, safe integers, or decimal or 0x strings.',
      );
    }
    return `"0x${value.toString(16).padStart(64, '0')}"`;
  });
  return `${pair(a)},[${pair(b[0])},${pair(b[1])}],${pair(c)},[${signals.join(',')}]`;
}
