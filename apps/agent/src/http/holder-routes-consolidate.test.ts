import { expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

function post(bearer: string, body: unknown = { token: 'USDC' }) {
  return createTestApp().app.request('http://localhost/api/consolidate', {
    method: 'POST',
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      authorization: `Bearer ${bearer}`,
    },
    body: JSON.stringify(body),
  });
}

it('POST /api/consolidate answers the steps to a key of the transfer role', async () => {
  const answer = await post(apiKey('transfer'));
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { chain: 'anvil', steps: [{ notes: 16, amount: '160' }], seconds: 25 },
  ]);
});

it('POST /api/consolidate refuses other roles, the loopback token and unknown fields', async () => {
  for (const bearer of [apiKey('send'), loopbackToken]) {
    const answer = await post(bearer);
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'forbidden' }]);
  }
  const extra = await post(apiKey('transfer'), { token: 'USDC', chain: 'base' });
  expect([extra.status, await extra.json()]).toMatchObject([400, { code: 'invalid_request' }]);
});
