import { bigintToHex32, PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

type Route = 'transfer' | 'send';

const bodies = {
  transfer: { token: 'USDC', recipients: [{ walletPub: '0x02', amount: '5' }] },
  send: { token: 'USDC', amount: '5' },
};

function post(
  { app }: Pick<ReturnType<typeof createTestApp>, 'app'>,
  route: Route,
  bearer: string,
  headers: Record<string, string> = { 'idempotency-key': 'k-1' },
  body: unknown = bodies[route],
) {
  return app.request(`http://localhost/api/${route}`, {
    method: 'POST',
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      authorization: `Bearer ${bearer}`,
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

describe.each<Route>(['transfer', 'send'])('POST /api/%s', (route) => {
  it('answers the receipt on the same connection [transfer.route, send.route, spend.synchronous, capability.holder-transfer, capability.holder-send]', async () => {
    const world = createTestApp();
    const answer = await post(world, route, apiKey(route));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(world.state.spendAnswer);
    expect(world.state.spends).toEqual([
      { operation: route, key: 'k-1', body: bodies[route], isAttached: false },
    ]);
  });

  it('answers 422 with the whole receipt if the spend reverted [receipt.reverted, spend-error.reverted]', async () => {
    const world = createTestApp();
    world.state.spendAnswer = {
      operation: route,
      status: 'reverted',
      txHash: bigintToHex32(1n),
      nullifiers: [bigintToHex32(2n)],
      changeAmount: '3',
      revertReason: { code: 'nullifier-used', message: 'it was used' },
    };
    const answer = await post(world, route, apiKey(route));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual(world.state.spendAnswer);
  });

  it.each([
    ['the loopback token', loopbackToken, 403],
    ['a disburse key', apiKey('disburse'), 403],
    ['a holder.read key', apiKey('reader'), 403],
    ['the key of the other role', apiKey(route === 'send' ? 'transfer' : 'send'), 403],
    ['an unknown key', apiKey('nobody'), 401],
  ])(
    'does not admit %s [capability.holder-transfer, capability.holder-send, capability.transfer-not-send]',
    async (_, bearer, status) => {
      const world = createTestApp();
      expect((await post(world, route, bearer)).status).toBe(status);
      expect(world.state.spends).toEqual([]);
    },
  );

  it('requires an Idempotency-Key [spend.idempotency-key]', async () => {
    const world = createTestApp();
    const answer = await post(world, route, apiKey(route), {});
    expect(answer.status).toBe(400);
    expect(world.state.spends).toEqual([]);
  });

  it('accepts no chain, in the body or from a caller without the loopback token [spend.no-chain]', async () => {
    const world = createTestApp();
    const key = { 'idempotency-key': 'k-1' };
    for (const proof of [{}, { 'x-disburse-command': apiKey(route) }]) {
      const headers = { ...key, 'x-disburse-chain': 'anvil', ...proof };
      const answer = await post(world, route, apiKey(route), headers);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: 'invalid_request' },
      ]);
    }
    const { [route]: body } = bodies;
    const named = await post(world, route, apiKey(route), key, { ...body, chain: 'anvil' });
    expect(named.status).toBe(400);
    expect(world.state.spends).toEqual([]);
  });

  it('lets a command of this machine choose a chain, and attach without beginning a spend', async () => {
    const world = createTestApp();
    await post(world, route, apiKey(route), {
      'idempotency-key': 'k-1',
      'x-disburse-chain': 'anvil',
      'x-disburse-command': loopbackToken,
      'x-disburse-attach': 'only',
    });
    expect(world.state.spends).toMatchObject([{ chain: 'anvil', isAttached: true }]);
  });

  it('tells the role’s own key how far a spend is', async () => {
    const { app } = createTestApp();
    const read = (bearer: string, key: Record<string, string> = { 'idempotency-key': 'k-1' }) =>
      app.request(`http://localhost/api/${route}/progress`, {
        headers: { host: 'localhost', authorization: `Bearer ${bearer}`, ...key },
      });
    const answer = await read(apiKey(route));
    expect(await answer.json()).toMatchObject({ isRunning: true, stage: 'proving' });
    expect((await read(apiKey(route), {})).status).toBe(400);
    expect((await read(apiKey('reader'))).status).toBe(403);
    expect((await read(loopbackToken)).status).toBe(403);
  });

  it('reads a body of at most 64 KiB', async () => {
    const world = createTestApp();
    const large = { ...bodies[route], filler: 'x'.repeat(64 * 1024) };
    const key = { 'idempotency-key': 'k-1' };
    expect((await post(world, route, apiKey(route), key, large)).status).toBe(413);
    expect(world.state.spends).toEqual([]);
  });

  it('answers what can be spent beside the error [spend-error.insufficient-funds]', async () => {
    const world = createTestApp();
    world.state.spendAnswer = new PoolError('consolidation_required', 'too many notes', {
      details: {
        spendable: '200',
        locked: '40',
        lockedUntil: '2026-09-21T14:13:20Z',
        largestSpend: '160',
      },
    });
    const answer = await post(world, route, apiKey(route));
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({
      code: 'consolidation_required',
      message: 'too many notes',
      spendable: '200',
      locked: '40',
      lockedUntil: '2026-09-21T14:13:20Z',
      largestSpend: '160',
    });
  });

  it('does not ask the client to retry while the spend can still land', async () => {
    const world = createTestApp();
    world.state.spendAnswer = new PoolError('spend_unfinished', 'it can land');
    const answer = await post(world, route, apiKey(route));
    expect(answer.status).toBe(504);
    expect(answer.headers.get('retry-after')).toBeNull();
  });

  it('does not log the key, the payee or the amount', async () => {
    const world = createTestApp();
    await post(world, route, apiKey(route), { 'idempotency-key': 'pay-alice' });
    expect(world.logged.join()).not.toContain('pay-alice');
  });
});

describe('POST /api/transfer/sweep', () => {
  const sweep = (
    { app }: Pick<ReturnType<typeof createTestApp>, 'app'>,
    headers: Record<string, string>,
    query = '',
  ) =>
    app.request(`http://localhost/api/transfer/sweep?token=USDC&to=0x02${query}`, {
      method: 'POST',
      headers: { host: 'localhost', ...headers },
    });
  const authorization = `Bearer ${apiKey('transfer')}`;

  it.each([
    ['the key of the role alone', { authorization }],
    ['a made-up proof', { authorization, 'x-disburse-command': apiKey('transfer') }],
    ['the loopback token alone', { authorization: `Bearer ${loopbackToken}` }],
    [
      'the key of another role',
      { authorization: `Bearer ${apiKey('send')}`, 'x-disburse-command': loopbackToken },
    ],
  ])('does not admit %s', async (_, headers) => {
    const world = createTestApp();
    const answer = await sweep(world, headers);
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'forbidden' }]);
    expect(world.state.sweeps).toEqual([]);
  });

  it('takes a step, or only counts, for a command of this machine', async () => {
    const world = createTestApp();
    const headers = { authorization, 'x-disburse-command': loopbackToken };
    expect((await sweep(world, headers, '&dryRun=true')).status).toBe(200);
    expect(await (await sweep(world, headers)).json()).toEqual({ notes: 0, locked: 0 });
    expect(world.state.sweeps).toEqual([
      ['USDC', '0x02', true],
      ['USDC', '0x02', false],
    ]);
  });
});
