/**
 * The audit of the deployed circuits (README.md, "The audit"): what the inputs determine, what attacks on hints get accepted, and
 * that both agree with the committed list. Each run attacks all hints of fund-16; full runs also attack the larger circuits.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { readArtifactsManifest } from '../../src/artifacts-manifest.ts';
import { endSnarkjsThreads } from '../witness.ts';
import { findDifferences, readAcceptedList } from './accepted.ts';
import { auditUniqueness, auditWitness } from './audit.ts';
import { describeFund } from './circuits.ts';
import { formatReport } from './report.ts';
import { compileSubject } from './subject.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
/** Attacks last at least this long, half of it for hints and half for inputs. */
const seconds = isFullRun ? 600 : 0;
const seed = 20_261_122;

afterAll(endSnarkjsThreads);

async function auditFund(name: 'fund-16' | 'fund-64' | 'fund-256', size: number): Promise<void> {
  const subject = await compileSubject(describeFund(size, name));
  expect(subject.constraintsDigest).toBe(readArtifactsManifest()[name].sha256.r1cs);
  const propagation = auditUniqueness(subject);
  const fuzzed = auditWitness(subject, propagation, {
    seed,
    seconds,
    atLeast: { hints: 2_500, inputs: 100 },
  });
  console.info(formatReport(subject, propagation, fuzzed));
  expect(fuzzed.uncovered).toEqual([]);
  expect(findDifferences(readAcceptedList('fund'), propagation, fuzzed)).toEqual([]);
}

describe('the audit of fund-16', () => {
  it('determines the public vector, and accepts no attack but the listed ones', async () => {
    await auditFund('fund-16', 16);
  }, 900_000);
});

describe.skipIf(!isFullRun)('the audit of fund-64 and fund-256', () => {
  it.each([
    ['fund-64', 64],
    ['fund-256', 256],
  ] as const)(
    '%s: determines the public vector, and accepts no attack but the listed ones',
    auditFund,
    3_600_000,
  );
});
