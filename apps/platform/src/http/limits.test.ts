import { Writable } from 'node:stream';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

describe('limits and request ids', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;
  beforeAll(async () => {
    database = await openTestDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const limited = expect.objectContaining({ code: 'rate_limited', status: 429 });

  async function callNonce(from: string): Promise<Response> {
    return await platform.app.request('/api/auth/nonce', {
      headers: { 'x-forwarded-for': `10.9.9.9, ${from}` },
    });
  }

  it('limits sign-ins by address, and says when to try again', async () => {
    platform = createTestPlatform(database, { proxyHops: 1, rateLimits: { addressPerSecond: 1 } });
    for (let i = 0; i < 10; i += 1) {
      expect((await callNonce('198.51.100.7')).status).toBe(200);
    }
    const refused = await callNonce('198.51.100.7');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toEqual({
      code: 'rate_limited',
      message: 'too many requests; try again in 1 s',
    });
    expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await callNonce('198.51.100.8')).status).toBe(200);
    platform.clock.nowMs += 1_000;
    expect((await callNonce('198.51.100.7')).status).toBe(200);
  });

  it('limits invalid credentials by address, and not the valid ones from the same address', async () => {
    platform = createTestPlatform(database, { rateLimits: { addressPerSecond: 1 } });
    const session = await platform.signIn(a);
    const { token } = await platform.edgeToken(a.address);
    const edge = createEdgeClient({
      url: `${platform.url}/agent-edge`,
      token,
      fetch: platform.fetch,
    });
    const statuses = [];
    for (let i = 0; i < 10; i += 1) {
      const { status } = await platform.app.request('/agent-edge/bootstrap', {
        method: 'POST',
        headers: { authorization: i % 2 === 0 ? 'Basic x' : `Bearer pool_edge_guess${i}` },
      });
      statuses.push(status);
    }
    // The sign-in took two of the ten calls.
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429, 429]);
    const guess = await platform.app.request('/api/employers/keys', {
      headers: { cookie: 'sessionId=guess' },
    });
    expect(guess.status).toBe(429);
    await session.register();
    await edge.bootstrap();
  });

  it('limits a wallet through all of its sessions, and no other wallet', async () => {
    platform = createTestPlatform(database, { rateLimits: { sessionPerSecond: 1 } });
    const [first, second] = [await platform.signIn(a), await platform.signIn(a)];
    for (let i = 0; i < 5; i += 1) {
      await first.register();
      await second.getEnrollment();
    }
    await expect(first.getEnrollment()).rejects.toEqual(limited);
    await expect(second.register()).rejects.toEqual(limited);
    await (await platform.signIn(b)).register();
    platform.clock.nowMs += 1_000;
    await first.register();
  });

  it('limits each edge token and each holder key at the edge', async () => {
    platform = createTestPlatform(database, { rateLimits: { edgePerSecond: 1 } });
    const { token } = await platform.edgeToken(a.address);
    const other = await platform.edgeToken(a.address);
    const edge = (bearer: typeof token) =>
      createEdgeClient({ url: `${platform.url}/agent-edge`, token: bearer, fetch: platform.fetch });
    for (let i = 0; i < 10; i += 1) {
      await edge(token).bootstrap();
    }
    await expect(edge(token).bootstrap()).rejects.toEqual(limited);
    await edge(other.token).bootstrap();
    const session = await platform.signIn(a);
    const { apiKey } = await session.mintKey('holder.read', 'x');
    const query = { chain: 'anvil', token: 'USDC' };
    for (let i = 0; i < 10; i += 1) {
      await edge(apiKey).getNotes(query);
    }
    await expect(edge(apiKey).getNotes(query)).rejects.toEqual(limited);
  });

  it('writes the request id into the answer and into every line of the request', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino(
      { level: 'debug' },
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(JSON.parse(chunk.toString('utf8')) as Record<string, unknown>);
          done();
        },
      }),
    );
    const gate = createFakeGate(() => Promise.reject(new Error('CANARY-1')));
    platform = createTestPlatform(database, { gate, log });
    const session = await platform.signIn(a);
    await session.register();
    lines.length = 0;
    await session.onboard(a.walletPub, a.encryptionPublicKey);
    expect(lines.map(({ msg }) => msg)).toEqual(['gate write failed', 'request']);
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(1);
    expect(JSON.stringify(lines)).not.toContain('CANARY');
    lines.length = 0;
    const answers = [
      await platform.app.request('http://evil.test/livez'),
      await platform.app.request('/nothing'),
      await platform.app.request('/api/employers/keys'),
      await platform.app.request('/livez'),
    ];
    expect(lines.map(({ status }) => status)).toEqual([403, 404, 401, 200]);
    const ids = answers.map((answer) => answer.headers.get('x-request-id'));
    expect(lines.map(({ requestId }) => requestId)).toEqual(ids);
    expect(new Set(ids).size).toBe(4);
  });
});
