import { createSignInMessage, type SignInFields } from '@pool/core';
import { createTestHolder, type TestHolder, testEvidenceDomain } from '@pool/testkit';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';
import { maxSessionsPerWallet } from './sessions.ts';
import { maxLiveNonces, maxLiveNoncesPerCaller } from './sign-in-nonces.ts';

describe('sign-in', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let holder: TestHolder;

  beforeAll(async () => {
    database = await openTestDatabase();
    holder = await createTestHolder('a');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database);
  });

  async function fetchNonce(): Promise<string> {
    const response = await platform.app.request('/api/auth/nonce');
    const { nonce } = (await response.json()) as { nonce: string };
    return nonce;
  }
  async function messageOf(changes: Partial<SignInFields> = {}): Promise<string> {
    return createSignInMessage({
      ...testEvidenceDomain,
      address: holder.address,
      statement: 'Sign in.',
      chainId: 31337,
      nonce: changes.nonce ?? (await fetchNonce()),
      issuedAtMs: platform.clock.nowMs,
      expirationTimeMs: platform.clock.nowMs + 60_000,
      ...changes,
    });
  }
  async function verify(message: string, signature?: string): Promise<Response> {
    return await platform.app.request('/api/auth/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        message,
        signature: signature ?? (await holder.wallet.signMessage(message)),
      }),
    });
  }

  it('opens a session of the recovered wallet, behind an httpOnly cookie [auth.session-cookie]', async () => {
    const response = await verify(await messageOf());
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      success: true,
      address: holder.address,
      walletPub: holder.walletPub,
      expiresAt: '2026-11-21T11:00:00.000Z',
    });
    expect(response.headers.get('set-cookie')).toMatch(
      /^sessionId=[\w-]{53}; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('stores text and signature as evidence, and the cookie as a hash only', async () => {
    const message = await messageOf();
    const response = await verify(message);
    const cookie = /sessionId=([\w-]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
    const row = await database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ message, signature: await holder.wallet.signMessage(message) });
    expect(JSON.stringify(row)).not.toContain(cookie);
  });

  it('accepts a nonce once', async () => {
    const message = await messageOf();
    expect((await verify(message)).status).toBe(200);
    const again = await verify(message);
    expect(again.status).toBe(401);
    expect(again.headers.get('www-authenticate')).not.toBeNull();
  });

  it('uses up a nonce even if the signature is wrong', async () => {
    const message = await messageOf();
    const other = await createTestHolder('b');
    expect((await verify(message, await other.wallet.signMessage(message))).status).toBe(401);
    expect((await verify(message)).status).toBe(401);
  });

  it('accepts one of many concurrent uses of a nonce', async () => {
    const message = await messageOf();
    const signature = await holder.wallet.signMessage(message);
    const answers = await Promise.all(Array.from({ length: 12 }, () => verify(message, signature)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 11 }, () => 401),
    ]);
    expect(await database.db.selectFrom('sessions').selectAll().execute()).toHaveLength(1);
  });

  it('sends the cookie over plain http on loopback only', async () => {
    const evidence = { domain: '127.0.0.1:8080', uri: 'http://127.0.0.1:8080' };
    platform = createTestPlatform(database, { evidence });
    const response = await verify(await messageOf(evidence));
    expect(response.headers.get('set-cookie')).toMatch(
      /^sessionId=[\w-]{53}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  function cookieOf(response: Response): string {
    return /sessionId=[\w-]*/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '';
  }
  async function enrollmentStatus(cookie: string): Promise<number> {
    const headers = { cookie };
    return (await platform.app.request('/api/employers/holder/enrollment', { headers })).status;
  }
  async function post(path: string, cookie: string, body?: unknown): Promise<Response> {
    return await platform.app.request(path, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  it('never adopts a session cookie of the caller, and ends the caller’s earlier session', async () => {
    const planted = `sessionId=${'A'.repeat(43)}`;
    const message = await messageOf();
    const signature = await holder.wallet.signMessage(message);
    const first = cookieOf(await post('/api/auth/verify', planted, { message, signature }));
    expect(first).not.toBe(planted);
    expect([await enrollmentStatus(planted), await enrollmentStatus(first)]).toEqual([401, 200]);
    const again = await messageOf();
    const second = cookieOf(
      await post('/api/auth/verify', first, {
        message: again,
        signature: await holder.wallet.signMessage(again),
      }),
    );
    expect([await enrollmentStatus(first), await enrollmentStatus(second)]).toEqual([401, 200]);
    // A refused sign-in ends no session.
    await post('/api/auth/verify', second, { message: again, signature });
    expect(await enrollmentStatus(second)).toBe(200);
  });

  it('ends only the caller’s session at logout, and answers the same without a session', async () => {
    const [one, other] = [
      cookieOf(await verify(await messageOf())),
      cookieOf(await verify(await messageOf())),
    ];
    const ended = await post('/api/auth/logout', one);
    expect([ended.status, await ended.json()]).toEqual([200, { success: true }]);
    expect(ended.headers.get('set-cookie')).toMatch(/^sessionId=; Max-Age=0; Path=\/; HttpOnly/);
    expect([await enrollmentStatus(one), await enrollmentStatus(other)]).toEqual([401, 200]);
    expect((await post('/api/auth/logout', one)).status).toBe(200);
    expect((await post('/api/auth/logout', '')).status).toBe(200);
    const client = await platform.signIn(holder);
    await client.signOut();
    await expect(client.getEnrollment()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('ends the oldest sessions of a wallet above its limit, and no session of another wallet', async () => {
    const other = await createTestHolder('b');
    const kept = await platform.signIn(other);
    const cookies: string[] = [];
    for (let i = 0; i < maxSessionsPerWallet + 2; i += 1) {
      cookies.push(cookieOf(await verify(await messageOf())));
      platform.clock.nowMs += 1_000;
    }
    const statuses = await Promise.all(cookies.map(enrollmentStatus));
    expect(statuses.slice(0, 3)).toEqual([401, 401, 200]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(maxSessionsPerWallet);
    expect((await kept.getEnrollment()).readiness).toBe('not_enrolled');
  });

  it.each<[string, () => Partial<SignInFields>]>([
    ['another domain', () => ({ domain: 'evil.test' })],
    ['another URI', () => ({ uri: 'https://evil.test' })],
    ['another chain', () => ({ chainId: 1 })],
    ['a made-up nonce', () => ({ nonce: 'abcdefgh12345678' })],
    ['an expiry in the past', () => ({ expirationTimeMs: platform.clock.nowMs - 1 })],
    ['a date in the future', () => ({ issuedAtMs: platform.clock.nowMs + 6 * 60_000 })],
    ['a date in the distant past', () => ({ issuedAtMs: platform.clock.nowMs - 11 * 60_000 })],
  ])('refuses a text with %s', async (_name, changes) => {
    const response = await verify(await messageOf(changes()));
    expect(response.status).toBe(401);
    expect(((await response.json()) as { code: string }).code).toBe('invalid_sign_in');
  });

  it('refuses an expired nonce', async () => {
    const nonce = await fetchNonce();
    platform.clock.nowMs += 301_000;
    expect((await verify(await messageOf({ nonce }))).status).toBe(401);
  });

  it('refuses a high-s signature, which everybody can derive from a valid one', async () => {
    const message = await messageOf();
    const good = await holder.wallet.signMessage(message);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = (order - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0');
    const v = good.endsWith('1b') ? '1c' : '1b';
    const response = await verify(message, `${good.slice(0, 66)}${s}${v}`);
    expect(response.status).toBe(401);
  });

  it('ends a session at its expiry [onboard.session]', async () => {
    const session = await platform.signIn(holder);
    await session.register();
    platform.clock.nowMs += 3_600_000;
    await expect(session.register()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });
});

describe('every route', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  beforeAll(async () => {
    database = await openTestDatabase();
    platform = createTestPlatform(database);
  });
  afterAll(() => database.close());

  async function codeOf(response: Response): Promise<[number, string]> {
    const { code } = (await response.json()) as { code: string };
    return [response.status, code];
  }

  it('answers an unknown path with a JSON 404', async () => {
    expect(await codeOf(await platform.app.request('/nothing'))).toEqual([404, 'not_found']);
  });

  it('refuses a foreign Host and a foreign Origin', async () => {
    const host = await platform.app.request('http://evil.test/api/auth/nonce');
    expect(await host.json()).toMatchObject({
      code: 'forbidden_host',
      message: expect.stringContaining('PLATFORM_ALLOWED_HOSTS'),
    });
    expect(host.status).toBe(403);
    const own = await platform.app.request('http://platform.test/api/auth/nonce');
    expect(own.status).toBe(200);
    const origin = await platform.app.request('/api/auth/nonce', {
      headers: { origin: 'https://evil.test' },
    });
    expect(await codeOf(origin)).toEqual([403, 'forbidden_origin']);
    const page = await platform.app.request('/api/auth/nonce', {
      headers: { origin: 'https://platform.test' },
    });
    expect(page.status).toBe(200);
  });

  it.each([
    ['not JSON', '{', 'request body is not JSON'],
    ['a duplicate key', '{"message":"CANARY-1","message":"a"}', 'duplicate JSON key'],
    ['a wrong type', '{"message":7,"signature":"0x"}', 'message: must be a string'],
    ['an unknown field named like a value', '{"CANARY-1":1}', '(field): is not a known field'],
  ])('answers %s with 400, path and kind, and no value', async (_name, body, expected) => {
    const response = await platform.app.request('/api/auth/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const answer = (await response.json()) as { code: string; message: string };
    expect([response.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.message).toContain(expected);
    expect(answer.message).not.toContain('CANARY');
  });

  it('refuses a body of another type, and one that is too large', async () => {
    const form = await platform.app.request('/api/auth/verify', { method: 'POST', body: 'a=b' });
    expect(await codeOf(form)).toEqual([400, 'invalid_request']);
    const large = await platform.app.request('/api/auth/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'x'.repeat(600_000) }),
    });
    expect(await codeOf(large)).toEqual([413, 'payload_too_large']);
  });

  it('limits the unused nonces, says when to retry, and drops expired nonces', async () => {
    const expiresAt = new Date(platform.clock.nowMs + 1_000).toISOString();
    await database.reset();
    await sql`insert into sign_in_nonces (nonce, expires_at, caller)
      select 'n' || i, ${expiresAt}, 'c' || i from generate_series(1, ${maxLiveNonces - 1}) as i`.execute(
      database.db,
    );
    expect((await platform.app.request('/api/auth/nonce')).status).toBe(200);
    const full = await platform.app.request('/api/auth/nonce');
    expect(await codeOf(full)).toEqual([503, 'too_many_sign_ins']);
    expect(full.headers.get('retry-after')).toBe('5');
    platform.clock.nowMs += 1_001;
    expect((await platform.app.request('/api/auth/nonce')).status).toBe(200);
  });

  it('limits the unused nonces of one address', async () => {
    await database.reset();
    const from = (remoteAddress: string) =>
      platform.app.request('/api/auth/nonce', undefined, { remoteAddress });
    expect((await from('192.0.2.1')).status).toBe(200);
    await sql`insert into sign_in_nonces (nonce, expires_at, caller)
      select 'n' || i, expires_at, caller from sign_in_nonces,
        generate_series(1, ${maxLiveNoncesPerCaller - 1}) as i`.execute(database.db);
    const full = await from('192.0.2.1');
    expect(await codeOf(full)).toEqual([429, 'rate_limited']);
    expect(full.headers.get('retry-after')).toBe('300');
    expect((await from('192.0.2.2')).status).toBe(200);
    const rows = await database.db.selectFrom('sign_in_nonces').select('caller').execute();
    expect(JSON.stringify(rows)).not.toContain('192.0.2');
    platform.clock.nowMs += 299_001;
    expect((await from('192.0.2.1')).headers.get('retry-after')).toBe('1');
    platform.clock.nowMs += 999;
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  it('replaces a nonce of the address with the most nonces for a new address', async () => {
    await database.reset();
    const { db } = database;
    const late = new Date(platform.clock.nowMs + 300_000).toISOString();
    const soon = new Date(platform.clock.nowMs + 100_000).toISOString();
    const few = maxLiveNonces - 12;
    await sql`insert into sign_in_nonces (nonce, expires_at, caller) values
      ('oldest of the crowd', ${soon}, 'crowd'), ('alone', ${soon}, 'somebody')`.execute(db);
    await sql`insert into sign_in_nonces (nonce, expires_at, caller)
      select 'c' || i, ${late}, 'crowd' from generate_series(1, 10) as i`.execute(db);
    await sql`insert into sign_in_nonces (nonce, expires_at, caller)
      select 'n' || i, ${soon}, 'c' || (i / 3) from generate_series(1, ${few}) as i`.execute(db);
    expect((await platform.app.request('/api/auth/nonce')).status).toBe(200);
    const kept = await db.selectFrom('sign_in_nonces').select('nonce').execute();
    const names = new Set(kept.map(({ nonce }) => nonce));
    expect([kept.length, names.has('oldest of the crowd'), names.has('alone')]).toEqual([
      maxLiveNonces,
      false,
      true,
    ]);
  });

  it('reports only the request id of an unexpected error', async () => {
    const closed = await openTestDatabase();
    const broken = createTestPlatform(closed);
    await closed.close();
    const response = await broken.app.request('/api/auth/nonce');
    const requestId = response.headers.get('x-request-id');
    expect([response.status, await response.json()]).toEqual([
      500,
      { code: 'internal_error', message: `internal error; request ${requestId}` },
    ]);
  });
});
