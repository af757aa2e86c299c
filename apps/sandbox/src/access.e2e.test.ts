// Access to real processes: each capability at each route, rotated and revoked keys, and the access that remains when
// gate and platform are down. One deployment, tests in order: the last ones end its services.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capabilities } from '@pool/api';
import { parseHex, Secret } from '@pool/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

describe('a deployment', () => {
  let stack: TestStack;
  let session: Awaited<ReturnType<typeof openSession>>;
  beforeAll(async () => {
    stack = await startTestStack();
    session = await openSession(new Secret(parseHex(stack.place.employer.privateKey)), stack);
  });
  afterAll(async () => {
    await stack.end();
  });

  async function ask(
    url: string,
    bearer: string | undefined,
    init: { readonly key?: string; readonly body?: unknown } = {},
  ): Promise<Answer> {
    const { key, body } = init;
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }

  /** Each route of the agent that requires a credential, and the answer to an authorised caller. */
  const routes: readonly (readonly [
    string,
    (bearer: string | undefined) => Promise<Answer>,
    number,
  ])[] = [
    [
      'POST /api/disburse',
      (bearer) =>
        ask(`${stack.agent.url}/api/disburse`, bearer, {
          key: 'refused',
          body: stack.createRequest({}),
        }),
      400,
    ],
    [
      'POST /api/validate',
      (bearer) =>
        ask(`${stack.agent.url}/api/validate`, bearer, { body: stack.createRequest({ 0: 1n }) }),
      200,
    ],
    [
      'GET /api/disburse/:key',
      (bearer) => ask(`${stack.agent.url}/api/disburse/none`, bearer),
      404,
    ],
  ];

  it.each(routes)(
    'accepts only a disburse key at %s [disburse.bearer, poll.bearer, validate.bearer, capability.one-only, capability.holder-not-disburse, capability.foreign-employer, error.bearer]',
    async (_route, at, allowed) => {
      for (const capability of capabilities) {
        const { apiKey } = await session.mintKey(capability, 'test');
        const { status, body } = await at(apiKey.reveal());
        expect([capability, status]).toEqual([
          capability,
          capability === 'disburse' ? allowed : 403,
        ]);
        if (capability !== 'disburse') {
          expect(body).toEqual({ code: 'forbidden', message: expect.any(String) });
        }
      }
      const foreign = await openSession(new Secret(stack.holders[0]!.privateKey), stack);
      const { apiKey, id } = await foreign.mintKey('disburse', 'test');
      // The platform says nothing of another employer's key, so it is like an unknown one.
      expect((await at(apiKey.reveal())).status).toBe(401);
      await foreign.revokeKey(id);
      for (const bearer of [undefined, apiKey.reveal(), stack.edgeToken, 'f'.repeat(64)]) {
        expect(await at(bearer)).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
      }
    },
  );

  it('checks the capability again at the edge [service.edge-is-authenticated, capability.one-only, capability.holder-not-disburse]', async () => {
    const edge = `${stack.platformUrl}/agent-edge`;
    const notes = `${edge}/notes?chain=${stack.chain}&token=USDC`;
    for (const capability of capabilities) {
      const { apiKey } = await session.mintKey(capability, 'test');
      const seen = [
        (await ask(notes, apiKey.reveal())).status,
        (await ask(`${edge}/bootstrap`, apiKey.reveal(), { body: {} })).status,
        (await ask(`${edge}/settlements/none`, apiKey.reveal())).status,
      ];
      expect([capability, ...seen]).toEqual([
        capability,
        capability === 'holder.read' ? 200 : 403,
        401,
        401,
      ]);
    }
    expect((await ask(notes, stack.edgeToken)).status).toBe(401);
    expect((await ask(`${edge}/bootstrap`, stack.edgeToken, { body: {} })).status).toBe(200);
  });

  it('pays once when the key is rotated between a request and its retry [key.revocation-next-request, disburse.key-outlives-credential]', async () => {
    const url = `${stack.agent.url}/api/disburse`;
    const sent = { key: 'rotated', body: stack.createRequest({ 0: 3n, 1: 4n }) };
    const first = await session.mintKey('disburse', 'first');
    expect((await ask(url, first.apiKey.reveal(), sent)).status).toBe(202);
    await session.revokeKey(first.id);
    expect((await ask(url, first.apiKey.reveal(), sent)).status).toBe(401);
    const second = await session.mintKey('disburse', 'second');
    const again = await ask(url, second.apiKey.reveal(), sent);
    expect([200, 202]).toContain(again.status);
    expect(again.body).toMatchObject({ key: 'rotated', statusUrl: '/api/disburse/rotated' });
    expect(await stack.client.waitForJob('rotated')).toMatchObject({
      state: 'done',
      result: { status: 'completed' },
    });
    expect((await ask(url, second.apiKey.reveal(), sent)).status).toBe(200);
    expect(await countFundedBatches(stack.place)).toBe(1);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(7n);
  });

  it('pays on the chain that bootstrap vends if DISBURSE_CHAIN is not set [request.default-chain, request.chain-setting-outranks, bootstrap.vends, variable.chain]', async () => {
    const agent = await stack.startAgent({ name: 'vended' });
    const path = join(agent.home, 'vended.env');
    const lines = readFileSync(join(agent.home, 'agent.env'), 'utf8').split('\n');
    writeFileSync(path, lines.filter((line) => !line.startsWith('DISBURSE_CHAIN=')).join('\n'), {
      mode: 0o600,
    });
    await agent.process.stop();
    const { url, loopbackToken, process } = await agent.restart({ AGENT_ENV: path });
    const report = await ask(`${url}/api/validate`, loopbackToken, {
      body: stack.createRequest({ 0: 1n }),
    });
    expect(report.body).toMatchObject({ issues: [] });
    await process.stop();
    // Its own setting has precedence over the vended chain, even if it cannot pay there.
    const other = await agent.restart({ AGENT_ENV: path, DISBURSE_CHAIN: 'elsewhere' });
    const refused = await ask(`${other.url}/api/validate`, other.loopbackToken, {
      body: stack.createRequest({ 0: 1n }),
    });
    expect(refused.body).toMatchObject({ issues: [{ code: 'invalid-chain' }] });
    await other.process.stop();
  });

  it('listens on loopback only [auth.loopback-by-default]', async () => {
    const { port } = new URL(stack.agent.url);
    expect((await fetch(`http://127.0.0.1:${port}/api/livez`)).status).toBe(200);
    // A server that listens on all addresses would answer here too.
    await expect(fetch(`http://127.0.0.2:${port}/api/livez`)).rejects.toThrow();
  });

  async function readReadiness(): Promise<Readonly<Record<string, unknown>>> {
    const { status, body } = await ask(`${stack.agent.url}/api/readyz`, undefined);
    const checks = body['checks'] as Readonly<Record<string, { readonly ok: boolean }>>;
    const down = Object.keys(checks).filter((name) => checks[name]?.ok !== true);
    return { status, ok: body['ok'], asked: Object.keys(checks).sort(), down: down.sort() };
  }
  const asked = ['accelerator', 'chains', 'platform', 'poolGate', 'signer'];

  it('is ready with all its parts, and not ready without its gate [health.readyz]', async () => {
    expect(await readReadiness()).toEqual({ status: 200, ok: true, asked, down: [] });
    await stack.gate.process.kill();
    const down = ['poolGate'];
    await expect
      .poll(readReadiness, { interval: 500 })
      .toEqual({ status: 503, ok: false, asked, down });
  });

  it('accepts no API key while the platform does not answer [health.readyz, auth.verified-by-platform]', async () => {
    const { apiKey } = await session.mintKey('disburse', 'test');
    const url = `${stack.agent.url}/api/disburse/rotated`;
    expect((await ask(url, apiKey.reveal())).status).toBe(200);
    await stack.platform.process.kill();
    expect(await ask(url, apiKey.reveal())).toMatchObject({
      status: 503,
      body: { code: 'verification_unavailable' },
    });
    // Its own token is checked without the platform.
    expect((await ask(url, stack.agent.loopbackToken)).status).toBe(200);
    const down = ['platform', 'poolGate'];
    await expect
      .poll(readReadiness, { interval: 500 })
      .toEqual({ status: 503, ok: false, asked, down });
    expect((await ask(`${stack.agent.url}/api/livez`, undefined)).status).toBe(200);
  });
});
