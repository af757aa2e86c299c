/** The gate answers every request as its OpenAPI document describes. */

import { createOpenApi, gateApi, gateRoutes } from '@pool/api';
import { fieldToHex, Secret } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import type { Shell } from '@pool/http-server';
import { computeWalletId } from '@pool/notes';
import { createRouteCaller } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { fuzzApi, isOfDescription } from '@pool/testkit/api-fuzz';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { createFakeRegistry } from '../test/fake-registry.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import { createGateApp } from './gate-app.ts';
import type { GateTables } from './gate-tables.ts';
import { createLeaves } from './leaves.ts';
import { createTokenService } from './oauth.ts';
import { type Publisher, startPublisher } from './publisher.ts';
import { openReaderClients } from './reader-clients.ts';
import { passEverybody } from './screening.ts';

const secret = 'writer-secret-of-the-test';

const metricsToken = 'metrics-'.padEnd(24, 'm');

describe('the gate and its document', () => {
  let database: OpenDatabase<GateTables>;
  let publisher: Publisher;
  let app: Shell;
  const stopping = new AbortController();
  const nowMs = () => Date.parse('2026-11-21T10:00:00Z');
  const log = createLog('silent', 'test');
  const call = createRouteCaller({
    url: 'http://127.0.0.1',
    service: 'gate',
    fetch: async (input, init) => await app.request(input, init),
  });

  beforeAll(async () => {
    database = await openTestGateDatabase();
    publisher = await startPublisher({
      db: database.db,
      chain: createFakeRegistry().chain,
      log,
      nowMs,
      pollIntervalMs: 5,
      replaceAfterMs: 120_000,
      signal: stopping.signal,
    });
    app = createGateApp({
      readers: await openReaderClients(database.db, nowMs),
      db: database.db,
      publisher,
      leaves: createLeaves(database.db, log),
      log,
      screening: passEverybody,
      metrics: { token: new Secret(metricsToken), measures: [] },
      allowedHosts: [],
      tokens: createTokenService(
        [
          {
            clientId: 'writer',
            clientSecret: new Secret(secret),
            scopes: ['gate.read', 'gate.write'],
          },
        ],
        900,
        nowMs,
      ),
    });
  });
  afterAll(async () => {
    stopping.abort();
    await publisher.idle();
    await database.close();
  });

  it('serves the document and its page', async () => {
    const document = await app.request('http://127.0.0.1/openapi.json');
    expect(await document.json()).toEqual(createOpenApi(gateApi));
    const page = await app.request('http://127.0.0.1/docs');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
  });

  it('describes every existing route', () => {
    const there = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !isOfDescription(path))
      .map(({ method, path }) => `${method} ${path}`);
    const described = gateApi.routes.map(
      ({ method, path }) => `${method} ${path.replace(/\{([^}]+)\}/g, ':$1')}`,
    );
    expect([...new Set(there)].sort()).toEqual([...described].sort());
  });

  it('answers every request as documented', { timeout: 60_000 }, async () => {
    const credentials = {
      grant_type: 'client_credentials',
      client_id: 'writer',
      client_secret: secret,
    } as const;
    const granted = await call(gateRoutes.grantToken, { body: credentials });
    if (granted.status !== 200) {
      throw new Error('no token');
    }
    const token = granted.body.access_token;
    const [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
    const ids = [a, b].map(({ walletPub }) => fieldToHex(computeWalletId(walletPub)));
    const seen = await fuzzApi({
      document: createOpenApi(gateApi),
      send: async (path, init) => await app.request(`http://127.0.0.1${path}`, init),
      credentials: {
        accessToken: { authorization: `Bearer ${token}` },
        metricsToken: { authorization: `Bearer ${metricsToken}` },
      },
      known: {
        walletId: ids,
        walletIds: [ids, ids.slice(1)],
        root: [fieldToHex(publisher.tree.root), `0x${'0'.repeat(63)}7`],
        walletPub: [a.walletPub, b.walletPub],
        scope: ['gate.read', 'gate.all'],
      },
      bodies: { grantToken: [credentials, { ...credentials, client_secret: 'wrong' }] },
      secrets: [token, secret],
      maxBodyBytes: 64 * 1024,
      runs: 100,
    });
    for (const [id, statuses] of seen) {
      expect([id, [...statuses].some((status) => status < 300)], seen.note).toEqual([id, true]);
      expect([id, statuses.has(403)], seen.note).toEqual([id, true]);
    }
  });
});
