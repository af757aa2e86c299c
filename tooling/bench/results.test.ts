import { expect, it } from 'vitest';
import { mergeProverResults, renderProverResults } from './prover/render.ts';
import { tabulateRates } from './rates.ts';
import { renderSection } from './results.ts';

it('writes one table of rates for each title', () => {
  const page = renderSection({
    title: 'Rates',
    machine: 'a machine',
    date: '2026-11-21',
    about: '',
    tables: tabulateRates([
      { title: 'A', name: 'x', perSecond: 1234.5, spreadPercent: 0.25, samples: 10 },
      { title: 'B', name: 'y', perSecond: 2, spreadPercent: 3, samples: 4 },
      { title: 'A', name: 'z', perSecond: 100, spreadPercent: 1, samples: 7 },
      { title: 'B', name: 'once', perSecond: 8, samples: 1 },
    ]),
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
  });
  expect(page).toContain('- other: commit abc, -O3');
  expect(page).toContain('| 2^16 | ours | 500 ms | 1.00× | 900 ms | 1.00× | 256 |');
  expect(page).toContain('| 2^16 | other |  |  | 1800 ms | 2.00× | 256 |');
  expect(page).toContain('| rows | witness | proof |');
});

it('replaces figures of the same size by newer ones and keeps the others', () => {
  const measured = { coldMs: [9], phasesMs: {}, peakBytes: 1 };
  const of = (power: number, ms: number) => ({ ...measured, power, warmMs: [ms] });
  const common = { machine: 'a machine', date: '2026-11-21' };
  const merged = mergeProverResults(
    {
      ...common,
      versions: { ours: '1', gone: '7' },
      provers: { ours: [of(12, 1), of(14, 3)], gone: [of(12, 7)] },
    },
    {
      ...common,
      versions: { ours: '2' },
      provers: { ours: [of(13, 2), of(12, 5)] },
    },
  );
  expect(merged.provers).toEqual({ ours: [of(12, 5), of(13, 2), of(14, 3)], gone: [of(12, 7)] });
  expect(merged.versions).toEqual({ ours: '2', gone: '7' });
});

it('shows a spend circuit with its goal, its stages, and the load of the machine', () => {
  const circuit = 'spend-2x4, goal ≤ 2 s warm';
  const measured = { power: 16, circuit, peakBytes: 2 ** 28, warmMs: [1900, 1800], coldMs: [2500] };
  const page = renderProverResults('Proofs of spends', {
    machine: 'a machine',
    date: '2026-11-22',
    versions: { ours: '1.0' },
    loadAverage: [7.04, 9.5],
    provers: {
      ours: [
        {
          ...measured,
          phasesMs: { witness: 200, proof: 1500, 'blinding and verification': 100 },
        },
      ],
      snarkjs: [
        {
          ...measured,
          warmMs: [9000],
          phasesMs: { witness: 300, 'proof with blinding': 8600, verification: 100 },
        },
      ],
    },
  });
  expect(page).toContain('Load average 7.0 before and 9.5 after the run');
  expect(page).toContain(`| ${circuit} | ours | 1800 ms | 1.00× | 2500 ms | 1.00× | 256 |`);
  expect(page).toContain(`| ${circuit} | 200 ms | 1500 ms | 100 ms |`);
  expect(page).toContain(`| ${circuit} | snarkjs | 9000 ms | 5.00× | 2500 ms | 1.00× | 256 |`);
  expect(page).toContain(`| ${circuit} | 300 ms | 8600 ms | 100 ms |`);
});
