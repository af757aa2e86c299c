/** Below the routes of the agent: raw bytes on a socket, and the address it listens on. */
import { type HttpServer, serveHttp } from '@pool/http-server';
import { listRawCases, type RawTarget, rawLimits, tryRawCase } from '@pool/testkit/raw-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from './config/config.ts';
import { createConfigSource, goodEnvironment } from './fixtures/config-world.ts';
import { apiKey, createTestApp, loopbackToken } from './fixtures/test-app.ts';

const post: RawTarget['post'] = {
  path: '/api/validate',
  headers: [`Authorization: Bearer ${loopbackToken}`, 'Content-Type: application/json'],
  status: 200,
  maxBodyBytes: 4 * 1024 * 1024,
};

/** A spend: it reads its body, and refuses the empty one. */
const spendPost: RawTarget['post'] = {
  path: '/api/transfer',
  headers: [
    `Authorization: Bearer ${apiKey('transfer')}`,
    'Content-Type: application/json',
    'Idempotency-Key: k-1',
  ],
  status: 400,
  maxBodyBytes: 64 * 1024,
};

describe('a route of spends on a socket', () => {
  let server: HttpServer;
  const world = createTestApp();
  beforeAll(async () => {
    server = await serveHttp((request) => world.app.fetch(request), {
      host: '127.0.0.1',
      port: 0,
      onRefused: () => undefined,
      limits: rawLimits,
    });
  });
  afterAll(() => server.close());

  it.each(listRawCases(spendPost))('survives %s, and spends nothing', async (name) => {
    const port = Number(new URL(server.url).port);
    const target = { port, alivePath: '/api/livez', post: spendPost };
    expect(await tryRawCase(target, name)).toEqual([]);
    expect(world.state.spends).toEqual([]);
  });
});

describe('the agent on a socket', () => {
  let server: HttpServer;
  let target: RawTarget;
  const refused = new Set<string>();
  beforeAll(async () => {
    const { app } = createTestApp();
    server = await serveHttp((request) => app.fetch(request), {
      host: '127.0.0.1',
      port: 0,
      onRefused: ({ status, code }) => refused.add(`${status} ${code}`),
      limits: rawLimits,
    });
    target = { port: Number(new URL(server.url).port), alivePath: '/api/livez', post };
  });
  afterAll(() => server.close());

  it.each(listRawCases(post))('survives %s', async (name) => {
    expect(await tryRawCase(target, name)).toEqual([]);
    expect((await fetch(`${server.url}/api/livez`)).status).toBe(200);
  });

  it.each(['/docs', '/openapi.json'])('serves %s with nosniff and without CORS', async (path) => {
    const { status, headers } = await fetch(server.url + path);
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('documents the refusals that happen before any route', async () => {
    refused.clear();
    const slow = 'headers that come too slowly';
    const cases = [
      'bytes that are not HTTP',
      'CONNECT',
      slow,
      'an unknown Expect',
      'very many headers',
    ];
    for (const name of cases) {
      await tryRawCase(target, name);
    }
    expect([...refused]).toHaveLength(cases.length);
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      readonly info: { readonly description: string };
    };
    for (const refusal of [...refused, '503 stopping']) {
      expect(document.info.description).toContain(refusal);
    }
  });
});

describe('an address that is not loopback', () => {
  it.each([
    '::',
    '0.0.0.0',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '2001:db8::1',
    'agent.example',
    '127.example',
  ])('is refused without acknowledgement: %s', (host) => {
    const env = { ...goodEnvironment, DISBURSE_HOST: host };
    expect(() => parseConfig(createConfigSource(env), { values: {} })).toThrow(/DISBURSE_HOST/);
    const acknowledged = { ...env, DISBURSE_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' };
    expect(parseConfig(createConfigSource(acknowledged), { values: {} }).host).toBe(host);
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost'])(
    'does not include %s',
    (host) => {
      const env = { ...goodEnvironment, DISBURSE_HOST: host };
      expect(() => parseConfig(createConfigSource(env), { values: {} })).not.toThrow();
    },
  );
});
