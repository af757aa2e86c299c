// Query parameters that a GET route does not take, and times that do not exist.
import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

const reader = { authorization: `Bearer ${apiKey('reader')}` };
const loopback = { authorization: `Bearer ${loopbackToken}` };

async function ask(path: string, headers = reader) {
  const answer = await createTestApp().get(path, headers);
  return { status: answer.status, body: (await answer.json()) as { readonly code?: string } };
}

describe('a query parameter that the route does not take', () => {
  it.each([
    ['/api/balance?token=USDC&chain=base', reader],
    ['/api/balance/progress?token=USDC', reader],
    ['/api/balance/arrivals?token=USDC&before=1', reader],
    ['/api/history?token=USDC&form=2026-01-01T00:00:00Z', reader],
    ['/api/disburse/june?wait=1', loopback],
    ['/api/livez?now', loopback],
    ['/api/readyz?part=signer', loopback],
  ])('answers 400 invalid_request: %s', async (path, headers) => {
    expect(await ask(path, headers)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });
});

describe('the times of a history', () => {
  it.each([
    ['31 February', 'from=2026-02-31T00:00:00Z'],
    ['29 February of another year', 'to=2027-02-29T00:00:00Z'],
    ['31 April', 'to=2026-04-31T00:00:00Z'],
    ['an end before the begin', 'from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z'],
  ])('answer 400 for %s', async (_, query) => {
    expect(await ask(`/api/history?token=USDC&${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it.each(['from=2024-02-29T00:00:00Z', 'from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z'])(
    'answer 200 for %s',
    async (query) => {
      expect((await ask(`/api/history?token=USDC&${query}`)).status).toBe(200);
    },
  );
});
