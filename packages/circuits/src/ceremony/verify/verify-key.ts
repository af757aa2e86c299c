/**
 * Checks a key in full against its circuit and its powers of tau (protocol §9): it is the initial key of both, with delta
 * multiplied by the factors of the recorded contributions and with no other change.
 *
 * The record of contributions is checked first (`verify-contributions.ts`), then the powers of tau and their origin
 * (here, and `powers-origin.ts`), then every section of the key (`verify-sections.ts`). A wrong point passes with
 * probability about 2^-128.
 *
 * @module
 */

import { FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { bn254 } from '@noble/curves/bn254.js';
import { encodeIntegers } from '@pool/kernels';
import { openKeyFile } from '../files/key-file.ts';
import { openPowersOfTau, type PowersOfTau, type PowersSection } from '../files/powers-of-tau.ts';
import { chunksOf } from '../files/section-file.ts';
import { type Beacon, computeContributionHash, readRecord } from '../files/transcript.ts';
import type { KeyProblem } from '../key/contribution-rules.ts';
import type { InitialKeyOptions } from '../key/initial-key.ts';
import { readCircuit } from '../key/initialise.ts';
import { findOriginProblem, type OriginOptions } from '../key/powers-origin.ts';
import { findTranscriptProblems, haveSameRatio } from '../key/verify-contributions.ts';
import {
  areInSubgroup,
  type BulkOptions,
  createSumG1,
  createSumG2,
  createWeights,
  type PointArithmetic,
  readWeights,
} from '../points/point-sums.ts';
import { decodeG1, decodeG2, type G1Point, type G2Point, isSoundG2 } from '../points/points.ts';
import { findSectionProblems } from './verify-sections.ts';

// Checks that a powers-of-tau file is valid, as far as a key uses it: its sections are powers of one tau, times one alpha and one
// beta, and its Lagrange bases are those of the same tau. `powers-origin.ts` checks who took part in phase 1.
//
// Powers: with random weights w, sum w_i P_(i+1) must be tau times sum w_i P_i, checked by a pairing. Bases: with random values
// v, sum v_j L_j(tau) is the value at tau of the polynomial through v. It must therefore be sum c_i tau^i, where c are the
// polynomial's coefficients. A wrong point passes with probability about 2^-128.
//
// The weights and values are independent of each other. If they satisfied a linear relation, for example because the polynomial
// had to be of low degree, errors along that relation would cancel, and an attacker could choose such errors. Honest proofs and
// forged proofs would both verify under such a key (`poisoned-powers.test.ts` forges one).

const pointsAtOnce = 1 << 16;
/** Number of sums over the domain that the checks compute. The doubled domain counts twice. */
const randomSums = 22;

const fft = FFT(rootsOfUnity(bn254.fields.Fr, 5n), bn254.fields.Fr);

function randomWeights(count: number): bigint[] {
  return readWeights(createWeights(count));
}

/** sum weights[i]·(point first + i of a section of G1) */
async function sumPoints(
  powers: PowersOfTau,
  section: PowersSection,
  first: number,
  weights: readonly bigint[],
  arithmetic: PointArithmetic,
  options: BulkOptions,
): Promise<G1Point> {
  const sum = createSumG1(arithmetic, options);
  for (const { start, count } of chunksOf(weights.length, pointsAtOnce)) {
    const points = await powers.readPoints(section, first + start, count);
    await sum.add(points, encodeIntegers(weights.slice(start, start + count)));
  }
  return sum.total();
}

/** Like `haveSameRatio`, for points of G1 that may be at infinity. */
function isMultiple(a1: G1Point, a2: G1Point, b1: G2Point, b2: G2Point): boolean {
  return !a1.is0() && !a2.is0() && haveSameRatio(a1, a2, b1, b2);
}

type PowersOptions = BulkOptions & {
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

/**
 * All problems in the part of the file that circuits of 2^exponent rows use. Empty if it is valid.
 * @throws PoolError `artifact_malformed` if a point is not on its curve
 */
export async function findPowersProblems(
  powers: PowersOfTau,
  exponent: number,
  arithmetic: PointArithmetic,
  { signal, onProgress }: PowersOptions = {},
): Promise<KeyProblem[]> {
  const size = 2 ** exponent;
  const problems: KeyProblem[] = [];
  const report = (section: number, what: string): void => {
    problems.push({
      code: 'ptau_inconsistent',
      message: `Section ${section} of the powers-of-tau file ${what}.`,
    });
  };
  const { BASE: one1 } = bn254.G1.Point;
  const { BASE: one2 } = bn254.G2.Point;
  const tauBytes = await powers.readPoints('tau2', 1, 1);
  const beta2 = await powers.readPoints('beta2', 0, 1);
  if (!isSoundG2(tauBytes) || !isSoundG2(beta2)) {
    report(3, 'or 6 has a point outside the subgroup');
    return problems;
  }
  const tau2 = decodeG2(tauBytes);

  if (!decodeG1(await powers.readPoints('tau1', 0, 1)).equals(one1)) {
    report(2, 'does not begin with the generator');
  }
  const beta1 = decodeG1(await powers.readPoints('betaTau1', 0, 1));
  if (!haveSameRatio(one1, beta1, one2, decodeG2(beta2))) {
    report(6, 'contains another beta than section 5');
  }
  let done = 0;
  const note = (sums: number): void => {
    done += sums;
    onProgress?.(Math.min(1, done / randomSums));
  };
  const sum = async (section: PowersSection, first: number, weights: readonly bigint[]) => {
    const total = await sumPoints(powers, section, first, weights, arithmetic, { signal });
    note(weights.length / size);
    return total;
  };
  // A larger file also contains the highest power of the doubled domain, which the basis of that domain needs.
  const isLarger = exponent < powers.power;
  for (const [section, id, count] of [
    ['tau1', 2, isLarger ? 2 * size : 2 * size - 1],
    ['alphaTau1', 4, size],
    ['betaTau1', 5, size],
  ] as const) {
    const weights = randomWeights(count - 1);
    const low = await sum(section, 0, weights);
    if (!haveSameRatio(low, await sum(section, 1, weights), one2, tau2)) {
      report(id, 'does not contain the powers of one tau');
    }
  }

  const values = randomWeights(size);
  const coefficients = fft.inverse([...values]);
  const basis1 = await sum('lagrange1', size - 1, values);
  for (const [section, id, monomials] of [
    ['lagrange1', 12, 'tau1'],
    ['alphaLagrange1', 14, 'alphaTau1'],
    ['betaLagrange1', 15, 'betaTau1'],
  ] as const) {
    const basis = section === 'lagrange1' ? basis1 : await sum(section, size - 1, values);
    if (!basis.equals(await sum(monomials, 0, coefficients))) {
      report(id, `is not the Lagrange basis of the file's powers`);
    }
  }
  const sum2 = createSumG2(arithmetic, { signal });
  let areMembers = true;
  for (const { start, count } of chunksOf(size, pointsAtOnce)) {
    const points = await powers.readBasis('lagrange2', exponent, start, count);
    // One sum alone would not detect points outside the subgroup: most of their orders are small.
    areMembers &&= await areInSubgroup(arithmetic, points, { signal });
    if (areMembers) {
      await sum2.add(points, encodeIntegers(values.slice(start, start + count)));
    }
  }
  note(4);
  if (!areMembers || !haveSameRatio(one1, basis1, one2, sum2.total())) {
    report(13, 'is not the Lagrange basis of section 12 in G2');
  }

  // The key uses the odd elements of the doubled domain.
  const doubled = randomWeights(2 * size).map((weight, j) => (j % 2 === 1 ? weight : 0n));
  const monomials = fft.inverse([...doubled]);
  const odd = await sum('lagrange1', 2 * size - 1, doubled);
  const known = isLarger ? monomials : monomials.slice(0, -1);
  const rest = odd.subtract(await sum('tau1', 0, known));
  // A file without the highest power was prepared as if that power were zero, or was cut out of a larger file (`snarkjs
  // powersoftau truncate`).
  const highest = monomials.at(-1) ?? 0n;
  const below = decodeG1(await powers.readPoints('tau1', 2 * size - 2, 1)).multiplyUnsafe(highest);
  const isCutOut = !isLarger && isMultiple(below, rest, one2, tau2);
  if (!rest.is0() && !isCutOut) {
    report(12, 'is not the Lagrange basis of the doubled domain');
  }
  return problems;
}

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
