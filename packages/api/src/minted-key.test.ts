import * as v from 'valibot';
import { expect, it } from 'vitest';
import { mintKeyResponseSchema } from './platform/accounts.ts';

const metadata = {
  id: 1,
  keyPrefix: 'pool_live_abc',
  capability: 'disburse',
  name: 'n',
  createdAt: '2026-11-22T00:00:00.000Z',
};

it('accepts a minted key of the platform', () => {
  const answer = { success: true, apiKey: 'pool_live_abc.D-ef_~9', ...metadata };
  expect(v.is(mintKeyResponseSchema, answer)).toBe(true);
});

it.each(['k\nDISBURSE_HOST=0.0.0.0', 'k"', 'k #', '', 'k'.repeat(513)])(
  'refuses a minted key that would write other settings: %j',
  (apiKey) => {
    const answer = { success: true, apiKey, ...metadata };
    expect(v.is(mintKeyResponseSchema, answer)).toBe(false);
  },
);
