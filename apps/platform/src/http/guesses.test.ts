// A guessed credential causes no database query and does not lock out a valid caller (docs/decisions/0010).

import { createTestHolder, type TestHolder } from '@pool/testkit';
import { encodeBase58 } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { revokeCredential } from '../accounts/credentials.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

describe('guessed credentials', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let holder: TestHolder;
  let questions = 0;
  beforeAll(async () => {
    database = await openTestDatabase();
    holder = await createTestHolder('a');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    const counted = database.db.withPlugin({
      transformQuery({ node }) {
        questions += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    platform = createTestPlatform(
      { ...database, db: counted },
      { rateLimits: { addressPerSecond: 1 } },
    );
    questions = 0;
  });

  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const callEdge = async (token: string): Promise<number> =>
    (
      await platform.app.request('/agent-edge/bootstrap', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      })
    ).status;
  const callNotes = async (key: string): Promise<number> =>
    (
      await platform.app.request('/agent-edge/notes?chain=anvil&token=USDC', {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  const callKeys = async (cookie: string): Promise<number> =>
    (
      await platform.app.request('/api/employers/keys', {
        headers: { cookie: `sessionId=${cookie}` },
      })
    ).status;

  it('does not query the database for guesses, and counts them against the address', async () => {
    const guesses = [
      () => callEdge(`pool_edge_ABCDEFGH_${encodeBase58(random(40))}`),
      () => callNotes(`pool_live_ABCDEFGH_${encodeBase58(random(40))}`),
      () => callKeys(Buffer.from(random(40)).toString('base64url')),
    ];
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      for (const guess of guesses) {
        statuses.push(await guess());
      }
    }
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
    expect(questions).toBe(0);
  });

  it('does not query the database for a valid credential with changed last characters', async () => {
    const { token } = await platform.edgeToken(holder.address);
    questions = 0;
    const text = token.reveal();
    const change = (at: number) =>
      `${text.slice(0, at)}${text[at] === '2' ? '3' : '2'}${text.slice(at + 1)}`;
    expect(await callEdge(change(text.length - 1))).toBe(401);
    expect(await callEdge(change(25))).toBe(401);
    expect(questions).toBe(0);
  });

  it('accepts the first call of a valid credential while guesses flood its address', async () => {
    const { token } = await platform.edgeToken(holder.address);
    const session = await platform.signIn(holder);
    await session.register();
    const { apiKey } = await session.mintKey('holder.read', 'x');
    for (let i = 0; i < 200; i += 1) {
      await callEdge(`pool_edge_ABCDEFGH_${encodeBase58(random(i % 2 === 0 ? 32 : 40))}`);
    }
    expect(await callEdge('pool_edge_guess')).toBe(429);
    expect([await callEdge(token.reveal()), await callNotes(apiKey.reveal())]).toEqual([200, 200]);
  });

  it('does not query the database for tokens without a tag', async () => {
    for (let i = 0; i < 50; i += 1) {
      await callEdge(`pool_edge_ABCDEFGH_${encodeBase58(random(32))}`);
    }
    expect(questions).toBe(0);
  });

  it('refuses a revoked token at its next request, and queries the database once', async () => {
    const { token, id } = await platform.edgeToken(holder.address);
    expect(await callEdge(token.reveal())).toBe(200);
    await revokeCredential(database.db, 'edge token', id, platform.clock.nowMs);
    questions = 0;
    for (let i = 0; i < 20; i += 1) {
      expect(await callEdge(token.reveal())).toBe(i < 10 ? 401 : 429);
    }
    expect(questions).toBe(1);
  });

  it('keeps a credential that was sent as another kind: a cookie that is a token, a token that is a key', async () => {
    const { token } = await platform.edgeToken(holder.address);
    const session = await platform.signIn(holder);
    await session.register();
    const { apiKey } = await session.mintKey('holder.read', 'x');
    questions = 0;
    for (const credential of [token, apiKey]) {
      expect(await callKeys(credential.reveal())).toBe(401);
    }
    expect([await callNotes(token.reveal()), await callEdge(apiKey.reveal())]).toEqual([401, 401]);
    // No query: a tag names its kind.
    expect(questions).toBe(0);
    expect([await callEdge(token.reveal()), await callNotes(apiKey.reveal())]).toEqual([200, 200]);
  });

  it('applies the limit of a valid credential before it queries the database', async () => {
    platform = createTestPlatform(
      {
        ...database,
        db: database.db.withPlugin({
          transformQuery({ node }) {
            questions += 1;
            return node;
          },
          transformResult: ({ result }) => Promise.resolve(result),
        }),
      },
      { rateLimits: { edgePerSecond: 1, sessionPerSecond: 1 } },
    );
    const { token } = await platform.edgeToken(holder.address);
    const session = await platform.signIn(holder);
    questions = 0;
    const statuses = new Set<number>();
    for (let i = 0; i < 30; i += 1) {
      statuses.add(await callEdge(token.reveal()));
      await session.getEnrollment().catch(() => undefined);
    }
    expect(statuses).toEqual(new Set([200, 429]));
    // Ten calls of each: one query for the credential, and for the session one for its enrolment.
    expect(questions).toBe(30);
  });
});
