/**
 * The rules for the contributions of a key before it may be used: at least one is secret, and at most one is a beacon, which must
 * be the last.
 *
 * Attack prevented here: the factor of a beacon is public. If a key has no other contribution, everyone who reads its transcript
 * knows delta and can forge proofs for any public inputs (`beacon-only.test.ts` does).
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Contribution } from '../files/transcript.ts';

/** What a check of a key or of its powers of tau found. */
export type KeyFinding =
  | 'no_contribution'
  | 'beacon_not_last'
  | 'beacon_mismatch'
  | 'contribution_point_invalid'
  | 'contribution_transcript_mismatch'
  | 'contribution_proof_invalid'
  | 'contribution_delta_mismatch'
  | 'contribution_trivial'
  | 'circuit_mismatch'
  | 'circuit_hash_mismatch'
  | 'coefficients_mismatch'
  | 'powers_mismatch'
  | 'a_points_mismatch'
  | 'b1_points_mismatch'
  | 'b2_points_mismatch'
  | 'public_points_mismatch'
  | 'private_points_mismatch'
  | 'quotient_points_mismatch'
  | 'delta_trivial'
  | 'delta_invalid'
  | 'delta_mismatch'
  | 'delta_pair_mismatch'
  | 'ptau_digest_mismatch'
  | 'ptau_inconsistent'
  | 'ptau_contribution_invalid'
  | 'ptau_no_secret_contribution';

/** A problem of a key. The message is for people, the code for programs. */
export type KeyProblem = { readonly code: KeyFinding; readonly message: string };

/** The problem as an error: `no_contribution`, else `ceremony_invalid` with the finding in its details. */
export function createKeyError({ code, message }: KeyProblem): PoolError {
  return new PoolError(code === 'no_contribution' ? code : 'ceremony_invalid', message, {
    details: { finding: code },
  });
}

/** Anyone can forge proofs under a key with one of these problems, even if everything else is right. */
const noContribution: KeyProblem = {
  code: 'no_contribution',
  message: 'Nobody contributed to this key: anyone can forge proofs under it.',
};
const noSecretContribution: KeyProblem = {
  code: 'no_contribution',
  message:
    'Only a beacon contributed to this key, and its factor is public: anyone can forge proofs under it. At least one contribution must be secret.',
};

/** All problems with the kinds and the order of the contributions. */
export function findShapeProblems(
  contributions: readonly Pick<Contribution, 'type'>[],
): KeyProblem[] {
  if (contributions.length === 0) {
    return [noContribution];
  }
  const problems: KeyProblem[] = [];
  if (!contributions.some(({ type }) => type === 'secret')) {
    problems.push(noSecretContribution);
  }
  const first = contributions.findIndex(({ type }) => type === 'beacon');
  if (first !== -1 && first !== contributions.length - 1) {
    problems.push({
      code: 'beacon_not_last',
      message: `Contribution ${first + 1} is a beacon, and others follow it. A ceremony has at most one beacon, and it must be the last contribution.`,
    });
  }
  return problems;
}

/** @throws PoolError `ceremony_invalid` if the key holds a beacon */
export function requireOpenCeremony(contributions: readonly Pick<Contribution, 'type'>[]): void {
  if (contributions.some(({ type }) => type === 'beacon')) {
    throw new PoolError(
      'ceremony_invalid',
      'The key already holds a beacon, so nothing may follow. Contribute to the key before the beacon.',
    );
  }
}

/** @throws PoolError `no_contribution` if a beacon would be alone */
export function requireSecretContribution(
  contributions: readonly Pick<Contribution, 'type'>[],
): void {
  if (!contributions.some(({ type }) => type === 'secret')) {
    throw new PoolError(
      'no_contribution',
      'The key has no secret contribution yet, and the factor of a beacon is public. Contribute before the beacon.',
    );
  }
}
