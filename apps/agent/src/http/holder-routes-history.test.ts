import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

const reader = { authorization: `Bearer ${apiKey('reader')}` };

describe('GET /api/history', () => {
  it('passes token, times and cursor on', async () => {
    const { get, state } = createTestApp();
    const query = 'token=USDC&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&after=41.7';
    const answer = await get(`/api/history?${query}`, reader);
    expect([answer.status, await answer.json()]).toMatchObject([200, { symbol: 'USDC' }]);
    expect(state.histories).toEqual([
      { token: 'USDC', from: 1_767_225_600, to: 1_798_761_600, after: '41.7' },
    ]);
  });

  it.each([
    '',
    '?token=',
    '?token=USDC&token=EURC',
    '?token=USDC&from=2026-01-01',
    '?token=USDC&from=2026-13-01T00:00:00Z',
    '?token=USDC&to=yesterday',
    '?token=USDC&after=-1',
    '?token=USDC&after=1.2.3',
  ])('answers 400 for the query "%s"', async (query) => {
    const { get, state } = createTestApp();
    const answer = await get(`/api/history${query}`, reader);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_request' }]);
    expect(state.histories).toEqual([]);
  });

  it.each([
    ['the loopback token', loopbackToken, 403],
    ['a disburse key', apiKey('disburse'), 403],
    ['a holder.transfer key', apiKey('transfer'), 403],
    ['a holder.send key', apiKey('send'), 403],
    ['a holder.read key of another wallet', apiKey('stranger'), 403],
    ['an unknown key', apiKey('nobody'), 401],
  ])('does not admit %s', async (_, bearer, status) => {
    const { get, state } = createTestApp();
    const answer = await get('/api/history?token=USDC', { authorization: `Bearer ${bearer}` });
    expect(answer.status).toBe(status);
    expect(state.histories).toEqual([]);
  });
});
