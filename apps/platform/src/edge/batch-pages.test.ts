/** Who reads `/agent-edge/batches`, how much, and what a cache in front may keep. */
import type { BatchesResponse } from '@pool/api';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { insertLeaves, word } from '../../../../packages/relayer/test/indexed-leaves.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import type { AdmissionConfig } from '../employers/admission.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

const ofPool = `&pool=${testSettings.pool}`;

describe('pages of /agent-edge/batches', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;

  beforeAll(async () => {
    database = await openTestDatabase();
    a = await createTestHolder('a');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database);
  });

  async function mintKeys(holder: TestHolder, count: number): Promise<string[]> {
    const session = await platform.signIn(holder);
    await session.register();
    const keys: string[] = [];
    while (keys.length < count) {
      keys.push((await session.mintKey('holder.read', 'x')).apiKey.reveal());
    }
    return keys;
  }

  async function ask(
    bearer: string | undefined,
    from: number,
    headers: Record<string, string> = {},
    rest = '',
  ): Promise<Response> {
    return await platform.app.request(`/agent-edge/batches?chain=anvil&from=${from}${rest}`, {
      headers: { authorization: `Bearer ${bearer ?? ''}`, ...headers },
    });
  }

  async function readBatches(answer: Response): Promise<BatchesResponse> {
    return (await answer.json()) as BatchesResponse;
  }

  describe('bytes', () => {
    let key: string | undefined;
    beforeEach(async () => {
      [key] = await mintKeys(a, 1);
    });

    it('lets a cache keep a full page for ever, and nothing of the page that still grows', async () => {
      await insertLeaves(database.db, 0, 130, 4);
      const full = await ask(key, 0, {}, ofPool);
      expect(full.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const etag = full.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[A-Za-z0-9_-]{43}"$/);
      expect((await readBatches(full)).next).toBe(100);
      const growing = await ask(key, 100, {}, ofPool);
      expect([growing.headers.get('cache-control'), growing.headers.get('etag')]).toEqual([
        'no-store',
        null,
      ]);
      const again = await ask(key, 0, { 'if-none-match': etag });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([
        304,
        '',
        etag,
      ]);
      expect((await ask(key, 0, { 'if-none-match': '"other"' })).status).toBe(200);
    });

    it('lets a cache keep nothing under a URL that names no pool: the chain’s name may get another one', async () => {
      await insertLeaves(database.db, 0, 130, 4);
      const full = await ask(key, 0);
      const etag = full.headers.get('etag') ?? '';
      expect(full.headers.get('cache-control')).toBe('public, no-cache');
      const again = await ask(key, 0, { 'if-none-match': etag });
      expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'public, no-cache']);
    });

    it.each(['0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', 'anvil', ''])(
      'refuses a URL that names another pool than the chain has: "%s"',
      async (pool) => {
        await insertLeaves(database.db, 0, 130, 4);
        const answer = await ask(key, 0, {}, `&pool=${pool}`);
        expect([answer.status, answer.headers.get('cache-control')]).toEqual([400, 'no-store']);
        expect(((await answer.json()) as { code: string }).code).toBe('invalid_request');
      },
    );

    it('takes the address of the pool in lower case too', async () => {
      await insertLeaves(database.db, 0, 130, 4);
      const page = await ask(key, 0, {}, ofPool.toLowerCase());
      expect(page.headers.get('cache-control')).toMatch(/immutable$/);
    });

    it('makes a full page once: it is served from its stored bytes, after a restart too', async () => {
      await insertLeaves(database.db, 0, 130, 4);
      const first = await (await ask(key, 0)).text();
      // A second reading of the rows would show.
      await database.db
        .updateTable('batches')
        .set({ tx_hash: word(9) })
        .execute();
      expect(await (await ask(key, 0)).text()).toBe(first);
      platform = createTestPlatform(database);
      expect(await (await ask(key, 0)).text()).toBe(first);
    });

    it('answers from every leaf of a page: the rest of the page, with a tag of its own', async () => {
      await insertLeaves(database.db, 0, 230, 4);
      const tags = new Set<string>();
      for (const from of [0, 1, 57, 99, 100, 199]) {
        const answer = await ask(key, from);
        tags.add(answer.headers.get('etag') ?? '');
        const { batches, next } = await readBatches(answer);
        const end = from < 100 ? 100 : 200;
        expect(next).toBe(end);
        expect(batches.map(({ index }) => index)).toEqual(
          Array.from({ length: end - from }, (_, place) => from + place),
        );
      }
      expect(tags.size).toBe(6);
      const rest = await readBatches(await ask(key, 215));
      expect([rest.batches[0]?.index, rest.batches.length, rest.next]).toEqual([
        215,
        15,
        undefined,
      ]);
      expect(await readBatches(await ask(key, 230))).toEqual({ batches: [] });
    });

    it('shows leaves that the index read meanwhile', async () => {
      await insertLeaves(database.db, 0, 99, 4);
      expect((await readBatches(await ask(key, 0))).batches.length).toBe(99);
      await insertLeaves(database.db, 99, 2, 4);
      const full = await readBatches(await ask(key, 0));
      expect([full.batches.length, full.next]).toEqual([100, 100]);
      expect((await readBatches(await ask(key, 100))).batches.length).toBe(1);
    });

    it('serves no page after the indexer halted, a stored one neither', async () => {
      await insertLeaves(database.db, 0, 130, 4);
      await ask(key, 0);
      await database.db
        .insertInto('indexer_cursors')
        .values({ chain: 'anvil', block_number: 1, block_hash: word(1), halted: 'x' })
        .execute();
      platform.clock.nowMs += 1_000;
      expect((await ask(key, 0)).status).toBe(503);
    });
  });

  it('counts the bytes of all keys of one owner together, and of nobody else', async () => {
    platform = createTestPlatform(database, { rateLimits: { batchMibPerSecond: 1 } });
    await insertLeaves(database.db, 0, 17, 256);
    const [first, second] = await mintKeys(a, 2);
    const [other] = await mintKeys(await createTestHolder('b'), 1);
    const { length } = await (await ask(first, 0)).text();
    // A minute's worth in parts of 64 KiB; each request costs one more.
    const fitting = Math.floor((60 * 16) / (1 + Math.ceil(length / 65_536)));
    for (let asked = 1; asked < fitting; asked += 1) {
      expect((await ask(asked % 2 === 0 ? first : second, 0)).status).toBe(200);
    }
    const refused = await ask(second, 0);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      429,
      'rate_limited',
    ]);
    expect((await ask(other, 0)).status).toBe(200);
    platform.clock.nowMs += 1_000;
    expect((await ask(second, 0)).status).toBe(200);
  });

  describe.each(['required', 'screened'] as const)(
    'under PLATFORM_INVITATIONS=%s',
    (invitations) => {
      const admission: Partial<AdmissionConfig> = { invitations };
      beforeEach(() => {
        platform = createTestPlatform(database, {
          admission,
          gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
          rateLimits: { batchMibPerSecond: 1 },
        });
      });

      it('refuses the key of a stranger, and soon without asking the database', async () => {
        await insertLeaves(database.db, 0, 1, 4);
        const keys = await mintKeys(a, 2);
        const answer = await ask(keys[0], 0);
        expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
          403,
          'forbidden',
        ]);
        const statuses: number[] = [];
        for (let asked = 0; asked < 18; asked += 1) {
          statuses.push((await ask(keys[asked % 2], 0)).status);
        }
        expect(statuses.filter((status) => status === 403).length).toBe(14);
        expect(statuses.at(-1)).toBe(429);
      });

      it('serves the same key once the wallet is admitted, or the operator gave its owner an edge token', async () => {
        const [key] = await mintKeys(a, 1);
        expect((await ask(key, 0)).status).toBe(403);
        await database.db
          .insertInto('subjects')
          .values({
            address: a.address,
            wallet_pub: a.walletPub,
            wallet_id: word(1),
            encryption_public_key: a.encryptionPublicKey,
            evidence_message: '',
            evidence_signature: '',
            readiness: 'ready',
            whitelisted_at: null,
            created_at: '2026-11-21T10:00:00Z',
            admitted_at: '2026-11-21T10:00:00Z',
          })
          .execute();
        expect((await ask(key, 0)).status).toBe(200);
        const customer = await createTestHolder('b');
        const [other] = await mintKeys(customer, 1);
        expect((await ask(other, 0)).status).toBe(403);
        await platform.edgeToken(customer.address);
        expect((await ask(other, 0)).status).toBe(200);
      });
    },
  );
});
