/** What reaches the agent below its routes: raw bytes on a socket; and where it listens. */
import { type HttpServer, serveHttp } from '@pool/http-server';
import { listRawCases, type RawTarget, rawLimits, tryRawCase } from '@pool/testkit/raw-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from './config/config.ts';
import { createConfigSource, goodEnvironment } from './fixtures/config-world.ts';
import { createTestApp, loopbackToken } from './fixtures/test-app.ts';

const post: RawTarget['post'] = {
  path: '/api/validate',
  headers: [`Authorization: Bearer ${loopbackToken}`, 'Content-Type: application/json'],
  status: 200,
  maxBodyBytes: 4 * 1024 * 1024,
};

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

  it.each(listRawCases(post))('bears %s', async (name) => {
    expect(await tryRawCase(target, name)).toEqual([]);
    expect((await fetch(`${server.url}/api/livez`)).status).toBe(200);
  });

  it.each(['/docs', '/openapi.json'])('says of %s too that it is what it is', async (path) => {
    const { status, headers } = await fetch(server.url + path);
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('documents what is refused before any route', async () => {
    refused.clear();
    const slow = 'headers that come too slowly';
    const cases = [
      'no HTTP at all',
      'CONNECT',
      slow,
      'an Expect that is none',
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

describe('careless binding', () => {
  it.each([
    '::',
    '0.0.0.0',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '2001:db8::1',
    'agent.example',
    '127.example',
  ])('is refused for %s', (host) => {
    const env = { ...goodEnvironment, DISBURSE_HOST: host };
    expect(() => parseConfig(createConfigSource(env), { values: {} })).toThrow(/DISBURSE_HOST/);
    const acknowledged = { ...env, DISBURSE_ALLOW_PUBLIC_BIND: 'behind-tls-proxy' };
    expect(parseConfig(createConfigSource(acknowledged), { values: {} }).host).toBe(host);
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost'])('is not %s', (host) => {
    const env = { ...goodEnvironment, DISBURSE_HOST: host };
    expect(() => parseConfig(createConfigSource(env), { values: {} })).not.toThrow();
  });
});
