/**
 * The audit of the spend circuits, hidden signer included: a spend of one note of two (spend-2x4) or two of sixteen (spend-16x8), to two
 * payees, with dummy outputs and change. Both circuits share one list. Each run audits spend-2x4; full runs audit both, for longer.
 */
import { afterAll, expect, it } from 'vitest';
import { readArtifactsManifest } from '../../src/artifacts-manifest.ts';
import { endSnarkjsThreads } from '../witness.ts';
import { findDifferences, readAcceptedList } from './accepted.ts';
import { auditUniqueness, auditWitness } from './audit.ts';
import { formatReport } from './report.ts';
import { describeSpend, spend2x4, spend16x8 } from './spend-circuit.ts';
import { compileSubject } from './subject.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const seed = 20_261_122;

afterAll(endSnarkjsThreads);

it.each([
  { name: 'spend-2x4', audited: spend2x4, seconds: 600 },
  ...(isFullRun ? [{ name: 'spend-16x8', audited: spend16x8, seconds: 1_200 } as const] : []),
] as const)(
  '$name: determines the public vector with the listed lemmas, and accepts no attack but the listed ones',
  async ({ name, audited, seconds }) => {
    const subject = await compileSubject(describeSpend(audited));
    expect(subject.constraintsDigest).toBe(readArtifactsManifest()[name].sha256.r1cs);
    const propagation = auditUniqueness(subject);
    const fuzzed = auditWitness(subject, propagation, {
      seed,
      seconds: isFullRun ? seconds : 0,
      atLeast: { hints: 300, inputs: 40 },
    });
    console.info(formatReport(subject, propagation, fuzzed));
    expect(fuzzed.uncovered).toEqual([]);
    expect(findDifferences(readAcceptedList('spend'), propagation, fuzzed)).toEqual([]);
  },
  3_600_000,
);
