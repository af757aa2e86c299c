/**
 * The rules for the contributions of a key before it may be used: at least one is secret, and at most one is a beacon, which must
 * be the last.
 *
 * Attack prevented here: the factor of a beacon is public. If a key has no other contribution, everyone who reads its transcript
 * knows delta and can forge proofs for any public inputs (`beacon-only.test.ts` does).
 *
 * @module
 */
import { type ErrorCode, PoolError } from '@pool/core';
import type { Contribution } from '../files/transcript.ts';

/** A problem of a key. The message is for people, the code for programs. */
export type KeyProblem = { readonly code: ErrorCode; readonly message: string };

/** Anyone can forge proofs under a key with one of these problems, even if everything else is right. */
const noContribution: KeyProblem = {
  code: 'no_contribution',
  message: 'Nobody contributed to this key: anyone can forge proofs under it.',
};
const noSecretContribution: KeyProblem = {
  code: 'no_secret_contribution',
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

/** @throws PoolError `ceremony_closed` if the key holds a beacon */
export function requireOpenCeremony(contributions: readonly Pick<Contribution, 'type'>[]): void {
  if (contributions.some(({ type }) => type === 'beacon')) {
    throw new PoolError(
      'ceremony_closed',
      'The key already holds a beacon, so nothing may follow. Contribute to the key before the beacon.',
    );
  }
}

/** @throws PoolError `no_contribution`, `no_secret_contribution` if a beacon would be alone */
export function requireSecretContribution(
  contributions: readonly Pick<Contribution, 'type'>[],
): void {
  if (!contributions.some(({ type }) => type === 'secret')) {
    const { code } = contributions.length === 0 ? noContribution : noSecretContribution;
    throw new PoolError(
      code,
      'The key has no secret contribution yet, and the factor of a beacon is public. Contribute before the beacon.',
    );
  }
}
