// The page of the agent's own holder, over a fake reader of its notes.
import { PoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { openTestConsole } from './console-world.ts';
import { createFakeReader } from './fake-reader.ts';

it('shows balance and history of a month in tokens, with what strangers wrote as text', async () => {
  const { ranges, holder } = createFakeReader();
  const { read, get } = await openTestConsole({ holder }).login();
  const page = await read('holder?month=2026-12');
  expect(ranges).toEqual([{ from: '2026-12-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }]);
  expect(page).toContain('<dt>Can be spent</dt><dd>1 USDC</dd>');
  expect(page).toContain('0.25 USDC, part of that sum');
  // The newest first.
  expect(page).toMatch(/-1\.5 USDC[\s\S]*0xabc[\s\S]*2\.5 USDC[\s\S]*&lt;b&gt;May/);
  // A contact by its label, anybody else by W.
  expect(page).toContain('0.5 USDC to @ben (0x02aa); 0.25 USDC to 0x02bb<');
  expect(page).toContain('There is more');
  expect((await get('holder?month=2026-13')).status).toBe(400);
});

it('shows how far the agent has read the pool, and asks it once', async () => {
  const whole = Promise.withResolvers<never>();
  let asked = 0;
  const { holder } = createFakeReader({
    balance: () => {
      asked += 1;
      return whole.promise;
    },
  });
  const { read, get } = await openTestConsole({ holder }).login();
  for (const page of await Promise.all([read('holder'), read('holder')])) {
    expect(page).toMatch(/data-live[\s\S]*7 of 90 blocks/);
  }
  expect(asked).toBe(1);
  whole.reject(new PoolError('platform_unreachable', 'the platform is away'));
  const failed = await get('holder');
  expect([failed.status, await failed.text()]).toEqual([
    503,
    expect.stringContaining('the platform is away'),
  ]);
  expect(asked).toBe(1);
});

it('says which key is missing', async () => {
  const { get } = await openTestConsole().login();
  const page = await get('holder');
  expect([page.status, await page.text()]).toEqual([
    404,
    expect.stringContaining('DISBURSE_BALANCE_TOKEN is not set'),
  ]);
});
