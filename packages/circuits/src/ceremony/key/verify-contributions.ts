/**
 * Checks the record of contributions: each is derived from the earlier ones, and its contributor knew its factor.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import type { ZkeyHeaderFields } from '@pool/kernels';
import {
  beaconRounds,
  createKeyStream,
  deriveBeaconSeed,
  deriveChallenge,
} from '../files/key-stream.ts';
import {
  type Contribution,
  type ContributionRecord,
  computeTranscript,
} from '../files/transcript.ts';
import {
  decodeG1,
  decodeG2,
  encodeG1,
  type G1Point,
  type G2Point,
  isSoundG1,
  isSoundG2,
} from '../points/points.ts';
import { findShapeProblems, type KeyFinding, type KeyProblem } from './contribution-rules.ts';

// Checks what a key records about its own ceremony, without circuit and powers of tau: kinds and order of the contributions,
// their proofs, and that they result in the key's delta.

function findDeltaProblems(header: ZkeyHeaderFields, record: ContributionRecord): KeyProblem[] {
  const { delta1, delta2 } = header;
  if (!isSoundG1(delta1) || !isSoundG2(delta2)) {
    return [{ code: 'delta_invalid', message: 'Delta is not a point of its group.' }];
  }
  const problems: KeyProblem[] = [];
  const [one1, one2] = [bn254.G1.Point.BASE, bn254.G2.Point.BASE];
  const last = record.contributions.at(-1)?.deltaAfter ?? encodeG1(one1);
  if (Buffer.compare(last, delta1) !== 0) {
    problems.push({
      code: 'delta_mismatch',
      message: "The key's delta is not the delta of its last contribution.",
    });
  }
  const delta = decodeG1(delta1);
  if (!haveSameRatio(one1, delta, one2, decodeG2(delta2))) {
    problems.push({
      code: 'delta_pair_mismatch',
      message: 'Delta in G1 and delta in G2 are different multiples of their generators.',
    });
  }
  if (record.contributions.length > 0 && (delta.equals(one1) || delta.equals(one1.negate()))) {
    problems.push({
      code: 'delta_trivial',
      message:
        'Delta is the generator or its negative, so the contributions cancel: anyone can forge proofs under this key.',
    });
  }
  return problems;
}

/** All problems of the ceremony that a key records. Empty if it is valid. */
export async function findTranscriptProblems(
  header: ZkeyHeaderFields,
  record: ContributionRecord,
  options: RecordOptions = {},
): Promise<KeyProblem[]> {
  return [
    ...findShapeProblems(record.contributions),
    ...(await findContributionProblems(record, options)),
    ...findDeltaProblems(header, record),
  ];
}

export type RecordOptions = {
  /** Recompute beacons from their values. Default: true. It can take as long as computing the beacon did. */
  readonly checkBeacon?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

function isSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/**
 * True if a2 / a1 in G1 is the same factor as b2 / b1 in G2: e(a1, b2) = e(a2, b1). The caller checks the points: none at
 * infinity, all in their groups. With infinity, the equation would hold for any factor.
 */
export function haveSameRatio(a1: G1Point, a2: G1Point, b1: G2Point, b2: G2Point): boolean {
  const { Fp12 } = bn254.fields;
  const product = bn254.pairingBatch([
    { g1: a1, g2: b2 },
    { g1: a2.negate(), g2: b1 },
  ]);
  return Fp12.eql(product, Fp12.ONE);
}

/** True for a factor of 1 or -1, which is visible from the two points. */
function isTrivial({ base, multiplied }: Contribution): boolean {
  const [before, after] = [decodeG1(base), decodeG1(multiplied)];
  return after.equals(before) || after.equals(before.negate());
}

async function findBeaconProblem(
  contribution: Contribution,
  { checkBeacon = true, signal }: RecordOptions,
): Promise<string | undefined> {
  const { beacon } = contribution;
  if (beacon === undefined || !checkBeacon) {
    return undefined;
  }
  if (beacon.exponent < beaconRounds.least || beacon.exponent > beaconRounds.most) {
    return `a beacon needs 2^${beaconRounds.least} to 2^${beaconRounds.most} iterations`;
  }
  const stream = createKeyStream(await deriveBeaconSeed(beacon.value, beacon.exponent, signal));
  const factor = stream.sampleScalar();
  const base = stream.sampleG1();
  const isDerived =
    isSameBytes(encodeG1(base), contribution.base) &&
    isSameBytes(encodeG1(base.multiply(factor)), contribution.multiplied);
  return isDerived ? undefined : 'its factor is not derived from the beacon it names';
}

async function findContributionProblem(
  { circuitHash, contributions }: ContributionRecord,
  index: number,
  previousDelta: Uint8Array,
  options: RecordOptions,
): Promise<KeyProblem | undefined> {
  const contribution = contributions[index];
  if (contribution === undefined) {
    throw new RangeError('no such contribution');
  }
  const problem = (code: KeyFinding, what: string): KeyProblem => ({
    code,
    message: `Contribution ${index + 1}: ${what}.`,
  });
  const { deltaAfter, base, multiplied, proof } = contribution;
  if (![deltaAfter, base, multiplied].every(isSoundG1) || !isSoundG2(proof)) {
    return problem('contribution_point_invalid', 'one of its points is not in its group');
  }
  const transcript = computeTranscript(circuitHash, contributions.slice(0, index), contribution);
  if (!isSameBytes(transcript, contribution.transcript)) {
    return problem(
      'contribution_transcript_mismatch',
      'its hash is not derived from the earlier contributions; a contribution was changed, removed, or taken from another ceremony',
    );
  }
  const challenge = deriveChallenge(transcript);
  const proven = decodeG2(proof);
  if (!haveSameRatio(decodeG1(base), decodeG1(multiplied), challenge, proven)) {
    return problem('contribution_proof_invalid', 'it does not prove knowledge of its factor');
  }
  if (!haveSameRatio(decodeG1(previousDelta), decodeG1(deltaAfter), challenge, proven)) {
    return problem('contribution_delta_mismatch', 'it did not multiply delta by its own factor');
  }
  if (isTrivial(contribution)) {
    return problem('contribution_trivial', 'its factor is 1 or -1, which everyone can see');
  }
  const beaconProblem = await findBeaconProblem(contribution, options);
  return beaconProblem === undefined ? undefined : problem('beacon_mismatch', beaconProblem);
}

/** All problems of the record, in the order of the contributions. Empty if the record is valid (also if nobody contributed). */
async function findContributionProblems(
  record: ContributionRecord,
  options: RecordOptions = {},
): Promise<KeyProblem[]> {
  const problems: KeyProblem[] = [];
  let delta: Uint8Array = encodeG1(bn254.G1.Point.BASE);
  for (const [index, { deltaAfter }] of record.contributions.entries()) {
    options.signal?.throwIfAborted();
    // A previous point off the curve was already reported. Later checks would have no meaning.
    const problem = isSoundG1(delta)
      ? await findContributionProblem(record, index, delta, options)
      : undefined;
    if (problem !== undefined) {
      problems.push(problem);
    }
    delta = deltaAfter;
  }
  return problems;
}
