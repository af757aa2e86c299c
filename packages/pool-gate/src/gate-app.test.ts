/** The gate over a fake registry chain: tokens, list, paths, shared publications, restart. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCodeOf, fieldToHex, parseField, Secret } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import { computeEligibilityRootFromPath, computeWalletId } from '@pool/notes';
import { createGateClient, type GateClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { createFakeRegistry } from '../test/fake-registry.ts';
import { noReaders } from '../test/test-gate.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import { createGateApp } from './gate-app.ts';
import type { GateTables } from './gate-tables.ts';
import { createLeaves } from './leaves.ts';
import { createTokenService } from './oauth.ts';
import { type Publisher, startPublisher } from './publisher.ts';
import { createFileScreening, passEverybody, type Screening } from './screening.ts';

const log = createLog('silent', 'test');

describe('pool-gate', () => {
  let database: OpenDatabase<GateTables>;
  let directory: string;
  let fake: ReturnType<typeof createFakeRegistry>;
  let publisher: Publisher;
  let stopping: AbortController;
  let nowMs: number;
  let a: TestHolder;
  let b: TestHolder;

  beforeAll(async () => {
    database = await openTestGateDatabase();
    directory = await mkdtemp(join(tmpdir(), 'pool-gate-'));
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(async () => {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await sql
      .raw('truncate wallets, free_leaves, publications restart identity')
      .execute(database.db);
    fake = createFakeRegistry();
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    await start();
  });

  // A publisher that is still running would publish the changes of the next test.
  afterEach(() => crash());

  async function start(): Promise<void> {
    stopping = new AbortController();
    publisher = await startPublisher({
      db: database.db,
      chain: fake.chain,
      log,
      nowMs: () => nowMs,
      pollIntervalMs: 5,
      replaceAfterMs: 120_000,
      quietMs: 100,
      signal: stopping.signal,
    });
  }
  async function crash(): Promise<void> {
    stopping.abort();
    await publisher.idle();
  }
  it.each([
    ['id', '', 's'],
    ['secret', 'c', ''],
  ])('accepts no client with an empty %s', (_name, clientId, value) => {
    const client = { clientId, clientSecret: new Secret(value), scopes: ['gate.read'] as const };
    expect(() => createTokenService([client], 900, () => nowMs)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  });

  function appOf(screening: Screening = passEverybody) {
    const secret = (value: string) => new Secret(value);
    return createGateApp({
      readers: noReaders,
      db: database.db,
      publisher,
      leaves: createLeaves(database.db, log),
      log,
      screening,
      allowedHosts: [],
      tokens: createTokenService(
        [
          { clientId: 'reader', clientSecret: secret('r&+ %'), scopes: ['gate.read'] },
          { clientId: 'writer', clientSecret: secret('w'), scopes: ['gate.read', 'gate.write'] },
        ],
        900,
        () => nowMs,
      ),
    });
  }
  function clientOf(app: ReturnType<typeof appOf>, clientId = 'writer', scope = ''): GateClient {
    const url = 'http://127.0.0.1';
    return createGateClient({
      url,
      oauth: {
        tokenUrl: `${url}/oauth/token`,
        clientId,
        clientSecret: new Secret(clientId === 'writer' ? 'w' : 'r&+ %'),
        scope:
          scope === '' ? (clientId === 'writer' ? 'gate.write gate.read' : 'gate.read') : scope,
      },
      fetch: async (input, init) => await app.request(input, init),
      nowMs: () => nowMs,
    });
  }
  const idOf = (holder: TestHolder) => fieldToHex(computeWalletId(holder.walletPub));
  const put = (client: GateClient, holder: TestHolder) =>
    client.putWallet(idOf(holder), holder.walletPub);

  it('names the variable when it is called by another name, as through a proxy', async () => {
    const refused = await appOf().request('http://gates.internal/v1/root');
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      code: 'forbidden_host',
      message: expect.stringContaining('GATE_ALLOWED_HOSTS'),
    });
  });

  describe('list', () => {
    it('answers a write once its root is final, and serves paths that lead to the chain’s root', async () => {
      const client = clientOf(appOf());
      const answer = await put(client, a);
      expect(answer).toEqual({
        walletId: idOf(a),
        status: 'whitelisted',
        root: fake.state.current,
        whitelistedAt: '2026-11-21T10:00:00.000Z',
      });
      await put(client, b);
      const reader = clientOf(appOf(), 'reader');
      const answered = await reader.paths([idOf(b), `0x${'0'.repeat(63)}7`, idOf(a)]);
      expect(answered.root).toBe(fake.state.current);
      expect(answered.missing).toEqual([`0x${'0'.repeat(63)}7`]);
      expect(answered.paths.map(({ walletId }) => walletId)).toEqual([idOf(b), idOf(a)]);
      for (const path of answered.paths) {
        const root = computeEligibilityRootFromPath(parseField(path.walletId), path);
        expect(fieldToHex(root)).toBe(fake.state.current);
      }
      expect(await reader.root()).toEqual({
        root: fake.state.current,
        wallets: 2,
        txHash: [...fake.state.signed.keys()].at(-1),
      });
    });

    it('publishes nothing for a wallet that is on the list already', async () => {
      const client = clientOf(appOf());
      await put(client, a);
      await put(client, a);
      expect(fake.state.signed.size).toBe(1);
    });

    it('shares one or two publications among fifty wallets that arrive together', async () => {
      const client = clientOf(appOf());
      const holders = await Promise.all(
        Array.from({ length: 50 }, (_, index) => createTestHolder(`crowd ${index}`)),
      );
      const answers = await Promise.all(holders.map((holder) => put(client, holder)));
      expect(answers.every(({ status }) => status === 'whitelisted')).toBe(true);
      expect((await client.root()).wallets).toBe(50);
      expect(fake.state.signed.size).toBeLessThanOrEqual(2);
    });

    it('waits for finality, and serves the old list until then', async () => {
      fake.state.instant = false;
      const client = clientOf(appOf());
      let answered = false;
      const pending = put(client, a).then(() => {
        answered = true;
      });
      await expect.poll(() => fake.state.broadcasts.length).toBeGreaterThan(0);
      fake.mine([...fake.state.signed.keys()][0] ?? '');
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(answered).toBe(false);
      expect((await client.paths([idOf(a)])).missing).toEqual([idOf(a)]);
      fake.state.finalBlock = fake.state.block;
      await pending;
      expect((await client.paths([idOf(a)])).missing).toEqual([]);
    });

    it('removes a wallet, and gives it the lowest free place when it returns', async () => {
      const client = clientOf(appOf());
      await put(client, a);
      await put(client, b);
      const before = (await client.paths([idOf(a)])).paths[0]?.index;
      const removed = await client.deleteWallet(idOf(a));
      expect(removed).toEqual({ walletId: idOf(a), status: 'removed', root: fake.state.current });
      expect((await client.paths([idOf(a)])).missing).toEqual([idOf(a)]);
      await client.deleteWallet(idOf(a));
      expect(fake.state.signed.size).toBe(3);
      await put(client, a);
      expect((await client.paths([idOf(a)])).paths[0]?.index).toBe(before);
    });

    it('reports a publication that reverts, and succeeds on the next try', async () => {
      const client = clientOf(appOf());
      fake.state.reverting = true;
      await expect(put(client, a)).rejects.toMatchObject({
        code: 'publication_failed',
        status: 503,
        retryable: true,
      });
      fake.state.reverting = false;
      expect((await put(client, a)).status).toBe('whitelisted');
    });

    it('refuses a wallet id that belongs to another key', async () => {
      const client = clientOf(appOf());
      await expect(client.putWallet(idOf(a), b.walletPub)).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(client.putWallet('0xzz', a.walletPub)).rejects.toMatchObject({ status: 400 });
    });
  });

  describe('restart', () => {
    it('sends the identical transaction again after a crash before it was mined', async () => {
      fake.state.instant = false;
      const pending = put(clientOf(appOf()), a).catch(errorCodeOf);
      await expect.poll(() => fake.state.broadcasts.length).toBeGreaterThan(0);
      await crash();
      expect(await pending).toBe('publication_failed');
      fake.state.instant = true;
      await start();
      await expect.poll(() => publisher.tree.size).toBe(1);
      expect(new Set(fake.state.broadcasts).size).toBe(1);
      expect(fake.state.current).toBe(fieldToHex(publisher.tree.root));
    });

    it('publishes a stored change that was never signed', async () => {
      await crash();
      await database.db
        .insertInto('wallets')
        .values({
          wallet_id: idOf(a),
          wallet_pub: a.walletPub,
          leaf_index: 0,
          wanted: true,
          published: false,
          whitelisted_at: null,
        })
        .execute();
      await start();
      await expect.poll(() => publisher.tree.size).toBe(1);
      expect(fake.state.current).toBe(fieldToHex(publisher.tree.root));
    });

    it('publishes again when the chain has another root than the store', async () => {
      await put(clientOf(appOf()), a);
      const root = fake.state.current;
      await crash();
      fake.state.current = `0x${'0'.repeat(63)}9`;
      await start();
      await expect.poll(() => fake.state.current).toBe(root);
    });

    it('publishes nothing when store and chain agree', async () => {
      await put(clientOf(appOf()), a);
      await crash();
      await start();
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(fake.state.signed.size).toBe(1);
      expect(publisher.tree.size).toBe(1);
    });
  });

  describe('a publication that is not mined', () => {
    const waited = () => new Promise((resolve) => setTimeout(resolve, 60));
    /** Two transactions of one nonce are sent, and the enrolment waits. */
    async function getReplaced() {
      fake.state.instant = false;
      const answer = put(clientOf(appOf()), a).catch(errorCodeOf);
      await expect.poll(() => fake.state.broadcasts.length).toBeGreaterThan(0);
      nowMs += 119_999;
      await waited();
      expect(fake.state.signed.size).toBe(1);
      nowMs += 1;
      await expect.poll(() => fake.state.signed.size).toBe(2);
      const [first = '', second = ''] = fake.state.signed.keys();
      await expect.poll(() => fake.state.broadcasts.at(-1)).toBe(second);
      return { answer, first, second };
    }
    function finalise(txHash: string): void {
      fake.mine(txHash);
      fake.state.finalBlock = fake.state.block;
    }

    it('is replaced at its own nonce, once per wait, and found again after a crash', async () => {
      const { answer, second } = await getReplaced();
      expect([...fake.state.signed.values()].map(({ nonce }) => nonce)).toEqual([0, 0]);
      nowMs += 239_999;
      await waited();
      expect(fake.state.signed.size).toBe(2);
      await crash();
      expect(await answer).toBe('publication_failed');
      await start();
      await waited();
      expect(fake.state.signed.size).toBe(2);
      finalise(second);
      await expect.poll(() => publisher.tree.size).toBe(1);
      expect(await publisher.fetchLastTxHash()).toBe(second);
    });

    it('counts as published when the replaced transaction is the one mined', async () => {
      const { answer, first } = await getReplaced();
      finalise(first);
      expect(await answer).toMatchObject({ status: 'whitelisted', root: fake.state.current });
      expect(await publisher.fetchLastTxHash()).toBe(first);
    });

    it('continues when the node refuses the replacement', async () => {
      const { broadcast } = fake.chain;
      fake.chain.broadcast = (raw) =>
        raw === [...fake.state.signed.keys()][1]
          ? Promise.reject(new Error('fee too low')).finally(() => fake.state.broadcasts.push(raw))
          : broadcast(raw);
      const { answer, second } = await getReplaced();
      fake.chain.broadcast = broadcast;
      finalise(second);
      expect(await answer).toMatchObject({ status: 'whitelisted' });
    });
  });

  describe('screening', () => {
    const path = () => join(directory, 'screening.json');
    const write = (mode: string, wallets: string[]) =>
      writeFile(path(), JSON.stringify({ mode, wallets }));

    it('denies by a deny list, and removes a wallet that is denied later [enrol.screened]', async () => {
      await write('deny-list', []);
      const client = clientOf(appOf(createFileScreening(path())));
      expect((await put(client, a)).status).toBe('whitelisted');
      await write('deny-list', [a.address.toLowerCase()]);
      expect((await put(client, a)).status).toBe('denied');
      expect((await client.paths([idOf(a)])).missing).toEqual([idOf(a)]);
      expect((await put(client, b)).status).toBe('whitelisted');
    });

    it('admits only wallets on an allow list, by address or by key', async () => {
      await write('allow-list', [a.walletPub]);
      const client = clientOf(appOf(createFileScreening(path())));
      expect((await put(client, a)).status).toBe('whitelisted');
      expect((await put(client, b)).status).toBe('denied');
    });

    it('admits no wallet when the list cannot be read', async () => {
      await writeFile(path(), '{');
      const client = clientOf(appOf(createFileScreening(path())));
      await expect(put(client, a)).rejects.toMatchObject({
        code: 'publication_failed',
        status: 503,
      });
    });
  });

  describe('oauth', () => {
    it('keeps the scopes for reading and writing separate', async () => {
      const reader = clientOf(appOf(), 'reader');
      await expect(put(reader, a)).rejects.toMatchObject({ code: 'forbidden', status: 403 });
      const greedy = clientOf(appOf(), 'reader', 'gate.write');
      await expect(greedy.root()).rejects.toMatchObject({ code: 'gate_unauthorized' });
      const writeOnly = clientOf(appOf(), 'writer', 'gate.write');
      await expect(writeOnly.root()).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('ends a token after its lifetime', async () => {
      const app = appOf();
      const form = 'grant_type=client_credentials&client_id=writer&client_secret=w';
      const granted = await app.request('/oauth/token', { method: 'POST', body: form });
      const { access_token: token, ...rest } = (await granted.json()) as Record<string, unknown>;
      expect(rest).toEqual({
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'gate.read gate.write',
      });
      const root = () =>
        app.request('/v1/root', { headers: { authorization: `Bearer ${String(token)}` } });
      expect((await root()).status).toBe(200);
      nowMs += 900_000;
      expect((await root()).status).toBe(401);
    });

    it.each([
      [
        'a wrong secret',
        'grant_type=client_credentials&client_id=writer&client_secret=x',
        401,
        'invalid_client',
      ],
      [
        'an unknown client',
        'grant_type=client_credentials&client_id=nobody&client_secret=',
        401,
        'invalid_client',
      ],
      [
        'another grant',
        'grant_type=password&client_id=writer&client_secret=w',
        400,
        'unsupported_grant_type',
      ],
    ])('refuses %s as RFC 6749 requires', async (_name, body, status, code) => {
      const response = await appOf().request('/oauth/token', { method: 'POST', body });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: code, code });
      expect(response.headers.get('www-authenticate') !== null).toBe(status === 401);
    });

    it.each(['/v1/root', '/v1/paths'])('answers %s without a token with 401', async (path) => {
      const response = await appOf().request(path, {
        method: path === '/v1/root' ? 'GET' : 'POST',
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
    });
  });
});
