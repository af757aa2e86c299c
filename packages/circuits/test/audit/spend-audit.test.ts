/**
 * The audit of spend-2x4, hidden signer included: a spend of one note and a dummy to two payees, a dummy output and change. spend-16x8 has
 * the same templates.
 */
import { afterAll, expect, it } from 'vitest';
import { readArtifactsManifest } from '../../src/artifacts-manifest.ts';
import { endSnarkjsThreads } from '../witness.ts';
import { findDifferences, readAcceptedList } from './accepted.ts';
import { auditUniqueness, auditWitness } from './audit.ts';
import { formatReport } from './report.ts';
import { describeSpend } from './spend-circuit.ts';
import { compileSubject } from './subject.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const seconds = isFullRun ? 600 : 60;
const seed = 20_261_122;

afterAll(endSnarkjsThreads);

it('spend-2x4: determines the public vector with the listed lemmas, and accepts no attack but the listed ones', async () => {
  const subject = await compileSubject(describeSpend());
  expect(subject.constraintsDigest).toBe(readArtifactsManifest()['spend-2x4'].sha256.r1cs);
  const propagation = auditUniqueness(subject);
  const fuzzed = auditWitness(subject, propagation, {
    seed,
    seconds,
    atLeast: { hints: 300, inputs: 40 },
  });
  console.info(formatReport(subject, propagation, fuzzed));
  expect(fuzzed.uncovered).toEqual([]);
  expect(findDifferences(readAcceptedList('spend'), propagation, fuzzed)).toEqual([]);
}, 1_800_000);
