// A short chaos run; `pnpm chaos --minutes 10` is a long one.
import { expect, it } from 'vitest';
import { runChaos } from './fixtures/chaos/chaos.ts';

it('pays everybody once while processes are killed and the world around them fails', async () => {
  const report = await runChaos({
    seed: 1,
    seconds: 22,
    signer: 'custodian_a',
    say: () => undefined,
  });
  expect(report.violations).toEqual([]);
  expect(report.faults).toBeGreaterThan(3);
  expect(report.paid).toBeGreaterThan(0);
});
