import { createHmac } from 'node:crypto';
import { Secret } from '@pool/core';
import { createApproverClient } from '@pool/signers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorldA, type WorldA } from '../fixtures/custodian-a.ts';
import {
  manifestToken,
  metricsToken,
  type ServedGate,
  serveTestGate,
} from '../fixtures/gate-home.ts';
import { funder, fundFile, holder } from '../fixtures/payroll.ts';

let world: WorldA;
let served: ServedGate;

beforeAll(async () => {
  world = await createWorldA();
  const config = { ...world.home.config, allowedHosts: ['gate.example'] };
  served = await serveTestGate({ ...world.home, config });
  await served.gate.examine();
});

afterAll(async () => {
  await served.close();
  await world.close();
});

function get(path: string, token?: string): Promise<Response> {
  return fetch(`${served.url}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

describe('POST /v1/manifests', () => {
  it('stores a manifest once, also when it is posted twice at the same time', async () => {
    const file = fundFile();
    const answers = await Promise.all([served.post(file), served.post(file), served.post(file)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const [{ manifestDigest } = { manifestDigest: '' }] = answers.map(
      ({ body }) => body as { readonly manifestDigest: string },
    );
    const read = await get(`/v1/manifests/${manifestDigest}`, manifestToken);
    expect(await read.json()).toEqual({ manifestDigest, state: 'pending' });
  });

  it('refuses a body with an unknown field, and one that is too large', async () => {
    expect(await served.post({ ...fundFile(), extra: 1 })).toMatchObject({ status: 400 });
    expect(await served.post({ text: 'x'.repeat(3 * 1024 * 1024) })).toMatchObject({ status: 413 });
  });

  it('refuses an attempt whose predecessor may still be paid', async () => {
    expect(await served.post(fundFile({ attempt: 2 }))).toMatchObject({
      status: 503,
      body: { code: 'manifest_not_ready' },
    });
  });

  it('answers health while it rebuilds a batch of 256', async () => {
    const { recipients } = fundFile().manifest;
    let isStored = false;
    const posting = served.post(fundFile({ size: 256, recipients })).finally(() => {
      isStored = true;
    });
    expect((await get('/healthz')).status).toBe(200);
    expect(isStored).toBe(false);
    expect(await posting).toMatchObject({ status: 200 });
  });
});

it('answers 404 for a manifest that it does not have', async () => {
  const response = await get(`/v1/manifests/0x${'07'.repeat(32)}`, manifestToken);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'manifest_unknown' });
});

it('answers to its own names on any port, and names the variable when it refuses', async () => {
  const ask = (host: string) => served.gate.app.request(`https://${host}/healthz`);
  expect((await ask('gate.example')).status).toBe(200);
  expect((await ask('gate.example:8443')).status).toBe(200);
  const refused = await ask('other.example');
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    code: 'forbidden_host',
    message: expect.stringContaining('list it in APPROVE_ALLOWED_HOSTS') as string,
  });
});

describe('GET /v1/wallets/:address', () => {
  type Wallet = Parameters<ReturnType<typeof createApproverClient>['probe']>[0][number];
  const ofFunder: Wallet = { address: funder, role: 'funder', custodian: 'custodian_a' };
  const ofHolder: Wallet = {
    address: holder,
    role: 'holder',
    custodian: 'custodian_a',
  };

  function probe(wallets: readonly Wallet[], token = manifestToken): Promise<void> {
    return createApproverClient({ url: served.url, token: new Secret(token) }).probe(wallets);
  }

  it('tells an agent that this is the gate of its funder and its holder', async () => {
    await probe([ofFunder, ofHolder]);
    const answer = await get(`/v1/wallets/${funder}`, manifestToken);
    expect(await answer.json()).toEqual({ custodian: 'custodian_a', roles: ['funder'] });
  });

  it.each([
    ['a funder that the policy does not list', { ...ofFunder, address: ofHolder.address }],
    ['a holder that the policy does not list', { ...ofHolder, address: funder }],
    ['another custodian', { ...ofFunder, custodian: 'custodian_b' }],
  ])('tells an agent that it is not the gate of %s', async (_what, wallet) => {
    await expect(probe([wallet])).rejects.toMatchObject({ code: 'manifest_refused' });
  });

  it('answers for the token of manifests only, and for addresses only', async () => {
    await expect(probe([ofFunder], metricsToken)).rejects.toMatchObject({
      code: 'approver_refused',
    });
    expect((await get(`/v1/wallets/${funder}`)).status).toBe(401);
    expect((await get('/v1/wallets/none', manifestToken)).status).toBe(400);
  });
});

describe('GET /metrics', () => {
  it('answers for its own token only', async () => {
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/metrics', manifestToken)).status).toBe(401);
    const text = await (await get('/metrics', metricsToken)).text();
    expect(text).toMatch(/^pool_approve_healthy 1$/m);
    expect(text).toMatch(/^pool_approve_doctor_ok 1$/m);
    expect(text).toMatch(/^pool_approve_doctor_check_ok\{check="auto-reject"\} 1$/m);
  });
});

describe('POST /v1/webhooks/custodian-a', () => {
  async function send(body: string, signature: string): Promise<number> {
    const response = await fetch(`${served.url}/v1/webhooks/custodian-a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-signature': signature },
      body,
    });
    return response.status;
  }

  function sign(body: string): string {
    return `sha256=${createHmac('sha256', 'webhook-secret-of-the-tests').update(body).digest('hex')}`;
  }

  it('wakes the poller for an event of the custodian, and for no other', async () => {
    let woken = 0;
    served.gate.onWake(() => {
      woken += 1;
    });
    const event = { id: 'e', kind: 'policy.approval.pending', date: '', data: {} };
    const body = JSON.stringify({ ...event, timestampSent: Math.floor(Date.now() / 1000) });
    expect(await send(body, sign(body))).toBe(200);
    expect(await send(body, sign(`${body} `))).toBe(401);
    const old = JSON.stringify({ ...event, timestampSent: Math.floor(Date.now() / 1000) - 600 });
    expect(await send(old, sign(old))).toBe(401);
    expect(woken).toBe(1);
  });
});
