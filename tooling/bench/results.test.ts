import { expect, it } from 'vitest';
import { renderResults } from './results.ts';

it('writes one table for each title', () => {
  const page = renderResults('a machine', new Date('2026-11-21T10:00:00Z'), [
    { title: 'A', name: 'x', perSecond: 1234.5, spreadPercent: 0.25, samples: 10 },
    { title: 'B', name: 'y', perSecond: 2, spreadPercent: 3, samples: 4 },
    { title: 'A', name: 'z', perSecond: 100, spreadPercent: 1, samples: 7 },
  ]);
  expect(page).toContain('a machine. 2026-11-21.');
  expect(page.match(/^## /gm)).toHaveLength(2);
  expect(page).toContain('| x | 1235 | ±0.3 % | 10 |\n| z | 100 | ±1.0 % | 7 |');
  expect(page).toContain('| y | 2.0 | ±3.0 % | 4 |');
});
