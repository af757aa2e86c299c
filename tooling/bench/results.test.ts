import { expect, it } from 'vitest';
import { renderProverResults } from './prover/render.ts';
import { renderRates } from './results.ts';

it('writes one table of rates for each title', () => {
  const page = renderRates({
    machine: 'a machine',
    date: '2026-11-21',
    measurements: [
      { title: 'A', name: 'x', perSecond: 1234.5, spreadPercent: 0.25, samples: 10 },
      { title: 'B', name: 'y', perSecond: 2, spreadPercent: 3, samples: 4 },
      { title: 'A', name: 'z', perSecond: 100, spreadPercent: 1, samples: 7 },
    ],
  });
  expect(page).toContain('a machine. 2026-11-21.');
  expect(page.match(/^### /gm)).toHaveLength(2);
  expect(page).toContain('| x | 1235 | ±0.3 % | 10 |\n| z | 100 | ±1.0 % | 7 |');
  expect(page).toContain('| y | 2.0 | ±3.0 % | 4 |');
});

it('compares provers of one size by their fastest runs', () => {
  const measured = { power: 16, coldMs: 900, phasesMs: {}, peakBytes: 2 ** 28 };
  const page = renderProverResults('Proofs', {
    machine: 'a machine',
    date: '2026-11-21',
    provers: {
      ours: [{ ...measured, witnessMs: [30, 20], proofMs: [600, 500], phasesMs: { sums: 400 } }],
      other: [{ ...measured, witnessMs: [], proofMs: [4000, 5000] }],
    },
  });
  expect(page).toContain('| 2^16 | ours | 20.0 ms | 500 ms | 1.00× | 900 ms | 256 |');
  expect(page).toContain('| 2^16 | other |  | 4000 ms | 8.00× | 900 ms | 256 |');
  expect(page).toContain('| rows | sums |');
});
