import { expect, it } from 'vitest';
import { renderPlot } from './plot.ts';

it('draws each prover as one line through its points, slower ones higher', () => {
  const svg = renderPlot('time <of> a proof', [
    {
      name: 'slow',
      colour: '#f00',
      points: [
        [12, 1000],
        [13, 2000],
      ],
    },
    {
      name: 'quick',
      colour: '#0f0',
      points: [
        [12, 10],
        [13, 20],
      ],
    },
    { name: 'absent', colour: '#00f', points: [] },
  ]);
  expect(svg).toContain('time &lt;of&gt; a proof');
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  const heights = [...svg.matchAll(/cy="([\d.]+)"/g)].map(([, height]) => Number(height));
  const [slowFirst = 0, slowSecond = 0, quickFirst = 0] = heights;
  expect(slowSecond).toBeLessThan(slowFirst);
  expect(slowFirst).toBeLessThan(quickFirst);
  // Two whole decades apart on an axis of three (10 ms … 10 s) means two thirds of its height.
  expect(quickFirst - slowFirst).toBeCloseTo(((420 - 46 - 46) * 2) / 3, 0);
});
