/**
 * The origin of powers of tau. Anyone who knows tau can forge proofs under every key that was started from them. A file is
 * therefore used only if its digest was pinned, or if it records a secret contribution.
 *
 * If a file is not pinned, its record of contributions is checked as far as the file alone allows: each contribution proves its
 * factors, it multiplied the result of the previous one, and the last result is what the file contains. A factor of 1 or -1 does
 * not count as a contribution. The record cannot show that the people in it exist. Only a digest from a trusted source shows
 * that.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import { computeFileDigest } from '../../artifacts-manifest.ts';
import { deriveChallenge } from '../files/key-stream.ts';
import type { PowersContribution, PowersOfTau, PowersProof } from '../files/powers-of-tau.ts';
import {
  decodeG1,
  decodeG2,
  encodeForTranscript,
  encodeG1,
  encodeG2,
  type G1Point,
  type G2Point,
  isSoundG1,
  isSoundG2,
} from '../points/points.ts';
import { createKeyError, type KeyProblem } from './contribution-rules.ts';
import { haveSameRatio } from './verify-contributions.ts';

/** Up to this power, the first contribution's challenge is computed here. This hashes 384·2^power bytes. */
const mostPowerToHash = 22;
const repeatedAtOnce = 1 << 14;

export type OriginOptions = {
  /** SHA-256 of the powers-of-tau file in hex, from a trusted source. Without it, the file must record a secret contribution. */
  readonly ptauSha256?: string | undefined;
};

type Values = Pick<PowersContribution, 'tau1' | 'tau2' | 'alpha1' | 'beta1' | 'beta2'>;

function generators(): Values {
  const [one1, one2] = [encodeG1(bn254.G1.Point.BASE), encodeG2(bn254.G2.Point.BASE)];
  return { tau1: one1, tau2: one2, alpha1: one1, beta1: one1, beta2: one2 };
}

/** The challenge before any contribution: BLAKE2b over the powers of one. */
function computeFirstChallenge(power: number): Uint8Array {
  const blake = () => createHash('blake2b512');
  const hash = blake().update(blake().digest());
  const { tau1, tau2 } = generators();
  const [one1, one2] = [encodeForTranscript('g1', tau1), encodeForTranscript('g2', tau2)];
  const repeat = (point: Buffer, count: number): void => {
    const many = Buffer.concat(new Array<Buffer>(Math.min(count, repeatedAtOnce)).fill(point));
    for (let left = count; left > 0; left -= repeatedAtOnce) {
      hash.update(many.subarray(0, Math.min(left, repeatedAtOnce) * point.length));
    }
  };
  const size = 2 ** power;
  repeat(one1, 2 * size - 1);
  repeat(one2, size);
  repeat(one1, size);
  repeat(one1, size);
  repeat(one2, 1);
  return hash.digest();
}

/** The point of G2 with which a factor is proven. Number 0, 1, 2 for tau, alpha, beta. */
function derivePoint(number: number, challenge: Uint8Array, proof: PowersProof): G2Point {
  return deriveChallenge(
    createHash('blake2b512')
      .update(Uint8Array.of(number))
      .update(challenge)
      .update(encodeForTranscript('g1', proof.base))
      .update(encodeForTranscript('g1', proof.multiplied))
      .digest(),
  );
}

/** True if it is the same point or its negative. Then everyone can see the factor. */
function isTrivial(before: Uint8Array, after: Uint8Array): boolean {
  const [from, to] = [decodeG1(before), decodeG1(after)];
  return to.equals(from) || to.equals(from.negate());
}

/** True if a contribution hides all three factors. */
function isSecret({ type, proofs }: PowersContribution): boolean {
  return type === 'secret' && !proofs.some(({ base, multiplied }) => isTrivial(base, multiplied));
}

/** True if a contribution proves its factors, and its result is their multiple of the previous result. */
function isSoundContribution(
  { proofs, ...after }: PowersContribution,
  before: Values,
  challenge: Uint8Array,
): boolean {
  const isSound =
    [after.tau1, after.alpha1, after.beta1].every(isSoundG1) &&
    [after.tau2, after.beta2].every(isSoundG2) &&
    proofs.every(
      ({ base, multiplied, proof }) => isSoundG1(base) && isSoundG1(multiplied) && isSoundG2(proof),
    );
  if (!isSound) {
    return false;
  }
  const links: readonly (readonly [G1Point, G1Point, G2Point, G2Point])[] = (
    [
      [before.tau1, after.tau1, before.tau2, after.tau2],
      [before.alpha1, after.alpha1, undefined, undefined],
      [before.beta1, after.beta1, before.beta2, after.beta2],
    ] as const
  ).flatMap(([before1, after1, before2, after2], number) => {
    const proof = proofs[number] ?? proofs[0];
    const [base, multiplied] = [decodeG1(proof.base), decodeG1(proof.multiplied)];
    const [point, proven] = [derivePoint(number, challenge, proof), decodeG2(proof.proof)];
    const inG1 = [
      [base, multiplied, point, proven],
      [decodeG1(before1), decodeG1(after1), point, proven],
    ] as const;
    return before2 === undefined
      ? inG1
      : [...inG1, [base, multiplied, decodeG2(before2), decodeG2(after2)] as const];
  });
  return links.every((link) => haveSameRatio(...link));
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The points of the file at the places of the last contribution's result. */
async function readValues(powers: PowersOfTau): Promise<Values> {
  return {
    tau1: await powers.readPoints('tau1', 1, 1),
    tau2: await powers.readPoints('tau2', 1, 1),
    alpha1: await powers.readPoints('alphaTau1', 0, 1),
    beta1: await powers.readPoints('betaTau1', 0, 1),
    beta2: await powers.readPoints('beta2', 0, 1),
  };
}

function recordProblem(what: string): KeyProblem {
  return {
    code: 'ptau_contribution_invalid',
    message: `The powers-of-tau file's record of contributions is refused: ${what}.`,
  };
}

async function findRecordProblem(
  powers: PowersOfTau,
  signal: AbortSignal | undefined,
): Promise<KeyProblem | undefined> {
  const contributions = await powers.readRecord();
  let before: Values = generators();
  let challenge =
    contributions.length > 0 && powers.ceremonyPower <= mostPowerToHash
      ? computeFirstChallenge(powers.ceremonyPower)
      : undefined;
  let secrets = 0;
  for (const [index, contribution] of contributions.entries()) {
    signal?.throwIfAborted();
    // Without its challenge, the first contribution to a very large file proves nothing and is not counted.
    if (challenge !== undefined) {
      if (!isSoundContribution(contribution, before, challenge)) {
        return recordProblem(
          `contribution ${index + 1} does not prove its factors, or does not follow from the one before`,
        );
      }
      secrets += isSecret(contribution) ? 1 : 0;
    }
    ({ challenge } = contribution);
    before = contribution;
  }
  const { tau1, alpha1, beta1 } = generators();
  const isKnown =
    isTrivial(tau1, before.tau1) ||
    isTrivial(alpha1, before.alpha1) ||
    isTrivial(beta1, before.beta1);
  if (secrets === 0 || isKnown) {
    return {
      code: 'ptau_no_secret_contribution',
      message:
        'The powers-of-tau file records no secret contribution and its digest is not pinned, so anyone may know tau and forge proofs. Use a file of a public ceremony, compare its digest with the published one, and pass it as --ptau-sha256.',
    };
  }
  const values = await readValues(powers);
  const isLast = (Object.keys(values) as (keyof Values)[]).every((name) =>
    isSame(values[name], before[name]),
  );
  return isLast
    ? undefined
    : recordProblem('its last contribution left other powers than those in the file');
}

/**
 * The problem with the origin of a file. Undefined if the file is the pinned one or records a secret contribution.
 * @param pinned SHA-256 of the file in hex, from a trusted source
 * @throws PoolError `artifact_malformed`
 */
export async function findOriginProblem(
  path: string,
  powers: PowersOfTau,
  pinned: string | undefined,
  signal?: AbortSignal,
): Promise<KeyProblem | undefined> {
  if (pinned === undefined) {
    return await findRecordProblem(powers, signal);
  }
  const digest = await computeFileDigest(path);
  return digest === pinned.toLowerCase()
    ? undefined
    : {
        code: 'ptau_digest_mismatch',
        message: `The powers-of-tau file ${path} is not the pinned one: its SHA-256 is ${digest}.`,
      };
}

/** @throws PoolError with the code of `findOriginProblem` */
export async function requireKnownOrigin(
  ...args: Parameters<typeof findOriginProblem>
): Promise<void> {
  const problem = await findOriginProblem(...args);
  if (problem !== undefined) {
    throw createKeyError(problem);
  }
}
