// The label of a key: of each part, each attempt, and each later payment to invited people.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createJobDatabase } from '../fixtures/test-ledger.ts';
import { computePartKey, computeRoundDigest, formatRound } from './pay-run-key.ts';
import { createLabelFinder } from './pay-run-of-key.ts';
import { openLedger } from './shared-ledger.ts';

it('is found for every key that was sent, also after it was not there yet', async () => {
  const home = mkdtempSync(join(tmpdir(), 'label-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const jobs = await createJobDatabase();
  const place = { home, jobs: jobs ?? { url: `sqlite:${join(home, 'jobs.sqlite')}` } };
  const findLabel = createLabelFinder(place);
  const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
  const round = { payRun: formatRound(name.payRun, 2), digest: computeRoundDigest('0x01', 2) };
  const keys = [
    { payRun: name.payRun, digest: '0x01', part: 1, count: 2, attempt: 1 },
    { payRun: name.payRun, digest: '0x01', part: 2, count: 2, attempt: 3 },
    { ...round, part: 1, count: 1, attempt: 2 },
  ].map(computePartKey);
  const ask = () => Promise.all([...keys, 'another'].map(findLabel));
  expect(await ask()).toEqual([undefined, undefined, undefined, undefined]);

  const ledger = await openLedger(place);
  const sent = (attempt: number) => ({ attempt, sent: 'sending' as const, sinceMs: 5 });
  await ledger.change(name, () => ({ digest: '0x01', parts: [sent(1), sent(3)] }));
  await ledger.change({ ...name, payRun: round.payRun }, () => ({
    digest: round.digest,
    parts: [sent(2)],
  }));
  await ledger.close();
  expect(await ask()).toEqual(['2026-11', '2026-11', '2026-11', undefined]);
});
