import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from './config.ts';
import { createExample } from './example.ts';
import { startWorld, vectors, type World } from './fixtures/world.ts';

let world: World;
beforeAll(async () => {
  const { config } = createExample();
  const apiUsers = config.apiUsers.map((user) =>
    user.id === 'gate-api-key' ? { ...user, role: 'VIEWER' as const } : user,
  );
  world = await startWorld({ config: { apiUsers } });
});
beforeEach(() => {
  world.custodian.control.reset();
  world.custodian.control.setCallback(undefined);
});
afterAll(async () => {
  await world.stop();
});

describe('permissions', () => {
  it('lets a viewer read transactions and addresses, and nothing else', async () => {
    const id = await world.create();
    const statuses: number[] = [];
    for (const [path, options] of [
      [`/v1/transactions/${id}`, {}],
      ['/v1/transactions', {}],
      [vectors.address.path, {}],
      ['/v1/transactions', { body: vectors.typedMessage.request }],
      [`/v1/transactions/${id}/cancel`, { method: 'POST' }],
      ['/v1/cosigners', {}],
      [vectors.publicKey.path, {}],
    ] as const) {
      statuses.push((await world.callAs('gate', path, options)).status);
    }
    expect(statuses).toStrictEqual([200, 200, 200, 401, 401, 401, 401]);
  });

  it('lets a non-signing administrator read the co-signer, its handler and public keys', async () => {
    const admin = await startWorld({ reply: () => ({ action: 'APPROVE' }) });
    try {
      const { data } = vectors.cosigners.list as { data: { id: string }[] };
      const keys = `/v1/cosigners/${data[0]?.id}/api_keys`;
      const list = await admin.callAs('gate', '/v1/cosigners');
      expect(list).toStrictEqual({ status: 200, body: vectors.cosigners.list });
      const { body } = await admin.callAs('gate', `${keys}/signer-api-key`);
      expect(body).toStrictEqual({
        id: 'signer-api-key',
        lastSeen: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        callbackHandler: {
          url: admin.handler?.url,
          publicKey: createExample().handlerKeys.publicKey,
        },
      });
      admin.custodian.control.setCallback(undefined);
      const paired = await admin.callAs('gate', keys);
      expect(paired.body['data']).toStrictEqual([
        { id: 'signer-api-key', lastSeen: expect.any(String) as string },
      ]);
      expect((await admin.callAs('gate', `${keys}/gate-api-key`)).status).toBe(404);
      const { path, ...publicKey } = vectors.publicKey;
      expect((await admin.callAs('gate', path)).body).toStrictEqual({ status: 0, ...publicKey });
    } finally {
      await admin.stop();
    }
  });
});

describe('reading', () => {
  it('shows the address of a vault account', async () => {
    const { body } = await world.callAs('agent', vectors.address.path);
    expect(body).toMatchObject({ addresses: [{ address: vectors.address.address }] });
  });

  it('shows the assets of a vault account', async () => {
    const { body } = await world.callAs('agent', '/v1/vault/accounts/0');
    expect(body).toMatchObject({ id: '0', assets: [{ id: 'ETH_TEST5' }] });
  });

  it('answers 404 for what it does not know', async () => {
    for (const path of [
      '/v1/vault/accounts/9',
      '/v1/transactions/nobody',
      '/v1/transactions/external_tx_id/nobody',
      '/v1/vault/accounts/9/ETH_TEST5/addresses_paginated',
    ]) {
      expect((await world.callAs('agent', path)).status).toBe(404);
    }
    expect((await fetch(`${world.url}/v2/anything`)).status).toBe(404);
  });

  it('lists by status, source and number, newest first', async () => {
    const first = await world.create('p1-1');
    const second = await world.create('p1-2');
    world.custodian.control.setStatus(first, 'BLOCKED', 'BLOCKED_BY_POLICY');
    await world.readUntil(second, 'COMPLETED');
    const list = async (query: string): Promise<unknown[]> => {
      const { body } = await world.callAs('agent', `/v1/transactions?${query}`);
      return (body as unknown as { id: string }[]).map(({ id }) => id);
    };
    expect(await list('status=COMPLETED')).toStrictEqual([second]);
    expect(await list('sourceId=0&sort=ASC&orderBy=createdAt')).toHaveLength(2);
    expect(await list('sourceId=1')).toStrictEqual([]);
    expect(await list('limit=1')).toHaveLength(1);
    expect((await world.callAs('agent', '/v1/transactions?limit=501')).status).toBe(400);
  });
});

describe('ends of a transaction', () => {
  it('cancels once, and an approval that comes later signs nothing', async () => {
    let approve: (reply: { action: string }) => void = () => undefined;
    const asking = await startWorld({
      reply: async () =>
        await new Promise((resolve) => {
          approve = resolve;
        }),
    });
    try {
      const id = await asking.create();
      await expect.poll(() => asking.handler?.received, { interval: 2 }).toHaveLength(1);
      const path = `/v1/transactions/${id}`;
      const cancel = async () => await asking.callAs('agent', `${path}/cancel`, { method: 'POST' });
      expect(await cancel()).toStrictEqual({ status: 200, body: { success: true } });
      const { body } = await asking.callAs('agent', path);
      expect(body).toMatchObject({ status: 'CANCELLED', subStatus: 'CANCELLED_BY_USER' });
      expect((await cancel()).status).toBe(400);
      approve({ action: 'APPROVE' });
      const { control } = asking.custodian;
      await expect
        .poll(() => control.callbacks()[0]?.answer, { interval: 2 })
        .toMatchObject({ action: 'APPROVE' });
      expect((await asking.callAs('agent', path)).body).toMatchObject({ status: 'CANCELLED' });
    } finally {
      await asking.stop();
    }
  });

  it.each(['TIMEOUT', 'BLOCKED', 'FAILED'])('%s can be forced, and stays', async (status) => {
    const id = await world.create();
    world.custodian.control.setStatus(id, status);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { body } = await world.callAs('agent', `/v1/transactions/${id}`);
    expect(body['status']).toBe(status);
    expect(body).not.toHaveProperty('signedMessages');
  });

  it('shows an unknown status as often as a test asks for it', async () => {
    const id = await world.create();
    const status = 'PENDING_QUANTUM_REVIEW';
    world.custodian.control.fault({ kind: 'status', status, times: 2 });
    const seen: unknown[] = [];
    for (let index = 0; index < 3; index++) {
      seen.push((await world.callAs('agent', `/v1/transactions/${id}`)).body['status']);
    }
    expect(seen).toStrictEqual([status, status, 'COMPLETED']);
  });
});

describe('the control API over HTTP', () => {
  async function control(path: string, method = 'GET', body?: unknown): Promise<unknown> {
    const response = await fetch(`${world.url}/__control${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await response.json();
  }

  it('arms faults, shows what happened and forgets it', async () => {
    expect(await control('/faults', 'POST', { kind: 'result', effect: 'high-s' })).toStrictEqual({
      armed: 1,
    });
    expect(await control('/faults', 'POST', { kind: 'result', effect: 'none' })).toHaveProperty(
      'message',
    );
    const id = await world.create();
    await control(`/transactions/${id}/status`, 'POST', { status: 'TIMEOUT' });
    expect(await control('/transactions')).toMatchObject([{ id, status: 'TIMEOUT' }]);
    expect(await control('/requests')).toMatchObject([{ method: 'POST', status: 200 }]);
    expect(await control('/callbacks')).toStrictEqual([]);
    expect(await control('/violations')).toStrictEqual([]);
    await control('/time-scale', 'PUT', { scale: 1_000 });
    expect(await control('/pauses')).toStrictEqual({ pending: 0 });
    await control('/reset', 'POST');
    expect(await control('/transactions')).toStrictEqual([]);
    expect(await control('/faults')).toStrictEqual([]);
  });
});

describe('the configuration', () => {
  it.each([
    ['an unknown field', { extra: 1 }, 'extra'],
    [
      'a signer that may not sign',
      { cosigner: { id: 'a', privateKey: '-----BEGIN X', signerId: 'agent-api-key' } },
      'cosigner.signerId',
    ],
    ['no users', { apiUsers: [] }, 'apiUsers'],
    [
      'an unpaired signer',
      { cosigner: { id: 'a', privateKey: '-----BEGIN X', signerId: 'b' } },
      'cosigner.signerId',
    ],
    [
      'a private key of another form',
      { vaultAccounts: [{ id: '0', privateKey: 'secret', assets: ['ETH'] }] },
      'vaultAccounts.0.privateKey',
    ],
  ])('names the field: %s', (_, change, field) => {
    const parse = () => parseConfig({ ...createExample().config, ...change });
    expect(parse).toThrow(field);
    expect(parse).not.toThrow('secret');
  });
});
