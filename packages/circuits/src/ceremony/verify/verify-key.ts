/**
 * Checks a key in full against its circuit and its powers of tau (protocol §9): it is the initial key of both, with delta
 * multiplied by the factors of the recorded contributions and with no other change.
 *
 * The record of contributions is checked first (`verify-transcript.ts`), then the powers of tau and their origin
 * (`verify-powers.ts`, `powers-origin.ts`), then every section of the key (`verify-sections.ts`). A wrong point passes with
 * probability about 2^-128.
 *
 * @module
 */

import { openKeyFile } from '../files/key-file.ts';
import { openPowersOfTau } from '../files/powers-of-tau.ts';
import { type Beacon, computeContributionHash, readRecord } from '../files/transcript.ts';
import type { KeyProblem } from '../key/contribution-rules.ts';
import type { InitialKeyOptions } from '../key/initial-key.ts';
import { readCircuit } from '../key/initialise.ts';
import { findOriginProblem, type OriginOptions } from '../key/powers-origin.ts';
import { findTranscriptProblems } from '../key/verify-transcript.ts';
import type { PointArithmetic } from '../points/point-arithmetic.ts';
import { findPowersProblems } from './verify-powers.ts';
import { findSectionProblems } from './verify-sections.ts';

export type VerifiedContribution = {
  readonly name: string | undefined;
  readonly type: 'secret' | 'beacon';
  /**
   * The value that a beacon names as its source. It is checked, unless there is a problem. Compare it with the announced rule.
   */
  readonly beacon: Beacon | undefined;
  /** 64 bytes, as the contributor published it. */
  readonly hash: Uint8Array;
};

export type KeyVerdict = {
  /** True if and only if there is no problem. */
  readonly isValid: boolean;
  readonly problems: readonly KeyProblem[];
  readonly circuitHash: Uint8Array;
  readonly contributions: readonly VerifiedContribution[];
};

export type VerifyOptions = InitialKeyOptions &
  OriginOptions & { readonly arithmetic: PointArithmetic };

/** The fraction of the time that the powers take. */
const powersShare = 0.3;

function createSpan(onProgress: InitialKeyOptions['onProgress'], start: number, length: number) {
  return (fraction: number): void => onProgress?.(start + length * fraction);
}

/**
 * Verifies a key. Returns all problems that it finds. A key without a secret contribution is refused too.
 * @throws PoolError `invalid_option`, `zkey_malformed`, `artifact_malformed`
 *   if a file cannot be read at all
 */
export async function verifyKey(
  paths: { readonly r1cs: string; readonly ptau: string; readonly zkey: string },
  options: VerifyOptions,
): Promise<KeyVerdict> {
  const { arithmetic, signal, onProgress } = options;
  const key = await openKeyFile(paths.zkey);
  try {
    const record = await readRecord(key.file);
    const r1cs = readCircuit(paths.r1cs);
    const powers = await openPowersOfTau(paths.ptau);
    try {
      const problems = await findTranscriptProblems(key.header, record, { signal });
      const origin = await findOriginProblem(paths.ptau, powers, options.ptauSha256, signal);
      if (origin !== undefined) {
        problems.push(origin);
      }
      const parts = { r1cs, powers, arithmetic };
      const exponent = Math.log2(key.header.domainSize);
      if (exponent <= powers.power) {
        // Either the key is for another, larger circuit, or the file is too small. The following checks decide which.
        const onPowers = createSpan(onProgress, 0, powersShare);
        problems.push(
          ...(await findPowersProblems(powers, exponent, arithmetic, {
            signal,
            onProgress: onPowers,
          })),
        );
      }
      const onSections = createSpan(onProgress, powersShare, 1 - powersShare);
      problems.push(
        ...(await findSectionProblems(key, record.circuitHash, parts, {
          signal,
          onProgress: onSections,
        })),
      );
      return {
        isValid: problems.length === 0,
        problems,
        circuitHash: record.circuitHash,
        contributions: record.contributions.map((contribution) => ({
          name: contribution.name,
          type: contribution.type,
          beacon: contribution.beacon,
          hash: computeContributionHash(contribution),
        })),
      };
    } finally {
      await powers.close();
    }
  } finally {
    await key.file.close();
  }
}
