import { expect, it } from 'vitest';
import { measureMultiplications } from './multiplication-rate.ts';

it('measures what a processor can do', async () => {
  // An empty call takes 1,024 multiplications to more than 10 billion a second.
  const rate = await measureMultiplications(1);
  expect(rate).toBeGreaterThan(1e5);
  expect(rate).toBeLessThan(1e9);
});
