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
  expect(svg).not.toContain('absent');
  const firstHeight = (colour: string): number => {
    const line = new RegExp(`<path d="M[\\d.]+ ([\\d.]+)L[^"]+"[^>]*stroke="${colour}"`).exec(svg);
    return Number(line?.[1]);
  };
  // Two whole decades apart on an axis of three (10 ms … 10 s) means two thirds of its height.
  expect(firstHeight('#0f0') - firstHeight('#f00')).toBeCloseTo(((420 - 46 - 46) * 2) / 3, 0);
});
