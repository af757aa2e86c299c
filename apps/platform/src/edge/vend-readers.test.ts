// The gate's readers that agents get: one per employer, revoked one by one, even if a process dies in between.

import { Secret } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import { createEdgeClient, createGateClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { openMemoryDatabase } from '../../../../packages/database/test/test-store.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { type GateTables, gateMigrations } from '../../../../packages/pool-gate/src/gate-tables.ts';
import { startTestGate, type TestGate } from '../../../../packages/pool-gate/test/test-gate.ts';
import { createTestPlatform, testCredentials } from '../fixtures/test-platform.ts';
import { createControlApp } from '../operator/control.ts';
import { createReaderVendor, type ReaderVendor } from './vend-readers.ts';

describe('readers that bootstrap vends', () => {
  let database: TestDatabase;
  let gateDatabase: OpenDatabase<GateTables>;
  let gate: TestGate;
  let isGateDown: boolean;
  let nowMs: number;
  let platform: ReturnType<typeof createTestPlatform>;
  let vendor: ReaderVendor;
  let a: { token: Secret; employerId: string };
  let b: { token: Secret; employerId: string };
  const log = createLog('silent', 'test');

  beforeAll(async () => {
    database = await openTestDatabase();
    gateDatabase = await openMemoryDatabase(gateMigrations);
  });
  afterAll(() => Promise.all([database.close(), gateDatabase.close()]));
  afterEach(() => gate.crash());
  beforeEach(async () => {
    await database.reset();
    gate = await startTestGate(gateDatabase);
    isGateDown = false;
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    startPlatform();
    const [holderA, holderB] = [await createTestHolder('a'), await createTestHolder('b')];
    a = await platform.edgeToken(holderA.address);
    b = await platform.edgeToken(holderB.address);
  });

  /** As after a restart of its process. */
  function startPlatform(writerSecret = 'w'): void {
    vendor = createReaderVendor({
      db: database.db,
      log,
      nowMs: () => nowMs,
      platformSecret: new Secret(writerSecret),
      waitMs: 1_000,
      gate: {
        putReader: (clientId, state) =>
          isGateDown
            ? Promise.reject(Object.assign(new Error('down'), { code: 'gate_unreachable' }))
            : gate.client.putReader(clientId, state),
      },
    });
    const url = 'http://127.0.0.1';
    platform = createTestPlatform(database, {
      gateAccess: {
        url,
        tokenUrl: `${url}/oauth/token`,
        makesReaders: true,
        writer: { clientId: 'writer', clientSecret: new Secret(writerSecret) },
        reader: undefined,
      },
      vendReader: vendor.vend,
    });
  }

  async function vended({ token }: { token: Secret }) {
    const { fetch, url } = platform;
    const edge = createEdgeClient({ url: `${url}/agent-edge`, token, fetch });
    const { gate: settings } = await edge.bootstrap();
    expect(settings?.url).toBe('http://127.0.0.1');
    return settings?.oauth;
  }
  type Vended = Awaited<ReturnType<typeof vended>>;
  const must = (oauth: Vended) => oauth ?? expect.unreachable('no reader was vended');
  const readerOf = (oauth: Vended) => {
    const { clientSecret, ...rest } = must(oauth);
    const credentials = { ...rest, clientSecret: new Secret(clientSecret) };
    return createGateClient({ url: 'http://127.0.0.1', oauth: credentials, fetch: gate.fetch });
  };
  const operate = async (method: string, path: string) => {
    const app = createControlApp(
      {
        db: database.db,
        credentials: testCredentials,
        log,
        nowMs: () => nowMs,
        async tellGate(employerId) {
          await vendor.pass();
          return await vendor.knows(employerId);
        },
      },
      new Secret('operator'),
    );
    const response = await app.request(`http://127.0.0.1/gate-readers${path}`, {
      method,
      headers: { authorization: 'Bearer operator' },
    });
    return await response.json();
  };
  const refused = { code: 'gate_unauthorized' };

  it('differ per employer, are the same at every bootstrap, and are not stored', async () => {
    const [first, second] = [must(await vended(a)), must(await vended(b))];
    expect(first.clientId).not.toBe(second.clientId);
    expect(first.clientSecret).not.toBe(second.clientSecret);
    expect(first.scope).toBe('gate.read');
    await readerOf(first).root();
    await readerOf(second).root();
    startPlatform();
    expect(await vended(a)).toEqual(first);
    const rows = [
      await database.db.selectFrom('gate_readers').selectAll().execute(),
      await gateDatabase.db.selectFrom('reader_clients').selectAll().execute(),
    ];
    expect(JSON.stringify(rows)).not.toContain(first.clientSecret);
    expect(JSON.stringify(rows[1])).not.toContain(a.employerId);
  });

  it('are revoked per employer: token, secret and bootstrap of that employer only', async () => {
    const [first, second] = [must(await vended(a)), must(await vended(b))];
    const token = await gate.tokenOf(first.clientId, first.clientSecret);
    expect(await operate('DELETE', `/${a.employerId}`)).toEqual({ revoked: true, gateKnows: true });
    expect(await gate.statusOfRoot(token)).toBe(401);
    await expect(readerOf(first).root()).rejects.toMatchObject(refused);
    expect(await vended(a)).toBeUndefined();
    await readerOf(second).root();
    expect(await operate('GET', '')).toEqual({
      gateReaders: expect.arrayContaining([
        expect.objectContaining({ employerId: a.employerId, revokedAt: expect.any(String) }),
        expect.objectContaining({ employerId: b.employerId, revokedAt: null }),
      ]),
    });
    expect(await operate('POST', `/${a.employerId}/rotate`)).toMatchObject({ gateKnows: true });
    const again = must(await vended(a));
    expect(again.clientSecret).not.toBe(first.clientSecret);
    await readerOf(again).root();
    await expect(readerOf(first).root()).rejects.toMatchObject(refused);
    expect(await operate('DELETE', '/nobody')).toMatchObject({ code: 'not_found' });
  });

  it('are vended only after the gate has acknowledged them', async () => {
    isGateDown = true;
    expect(await vended(a)).toBeUndefined();
    isGateDown = false;
    const oauth = must(await vended(a));
    isGateDown = true;
    startPlatform();
    expect(await vended(a)).toEqual(oauth);
  });

  it('are revoked at the gate although the platform died before it sent the revocation', async () => {
    const first = must(await vended(a));
    isGateDown = true;
    expect(await operate('DELETE', `/${a.employerId}`)).toEqual({
      revoked: true,
      gateKnows: false,
    });
    expect(await vended(a)).toBeUndefined();
    await readerOf(first).root();
    isGateDown = false;
    startPlatform();
    await vendor.pass();
    await expect(readerOf(first).root()).rejects.toMatchObject(refused);
  });

  it('are sent again to a gate whose store was lost or restored, including revocations', async () => {
    const first = must(await vended(a));
    await vended(b);
    await operate('DELETE', `/${a.employerId}`);
    await sql`delete from reader_clients`.execute(gateDatabase.db);
    await gateDatabase.db
      .insertInto('reader_clients')
      .values({
        client_id: first.clientId,
        generation: Math.floor(nowMs / 1000),
        secret_hash: `0x${'1'.repeat(64)}`,
        updated_at: '',
      })
      .execute();
    await gate.crash();
    await gate.start();
    nowMs += 11 * 60_000;
    await vendor.pass();
    await readerOf(await vended(b)).root();
    const row = await gateDatabase.db
      .selectFrom('reader_clients')
      .selectAll()
      .where('client_id', '=', first.clientId)
      .executeTakeFirstOrThrow();
    expect(row.secret_hash).toBeNull();
  });

  it('change with the secret of the platform’s own client', async () => {
    const first = must(await vended(a));
    startPlatform('another');
    const second = must(await vended(a));
    expect(second.clientId).toBe(first.clientId);
    await readerOf(second).root();
    await expect(readerOf(first).root()).rejects.toMatchObject(refused);
  });
});
