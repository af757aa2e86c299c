import type { SettlementRequest } from '@pool/api';
import { assertField, errorCodeOf, type Secret } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { batchIdOf } from '../../../../packages/relayer/src/store/settlement-store.ts';
import { createSettingsOnlyChain } from '../../../../packages/relayer/test/settings-only-chain.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createTestSettlement } from '../../../../packages/relayer/test/test-settlement.ts';
import { revokeCredential } from '../accounts/credentials.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

const token = testSettings.tokens['USDC']?.address ?? '';

describe('agent edge', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;
  let request: SettlementRequest;

  beforeAll(async () => {
    database = await openTestDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    // No pass of relayer or indexer runs here, so only the settings of the chain are used.
    const settingsOnly = createSettingsOnlyChain(testSettings);
    platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      poolChains: new Map([['anvil', settingsOnly]]),
    });
  });

  async function edgeOf(holder: TestHolder) {
    const { token: edgeToken, id } = await platform.edgeToken(holder.address);
    const url = `${platform.url}/agent-edge`;
    const client = createEdgeClient({ url, token: edgeToken, fetch: platform.fetch });
    return { client, id, edgeToken };
  }
  async function enrolled(holder: TestHolder) {
    const session = await platform.signIn(holder);
    await session.register();
    await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    return session;
  }

  it('answers bootstrap for the employer of the token [bootstrap.vends]', async () => {
    const { client } = await edgeOf(a);
    expect(await client.bootstrap()).toEqual({
      employerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      employerAddress: a.address,
      chain: 'anvil',
      chains: {
        anvil: {
          chainId: 31337,
          pool: testSettings.pool,
          registry: testSettings.registry,
          tokens: { USDC: token },
        },
      },
      maxRecipients: { anvil: 64 },
      // No pass of the relayer has run, so there is no finding yet.
      relayer: {},
    });
  });

  it.each([{ ok: true }, { ok: false, code: 'transaction_stuck' }])(
    'reports the latest finding of the relayer’s worker at bootstrap: %o',
    async (health) => {
      platform = createTestPlatform(database, { readRelayerHealth: () => health });
      const { client } = await edgeOf(a);
      expect((await client.bootstrap()).relayer).toEqual({ anvil: health });
    },
  );

  it('refuses a caller without a live edge token [service.edge-is-authenticated]', async () => {
    const { client, id, edgeToken } = await edgeOf(a);
    await client.bootstrap();
    await revokeCredential(database.db, 'edge token', id, platform.clock.nowMs);
    await expect(client.bootstrap()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
    const session = await enrolled(a);
    const { apiKey } = await session.mintKey('disburse', 'x');
    for (const credential of ['', `Bearer ${apiKey.reveal()}`, `Basic ${edgeToken.reveal()}`]) {
      for (const path of ['/bootstrap', '/recipients/lookup', '/settlements']) {
        const response = await platform.app.request(`/agent-edge${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: credential },
          body: '{}',
        });
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toContain('Bearer');
      }
    }
  });

  it('looks up W, P, readiness and evidence by address, in the order asked', async () => {
    await enrolled(b);
    const { client } = await edgeOf(a);
    const asked = [a.address, b.address.toLowerCase(), 'GABC'];
    const records = await client.lookupRecipients('anvil', asked);
    expect(records.map(({ address, readiness }) => [address, readiness])).toEqual([
      [asked[0], 'not_enrolled'],
      [asked[1], 'ready'],
      [asked[2], 'not_enrolled'],
    ]);
    expect(records[1]).toMatchObject({
      walletPub: b.walletPub,
      encryptionPublicKey: b.encryptionPublicKey,
    });
    const { evidence } = records[1] ?? {};
    expect(evidence?.message).toContain(`urn:pool:encryption-key:${b.encryptionPublicKey}`);
    expect(evidence?.signature).toBe(await b.wallet.signMessage(evidence?.message ?? ''));
    await expect(client.lookupRecipients('solana', [a.address])).rejects.toMatchObject({
      code: 'invalid-chain',
    });
  });

  it('reports no wallet as fundable without a gate, even if an earlier gate confirmed it [enrol.disabled]', async () => {
    const session = await enrolled(b);
    platform = createTestPlatform(database);
    const { client } = await edgeOf(a);
    const [record, unknown] = await client.lookupRecipients('anvil', [b.address, a.address]);
    expect(record).toMatchObject({ readiness: 'eligibility_disabled', walletPub: b.walletPub });
    expect(unknown?.readiness).toBe('not_enrolled');
    expect((await session.getEnrollment()).readiness).toBe('ready');
  });

  describe('settlements', () => {
    it('stores notes and intent, and answers 202 until it is finished', async () => {
      const { client, edgeToken } = await edgeOf(a);
      const posted = await client.postSettlement('job', request);
      expect(posted).toMatchObject({ key: 'job', state: 'accepted', chain: 'anvil' });
      expect(posted.sealedNotes).toEqual(request.sealedNotes);
      expect(posted.batch).toEqual(request.batch);
      expect(await client.getSettlement('job')).toEqual(posted);
      const raw = await platform.app.request('/agent-edge/settlements/job', {
        headers: { authorization: `Bearer ${edgeToken.reveal()}` },
      });
      expect(raw.status).toBe(202);
    });

    async function postRaw(edgeToken: Secret, key: string): Promise<Response> {
      return await platform.app.request('/agent-edge/settlements', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          authorization: `Bearer ${edgeToken.reveal()}`,
        },
        body: JSON.stringify(request),
      });
    }

    it('reads a quoted key as its bare form', async () => {
      const { client, edgeToken } = await edgeOf(a);
      expect((await postRaw(edgeToken, 'job')).status).toBe(202);
      const quoted = await postRaw(edgeToken, '"job"');
      expect([quoted.status, ((await quoted.json()) as { key: string }).key]).toEqual([202, 'job']);
      expect((await client.getSettlement('job'))?.key).toBe('job');
    });

    it('returns every key under its own name, also with quotes and slashes', async () => {
      const { client } = await edgeOf(a);
      const key = String.raw`"a" \ ../b?c#d%41`;
      await client.postSettlement(key, request);
      expect((await client.getSettlement(key))?.key).toBe(key);
      // In the path a quote is part of the key: this is another key.
      expect(await client.getSettlement(`"${key}"`)).toBeUndefined();
    });

    it('distinguishes a missing settlement from a missing route', async () => {
      const { edgeToken } = await edgeOf(a);
      const codes = await Promise.all(
        ['/agent-edge/settlements/none', '/agent-edge/settlement/none'].map(async (path) => {
          const answer = await platform.app.request(path, {
            headers: { authorization: `Bearer ${edgeToken.reveal()}` },
          });
          return [answer.status, ((await answer.json()) as { code: string }).code];
        }),
      );
      expect(codes).toEqual([
        [404, 'settlement_not_found'],
        [404, 'not_found'],
      ]);
    });

    it('keeps the keys of employers separate', async () => {
      const { client } = await edgeOf(a);
      await client.postSettlement('job', request);
      const other = await edgeOf(b);
      expect(await other.client.getSettlement('job')).toBeUndefined();
      // A funder's batch nonce belongs to one settlement only: another employer cannot use it under its own key.
      await expect(other.client.postSettlement('mine', request)).rejects.toMatchObject({
        code: 'idempotency_conflict',
        status: 409,
      });
    });

    it('refuses another authorisation under the key and stores nothing of it', async () => {
      const { client } = await edgeOf(a);
      await client.postSettlement('job', request);
      const later = {
        ...request,
        batch: { ...request.batch, deadline: request.batch.deadline + 1 },
      };
      await expect(client.postSettlement('job', later)).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
      const notes = await database.db.selectFrom('sealed_notes').selectAll().execute();
      expect(notes).toHaveLength(16);
    });

    it('refuses inconsistent requests before anything is stored', async () => {
      const { client } = await edgeOf(a);
      const altered = { ...request, sealedNotes: request.sealedNotes.toReversed() };
      await expect(client.postSettlement('job', altered)).rejects.toMatchObject({
        code: 'invalid_settlement',
        status: 400,
      });
      expect(await client.getSettlement('job')).toBeUndefined();
    });

    it.each([
      ['no key', undefined],
      ['an empty key', ''],
      ['a key with characters outside ASCII', 'caf\u00e9'],
      ['a key that is too long', 'x'.repeat(256)],
    ])('refuses %s', async (_name, key) => {
      const { edgeToken } = await edgeOf(a);
      const response = await platform.app.request('/agent-edge/settlements', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${edgeToken.reveal()}`,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify(request),
      });
      expect(response.status).toBe(400);
      expect(((await response.json()) as { code: string }).code).toBe('invalid_request');
    });

    it('reports path and kind of a malformed settlement, and no value', async () => {
      const { edgeToken } = await edgeOf(a);
      const response = await platform.app.request('/agent-edge/settlements', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': 'k',
          authorization: `Bearer ${edgeToken.reveal()}`,
        },
        body: JSON.stringify({ ...request, batch: { ...request.batch, total: 'CANARY' } }),
      });
      const answer = (await response.json()) as { code: string; message: string };
      expect([response.status, answer.code]).toEqual([400, 'invalid_request']);
      expect(answer.message).toContain('batch.total: is not valid');
      expect(answer.message).not.toContain('CANARY');
    });
  });

  describe('notes', () => {
    async function settle(
      leafIndex: number,
      sealedNotesHash: string = request.batch.sealedNotesHash,
    ) {
      const row = await database.db
        .selectFrom('submissions')
        .select('id')
        .executeTakeFirstOrThrow();
      await database.db
        .insertInto('batches')
        .values({
          chain: 'anvil',
          leaf_index: leafIndex,
          batch_root: request.batch.batchRoot,
          new_root: request.batch.batchRoot,
          commitments: JSON.stringify(request.batch.commitments),
          batch_id: batchIdOf(request.batch),
          sealed_notes_hash: sealedNotesHash,
          tx_hash: `0x${'ab'.repeat(32)}`,
          block_number: 9,
          submission_id: row.id,
        })
        .execute();
    }
    async function readerOf(holder: TestHolder) {
      const { apiKey } = await (await enrolled(holder)).mintKey('holder.read', 'x');
      return createEdgeClient({
        url: `${platform.url}/agent-edge`,
        token: apiKey,
        fetch: platform.fetch,
      });
    }
    const query = { chain: 'anvil', token: 'USDC' };

    it('serves a holder only its own notes, once the batch is final [balance.served-by-p]', async () => {
      await (await edgeOf(a)).client.postSettlement('job', request);
      const reader = await readerOf(a);
      expect(await reader.getNotes(query)).toEqual({ notes: [] });
      await settle(4);
      const { notes } = await reader.getNotes(query);
      const slot = request.sealedNotes.findIndex(
        (note) => note.encryptionPublicKey === a.encryptionPublicKey,
      );
      expect(notes).toEqual([
        {
          commitment: request.batch.commitments[slot],
          sealed: request.sealedNotes[slot]?.sealed,
          chain: 'anvil',
          token: 'USDC',
          batchIndex: 4,
          slot,
          txHash: `0x${'ab'.repeat(32)}`,
        },
      ]);
      const after = await reader.getNotes({ ...query, cursor: `4.${slot}.0` });
      expect(after).toEqual({ notes: [], before: 1 });
      const stranger = await readerOf(await createTestHolder('c'));
      expect(await stranger.getNotes(query)).toEqual({ notes: [] });
    });

    it.each(['disburse', 'holder.transfer', 'holder.send'] as const)(
      'refuses a %s key [capability.one-only]',
      async (capability) => {
        const { apiKey } = await (await enrolled(a)).mintKey(capability, 'x');
        const client = createEdgeClient({
          url: `${platform.url}/agent-edge`,
          token: apiKey,
          fetch: platform.fetch,
        });
        await expect(client.getNotes(query)).rejects.toMatchObject({
          code: 'forbidden',
          status: 403,
        });
      },
    );

    it('serves only notes of the registered key: notes from before a rotation are not served [balance.served-by-p, rotate.changes-p, rotate.reencrypts-nothing, viewing-key.previous-p-served]', async () => {
      await (await edgeOf(a)).client.postSettlement('job', request);
      await settle(4);
      const reader = await readerOf(a);
      expect((await reader.getNotes(query)).notes).toHaveLength(1);
      const c = await createTestHolder('c');
      const session = await platform.signIn({ ...a, encryptionPublicKey: c.encryptionPublicKey });
      await session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, c.encryptionPublicKey);
      expect(await reader.getNotes(query)).toEqual({ notes: [] });
      // Agents seal to the new key from here on, and get the evidence for it.
      const [record] = await (await edgeOf(b)).client.lookupRecipients('anvil', [a.address]);
      expect(record).toMatchObject({
        readiness: 'ready',
        walletPub: a.walletPub,
        encryptionPublicKey: c.encryptionPublicKey,
      });
      expect(record?.evidence?.message).toContain(c.encryptionPublicKey);
      // Nothing was re-encrypted or lost: the same notes are there when the key comes back.
      const back = await platform.signIn(a);
      await back.rotateEncryptionKey(a.walletPub, c.encryptionPublicKey, a.encryptionPublicKey);
      expect((await reader.getNotes(query)).notes).toHaveLength(1);
    });

    it('refuses a holder.read key from the moment it is revoked', async () => {
      const session = await enrolled(a);
      const { apiKey, id } = await session.mintKey('holder.read', 'x');
      const client = createEdgeClient({
        url: `${platform.url}/agent-edge`,
        token: apiKey,
        fetch: platform.fetch,
      });
      await client.getNotes(query);
      await session.revokeKey(id);
      await expect(client.getNotes(query)).rejects.toMatchObject({
        code: 'unauthorized',
        status: 401,
      });
    });

    it.each(['disburse', 'holder.read', 'holder.transfer', 'holder.send'] as const)(
      'refuses a %s key at every route of agents [service.edge-is-authenticated, capability.one-only]',
      async (capability) => {
        const { apiKey } = await (await enrolled(a)).mintKey(capability, 'x');
        const client = createEdgeClient({
          url: `${platform.url}/agent-edge`,
          token: apiKey,
          fetch: platform.fetch,
        });
        const calls = [
          client.bootstrap(),
          client.lookupRecipients('anvil', [a.address]),
          client.postSettlement('job', request),
          client.getSettlement('job'),
        ];
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({
            status: 'rejected',
            reason: { code: 'unauthorized', status: 401 },
          });
        }
      },
    );

    it('refuses an edge token, an unknown chain, token and cursor', async () => {
      const { client } = await edgeOf(a);
      await expect(client.getNotes(query)).rejects.toMatchObject({ status: 401 });
      const reader = await readerOf(a);
      const codes = await Promise.all(
        [
          { ...query, chain: 'constructor' },
          { ...query, token: 'constructor' },
          { ...query, token },
          { ...query, cursor: '1; drop table' },
        ].map((bad) => reader.getNotes(bad).catch(errorCodeOf)),
      );
      expect(codes).toEqual(['invalid-chain', 'invalid-token', 'invalid-token', 'invalid_request']);
    });
  });
});
