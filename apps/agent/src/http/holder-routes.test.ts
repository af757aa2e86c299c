import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

const reader = { authorization: `Bearer ${apiKey('reader')}` };

async function read(response: Response | Promise<Response>) {
  const answer = await response;
  return { status: answer.status, body: await answer.json() };
}

describe('GET /api/balance', () => {
  it('answers total, symbol, notes, largest note and chain, amounts as decimal strings [balance.route]', async () => {
    const { get } = createTestApp();
    expect(await read(get('/api/balance?token=USDC', reader))).toEqual({
      status: 200,
      body: { total: '7', symbol: 'USDC', notes: 2, largestNote: '4', chain: 'anvil' },
    });
  });

  it('says beside it what spends that are underway lock, and until when', async () => {
    const { get, state } = createTestApp();
    state.locked = { amount: 3n, untilSeconds: 1_790_000_000 };
    expect(await read(get('/api/balance?token=USDC', reader))).toMatchObject({
      body: { total: '7', locked: '3', lockedUntil: '2026-09-21T14:13:20Z' },
    });
  });

  it.each(['DAI', '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'])(
    'answers 400 unknown_token for %s',
    async (token) => {
      const { get } = createTestApp();
      expect(await read(get(`/api/balance?token=${token}`, reader))).toMatchObject({
        status: 400,
        body: { code: 'unknown_token' },
      });
    },
  );

  it.each(['', '?token=', '?token=USDC&token=EURC', '?Token=USDC'])(
    'answers 400 invalid_request for the query "%s"',
    async (query) => {
      const { get, state } = createTestApp();
      expect(await read(get(`/api/balance${query}`, reader))).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
      expect(state.balances).toEqual([]);
    },
  );

  it.each([
    ['the loopback token', loopbackToken, 403],
    ['a disburse key', apiKey('disburse'), 403],
    ['a holder.transfer key', apiKey('transfer'), 403],
    ['a holder.send key', apiKey('send'), 403],
    ['a holder.read key of another wallet', apiKey('stranger'), 403],
    ['an unknown key', apiKey('nobody'), 401],
    ['no API key', 'f'.repeat(64), 401],
  ])('does not admit %s [capability.holder-read]', async (_, bearer, status) => {
    const { get, state } = createTestApp();
    const authorization = { authorization: `Bearer ${bearer}` };
    for (const path of [
      '/api/balance?token=USDC',
      '/api/balance/progress',
      '/api/balance/arrivals?token=USDC',
    ]) {
      expect(await read(get(path, authorization))).toMatchObject({
        status,
        body: { code: status === 403 ? 'forbidden' : 'unauthorized' },
      });
    }
    expect([state.balances, state.rescans]).toEqual([[], []]);
  });

  it('does not admit a holder.read key at the disbursement routes [capability.holder-read]', async () => {
    const { get, post, request } = createTestApp();
    expect((await get('/api/disburse/key', reader)).status).toBe(403);
    expect((await post('key', request, reader)).status).toBe(403);
  });

  it('asks the platform about the key at every request', async () => {
    const { get, keys, state } = createTestApp();
    await get('/api/balance?token=USDC', reader);
    keys.delete(apiKey('reader'));
    expect((await get('/api/balance?token=USDC', reader)).status).toBe(401);
    expect(state.verifications).toBe(2);
  });

  it('answers 503 with the variable if the role’s own key is not configured [variable.balance-token]', async () => {
    const { get, state } = createTestApp();
    state.balanceFailure = new PoolError(
      'holder_unavailable',
      'DISBURSE_BALANCE_TOKEN is required',
    );
    expect(await read(get('/api/balance?token=USDC', reader))).toMatchObject({
      status: 503,
      body: {
        code: 'holder_unavailable',
        message: expect.stringContaining('DISBURSE_BALANCE_TOKEN'),
      },
    });
  });

  it('logs no amount', async () => {
    const { get, logged } = createTestApp();
    await get('/api/balance?token=USDC', reader);
    expect(logged.join('\n')).not.toMatch(/"(?:total|largestNote)"/);
  });
});

describe('the routes of the commands', () => {
  it('list what arrived after a cursor, with the balance', async () => {
    const { get, state } = createTestApp();
    const cursor = '00000000000000aa.1';
    const path = '/api/balance/arrivals?token=USDC';
    expect(await read(get(path, reader))).toEqual({
      status: 200,
      body: {
        balance: { total: '7', symbol: 'USDC', notes: 2, largestNote: '4', chain: 'anvil' },
        ...{ decimals: 6, cursor },
        arrivals: [
          {
            ...{ time: '1970-01-01T00:00:00Z', amount: '1500000', memo: 'May' },
            txHash: `0x${'5'.padStart(64, '0')}`,
            commitment: `0x${'1'.padStart(64, '0')}`,
          },
        ],
      },
    });
    await get(`${path}&after=${cursor}-${cursor}`, reader);
    expect(state.afters).toEqual([undefined, `${cursor}-${cursor}`]);
  });

  it.each(['after=', 'after=1&after=2', `after=${'1'.repeat(1_001)}`, 'after=%27'])(
    'refuse the cursor of "%s"',
    async (query) => {
      const { get, state } = createTestApp();
      expect(await read(get(`/api/balance/arrivals?token=USDC&${query}`, reader))).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
      expect(state.afters).toEqual([]);
    },
  );

  it('report the progress of a sync', async () => {
    const { get } = createTestApp();
    expect(await read(get('/api/balance/progress', reader))).toEqual({
      status: 200,
      body: { isRunning: true, blocks: { read: 3, total: 12 }, notes: 7 },
    });
  });

  it.each([
    ['', undefined],
    ['&from=0', 0],
    ['&from=12345', 12_345],
  ])('rescan from the block of "%s"', async (query, block) => {
    const { app, state } = createTestApp();
    const response = await app.request(`http://127.0.0.1/api/balance/rescan?token=USDC${query}`, {
      method: 'POST',
      headers: { host: '127.0.0.1:8787', ...reader },
    });
    expect((await read(response)).status).toBe(200);
    expect(state.rescans).toEqual([block]);
  });

  it.each(['-1', '1.5', '0x10', 'latest', ''])('refuse to rescan from "%s"', async (from) => {
    const { app, state } = createTestApp();
    const response = await app.request(
      `http://127.0.0.1/api/balance/rescan?token=USDC&from=${from}`,
      { method: 'POST', headers: { host: '127.0.0.1:8787', ...reader } },
    );
    expect(response.status).toBe(400);
    expect(state.rescans).toEqual([]);
  });
});
