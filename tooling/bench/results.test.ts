import { expect, it } from 'vitest';
import { mergeProverResults, renderProverResults } from './prover/render.ts';
import { renderSpendResults } from './prover/render-spends.ts';
import { renderRates } from './results.ts';

it('writes one table of rates for each title', () => {
  const page = renderRates({
    machine: 'a machine',
    date: '2026-11-21',
    measurements: [
      { title: 'A', name: 'x', perSecond: 1234.5, spreadPercent: 0.25, samples: 10 },
      { title: 'B', name: 'y', perSecond: 2, spreadPercent: 3, samples: 4 },
      { title: 'A', name: 'z', perSecond: 100, spreadPercent: 1, samples: 7 },
      { title: 'B', name: 'once', perSecond: 8, samples: 1 },
    ],
  });
  expect(page).toContain('a machine. 2026-11-21.');
  expect(page.match(/^### /gm)).toHaveLength(2);
  expect(page).toContain('| x | 1235 | ±0.3 % | 10 |\n| z | 100 | ±1.0 % | 7 |');
  expect(page).toContain('| y | 2.0 | ±3.0 % | 4 |\n| once | 8.0 |  | 1 |');
});

it('compares provers of one size by their fastest runs, warm with warm and cold with cold', () => {
  const page = renderProverResults('Proofs', {
    machine: 'a machine',
    date: '2026-11-21',
    versions: { ours: '1.0', other: 'commit abc, -O3' },
    provers: {
      ours: [
        {
          power: 16,
          warmMs: [600, 500],
          coldMs: [900, 1000],
          phasesMs: { witness: 30, proof: 400 },
          peakBytes: 2 ** 28,
        },
      ],
      other: [{ power: 16, warmMs: [], coldMs: [1800], phasesMs: {}, peakBytes: 2 ** 28 }],
    },
    phases: [
      { power: 16, phase: 'quotient', oursMs: 150, snarkjsMs: 1500 },
      { power: 16, phase: 'sum a', oursMs: 50, snarkjsMs: 200 },
    ],
  });
  expect(page).toContain('- other: commit abc, -O3');
  expect(page).toContain('| 2^16 | ours | 500 ms | 1.00× | 900 ms | 1.00× | 256 |');
  expect(page).toContain('| 2^16 | other |  |  | 1800 ms | 2.00× | 256 |');
  expect(page).toContain('| rows | witness | proof |');
  expect(page).toContain('| rows | quotient | sum a |');
  expect(page).toContain('| 2^16 | 150 ms (10.0×) | 50.0 ms (4.0×) |');
});

it('replaces figures of the same size by newer ones and keeps the others', () => {
  const measured = { coldMs: [9], phasesMs: {}, peakBytes: 1 };
  const of = (power: number, ms: number) => ({ ...measured, power, warmMs: [ms] });
  const phase = (power: number, oursMs: number) => ({
    power,
    phase: 'quotient',
    oursMs,
    snarkjsMs: 1,
  });
  const common = { machine: 'a machine', date: '2026-11-21' };
  const merged = mergeProverResults(
    {
      ...common,
      versions: { ours: '1', gone: '7' },
      provers: { ours: [of(12, 1), of(14, 3)], gone: [of(12, 7)] },
      phases: [phase(12, 1), phase(14, 3)],
    },
    {
      ...common,
      versions: { ours: '2' },
      provers: { ours: [of(13, 2), of(12, 5)] },
      phases: [phase(12, 5)],
    },
  );
  expect(merged.provers).toEqual({ ours: [of(12, 5), of(13, 2), of(14, 3)], gone: [of(12, 7)] });
  expect(merged.versions).toEqual({ ours: '2', gone: '7' });
  expect(merged.phases).toEqual([phase(12, 5), phase(14, 3)]);
});

it('shows a spend circuit with its goal, its stages, and the load of the machine', () => {
  const measured = { power: 16, peakBytes: 2 ** 28, warmMs: [1900, 1800], coldMs: [2500] };
  const page = renderSpendResults({
    machine: 'a machine',
    date: '2026-11-22',
    versions: { ours: '1.0' },
    loadAverage: [7.04, 9.5],
    circuits: [
      {
        name: 'spend-2x4',
        goalMs: 2000,
        provers: {
          ours: {
            ...measured,
            phasesMs: { witness: 200, proof: 1500, 'blinding and verification': 100 },
          },
          snarkjs: {
            ...measured,
            warmMs: [9000],
            phasesMs: { witness: 300, 'proof with blinding': 8600, verification: 100 },
          },
        },
      },
    ],
  });
  expect(page).toContain('Load average 7.0 before and 9.5 after the run');
  expect(page).toContain(
    '| spend-2x4 | ours | ≤ 2 s | 1.80 s | 2.50 s | 0.20 s | 1.50 s | 0.10 s | 256 |',
  );
  expect(page).toContain(
    '| spend-2x4 | snarkjs |  | 9.00 s | 2.50 s | 0.30 s | 8.60 s | 0.10 s | 256 |',
  );
});
