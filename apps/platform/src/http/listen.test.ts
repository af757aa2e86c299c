/** Platform and gate below their routes: raw bytes on a socket, and shutdown. */

import { Secret } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import type { HttpServer, Shell } from '@pool/http-server';
import { createTestHolder } from '@pool/testkit';
import {
  exchangeRaw,
  listRawCases,
  type RawTarget,
  rawLimits,
  tryRawCase,
} from '@pool/testkit/raw-http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { openMemoryDatabase } from '../../../../packages/database/test/test-store.ts';
import { listen } from '../../../../packages/http-server/src/service/listen.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { createGateApp } from '../../../../packages/pool-gate/src/gate-app.ts';
import { type GateTables, gateMigrations } from '../../../../packages/pool-gate/src/gate-tables.ts';
import { createLeaves } from '../../../../packages/pool-gate/src/leaves.ts';
import { createTokenService } from '../../../../packages/pool-gate/src/oauth.ts';
import { startPublisher } from '../../../../packages/pool-gate/src/publisher.ts';
import { passEverybody } from '../../../../packages/pool-gate/src/screening.ts';
import { createFakeRegistry } from '../../../../packages/pool-gate/test/fake-registry.ts';
import { noReaders } from '../../../../packages/pool-gate/test/test-gate.ts';
import { parseGateConfig, parsePlatformConfig } from '../config.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

const log = createLog('silent', 'test');
const loopback = { host: '127.0.0.1', port: 0 };

type Post = RawTarget['post'];
const platformPost: Post = {
  path: '/api/auth/verify',
  headers: ['Content-Type: application/json'],
  status: 400,
  maxBodyBytes: 512 * 1024,
};
// The route reads no body before it knows the caller, so the credential is added once the key is minted.
const spendHeaders = ['Content-Type: application/json', 'Idempotency-Key: k'];
const spendPost: Post = { ...platformPost, path: '/agent-edge/spends', headers: spendHeaders };
const gatePost: Post = {
  path: '/oauth/token',
  headers: ['Content-Type: application/x-www-form-urlencoded'],
  status: 401,
  maxBodyBytes: 64 * 1024,
};

let database: TestDatabase;
let gateDatabase: OpenDatabase<GateTables>;
const stopping = new AbortController();
beforeAll(async () => {
  database = await openTestDatabase();
  gateDatabase = await openMemoryDatabase(gateMigrations);
});
afterAll(async () => {
  stopping.abort();
  await Promise.all([database.close(), gateDatabase.close()]);
});

async function createGate(): Promise<Shell> {
  const { db } = gateDatabase;
  return createGateApp({
    readers: noReaders,
    db,
    leaves: createLeaves(db, log),
    log,
    screening: passEverybody,
    allowedHosts: [],
    publisher: await startPublisher({
      db,
      chain: createFakeRegistry().chain,
      log,
      nowMs: Date.now,
      pollIntervalMs: 5,
      replaceAfterMs: 120_000,
      signal: stopping.signal,
    }),
    tokens: createTokenService(
      [{ clientId: 'reader', clientSecret: new Secret('r'), scopes: ['gate.read'] }],
      900,
      Date.now,
    ),
  });
}

async function createSpendApp(): Promise<Shell> {
  const platform = createTestPlatform(database);
  const session = await platform.signIn(await createTestHolder('a'));
  await session.register();
  const { apiKey } = await session.mintKey('holder.transfer', 'x');
  spendHeaders.push(`Authorization: Bearer ${apiKey.reveal()}`);
  return platform.app;
}

describe.each([
  ['the platform', async () => createTestPlatform(database).app, platformPost],
  ['the route of spends', createSpendApp, spendPost],
  ['the gate', createGate, gatePost],
] as const)('%s on a socket', (_name, createApp, post) => {
  let server: HttpServer;
  let target: RawTarget;
  beforeAll(async () => {
    const app = await createApp();
    server = await listen((request, from) => app.fetch(request, from), loopback, log, rawLimits);
    target = { port: Number(new URL(server.url).port), alivePath: '/livez', post };
  });
  afterAll(() => server.close());

  it.each(listRawCases(post))('survives %s', async (name) => {
    expect(await tryRawCase(target, name)).toEqual([]);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });
});

describe('listen', () => {
  it('refuses a port that is in use', async () => {
    const server = await listen(() => new Response(''), loopback, log);
    onTestFinished(() => server.close());
    const port = Number(new URL(server.url).port);
    await expect(listen(() => new Response(''), { ...loopback, port }, log)).rejects.toMatchObject({
      code: 'cannot_listen',
    });
  });

  /** Requests of `/held` are answered from `answer()` on. */
  async function serve(graceMs: number) {
    const held = Promise.withResolvers<void>();
    let begun = 0;
    const server = await listen(
      async ({ url }) => {
        begun += 1;
        if (url.endsWith('/held')) await held.promise;
        return new Response('answered');
      },
      loopback,
      log,
      { graceMs },
    );
    const port = Number(new URL(server.url).port);
    const exchange = async (path: string) => {
      const get = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
      const before = begun;
      const exchanged = exchangeRaw(port, [get], { waitMs: 600_000 });
      await expect.poll(() => begun).toBe(before + 1);
      return { exchanged };
    };
    return { server, exchange, answer: held.resolve };
  }

  it('answers requests in progress when it stops, accepts no new ones, and closes every connection', async () => {
    const { server, exchange, answer } = await serve(600_000);
    const idle = await exchange('/');
    const short = await exchange('/held');
    const closed = server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    answer();
    await closed;
    expect((await idle.exchanged).isClosed).toBe(true);
    expect((await short.exchanged).answers).toMatchObject([
      { status: 200, body: 'answered', headers: { connection: 'close' } },
    ]);
  });

  it('ends requests that are not answered within the grace when it stops', async () => {
    const { server, exchange } = await serve(200);
    const long = await exchange('/held');
    await server.close();
    expect((await long.exchanged).answers).toEqual([]);
  });
});

describe('a host without a TLS proxy in front', () => {
  const hosts = ['::', '0.0.0.0', '10.0.0.1', '2001:db8::1', 'platform.example', '127.example'];
  it.each(hosts)('is refused if it is not loopback: %s', (host) => {
    expect(() => parsePlatformConfig({ PLATFORM_HOST: host })).toThrow(/PLATFORM_HOST is not/);
    expect(() => parseGateConfig({ GATE_HOST: host })).toThrow(/GATE_HOST is not/);
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost'])(
    'is accepted if it is loopback: %s',
    (host) => {
      expect(() => parsePlatformConfig({ PLATFORM_HOST: host })).not.toThrow(/PLATFORM_HOST/);
      expect(() => parseGateConfig({ GATE_HOST: host })).not.toThrow(/GATE_HOST/);
    },
  );
});
