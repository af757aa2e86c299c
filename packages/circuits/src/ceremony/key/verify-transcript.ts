/**
 * Checks what a key records about its own ceremony, without circuit and powers of tau: kinds and order of the contributions,
 * their proofs, and that they result in the key's delta.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import type { ZkeyHeaderFields } from '@pool/kernels';
import type { ContributionRecord } from '../files/transcript.ts';
import { decodeG1, decodeG2, encodeG1, isSoundG1, isSoundG2 } from '../points/points.ts';
import { findShapeProblems, type KeyProblem } from './contribution-rules.ts';
import {
  findContributionProblems,
  haveSameRatio,
  type RecordOptions,
} from './verify-contributions.ts';

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
