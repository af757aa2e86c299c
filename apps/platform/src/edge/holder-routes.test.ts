/** The routes that holders read, through the typed client and raw. */
import type { Capability } from '@pool/api';
import { assertField, type Field, fieldToHex, parseField, type Secret } from '@pool/core';
import { computeBatchRoot, computeNoteRootFromPath, createLeanImt } from '@pool/notes';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { insertLeaves, word } from '../../../../packages/relayer/test/indexed-leaves.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

describe('GET /agent-edge/batches', () => {
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

  const clientOf = (token: Secret) =>
    createEdgeClient({ url: `${platform.url}/agent-edge`, token, fetch: platform.fetch });

  async function keyOf(capability: Capability): Promise<Secret> {
    const session = await platform.signIn(a);
    await session.register();
    return (await session.mintKey(capability, 'x')).apiKey;
  }

  it.each([
    ['at most 100 leaves', 230, 4, [100, 100, 30]],
    ['about 4,096 commitments', 40, 256, [16, 16, 8]],
  ])('answers pages of %s without a gap', async (_name, count, slots, pages) => {
    await insertLeaves(database.db, 0, count, slots);
    const edge = clientOf((await platform.edgeToken(a.address)).token);
    const sizes: number[] = [];
    let from: number | undefined = 0;
    while (from !== undefined) {
      const page: Awaited<ReturnType<typeof edge.getBatches>> = await edge.getBatches(
        'anvil',
        from,
      );
      expect(page.batches[0]?.index).toBe(from);
      sizes.push(page.batches.length);
      from = page.next;
    }
    expect(sizes).toEqual(pages);
    expect(await edge.getBatches('anvil', count)).toEqual({ batches: [] });
  });

  it('answers the contents of a spend, its nullifiers in the order of the event', async () => {
    await insertLeaves(database.db, 0, 2, 4);
    const edge = clientOf((await platform.edgeToken(a.address)).token);
    expect((await edge.getBatches('anvil', 1)).batches).toEqual([
      {
        index: 1,
        kind: 'spend',
        root: word(1),
        noteRoot: word(2_001),
        commitments: [0, 1, 2, 3].map(word),
        nullifiers: [word(10_002), word(10_003)],
        sealedNotesHash: word(3),
        txHash: word(4_001),
        blockNumber: 1,
      },
    ]);
  });

  it.each(['holder.read', 'holder.transfer', 'holder.send'] as const)(
    'takes a %s key as well as an edge token',
    async (capability) => {
      const edge = clientOf(await keyOf(capability));
      expect(await edge.getBatches('anvil', 0)).toEqual({ batches: [] });
    },
  );

  it('refuses a disburse key, and a caller without a credential', async () => {
    await expect(clientOf(await keyOf('disburse')).getBatches('anvil', 0)).rejects.toMatchObject({
      code: 'forbidden',
      status: 403,
    });
    const answer = await platform.app.request('/agent-edge/batches?chain=anvil');
    expect(answer.status).toBe(401);
  });

  it.each([
    ['chain=nowhere', 'invalid-chain'],
    ['chain=anvil&from=-1', 'invalid_request'],
    ['chain=anvil&from=01', 'invalid_request'],
    ['chain=anvil&from=1e3', 'invalid_request'],
  ])('refuses %s', async (query, code) => {
    const { token } = await platform.edgeToken(a.address);
    const answer = await platform.app.request(`/agent-edge/batches?${query}`, {
      headers: { authorization: `Bearer ${token.reveal()}` },
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, code]);
  });
});

describe('POST /agent-edge/note-paths', () => {
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
    platform = createTestPlatform(database, { makesNotePaths: true });
  });

  async function edgeOf(capability: Capability) {
    const session = await platform.signIn(a);
    await session.register();
    const { apiKey: token } = await session.mintKey(capability, 'x');
    return createEdgeClient({ url: `${platform.url}/agent-edge`, token, fetch: platform.fetch });
  }

  /** Batches of 16 and of 4 in turn, whose roots follow from their commitments. */
  async function insert(from: number, count: number): Promise<Field> {
    const tree = createLeanImt();
    for (let leaf = 0; leaf < from + count; leaf += 1) {
      const commitments = Array.from({ length: leaf % 2 === 0 ? 16 : 4 }, (_, slot) =>
        assertField(BigInt(1_000 * leaf + slot + 1)),
      );
      const root = computeBatchRoot(commitments);
      tree.insert(root);
      if (leaf >= from) {
        await database.db
          .insertInto('batches')
          .values({
            chain: 'anvil',
            leaf_index: leaf,
            batch_root: fieldToHex(root),
            batch_id: word(leaf),
            new_root: fieldToHex(tree.root),
            commitments: JSON.stringify(commitments.map(fieldToHex)),
            sealed_notes_hash: word(3),
            tx_hash: word(4_000 + leaf),
            block_number: leaf,
            submission_id: null,
          })
          .execute();
      }
    }
    return tree.root;
  }

  it('answers paths that lead to the newest root, also after the tree has grown', async () => {
    const edge = await edgeOf('holder.transfer');
    const notes = [
      { batchIndex: 4, slot: 15 },
      { batchIndex: 1, slot: 2 },
    ];
    for (const [from, count] of [
      [0, 5],
      [5, 3],
    ] as const) {
      const root = await insert(from, count);
      const { noteRoot, paths } = await edge.findNotePaths({ chain: 'anvil', notes });
      expect(noteRoot).toBe(fieldToHex(root));
      expect(paths.map(({ commitment }) => BigInt(commitment))).toEqual([4_016n, 1_003n]);
      for (const { commitment, index, siblings } of paths) {
        const path = { index, siblings: siblings.map((sibling) => parseField(sibling)) };
        expect(computeNoteRootFromPath(parseField(commitment), path)).toBe(root);
      }
    }
  });

  it('answers 404 for a place without a note', async () => {
    await insert(0, 2);
    const edge = await edgeOf('holder.read');
    for (const place of [
      { batchIndex: 2, slot: 0 },
      { batchIndex: 1, slot: 4 },
    ]) {
      await expect(edge.findNotePaths({ chain: 'anvil', notes: [place] })).rejects.toMatchObject({
        code: 'unknown_leaf',
        status: 404,
      });
    }
  });

  it('serves no path while the index disagrees with itself', async () => {
    await insert(0, 2);
    await database.db
      .updateTable('batches')
      .set({ new_root: word(1) })
      .execute();
    const edge = await edgeOf('holder.send');
    const notes = [{ batchIndex: 0, slot: 0 }];
    await expect(edge.findNotePaths({ chain: 'anvil', notes })).rejects.toMatchObject({
      code: 'notes_unavailable',
      status: 503,
    });
  });

  it('refuses a disburse key, and everybody unless the operator has switched it on', async () => {
    const request = { chain: 'anvil', notes: [{ batchIndex: 0, slot: 0 }] };
    const payer = await edgeOf('disburse');
    await expect(payer.findNotePaths(request)).rejects.toMatchObject({ code: 'forbidden' });
    platform = createTestPlatform(database);
    const holder = await edgeOf('holder.send');
    await expect(holder.findNotePaths(request)).rejects.toMatchObject({
      code: 'note_paths_disabled',
      status: 403,
    });
  });
});

describe('GET /agent-edge/notes', () => {
  it('brings the index up to the chain before it lists notes', async () => {
    const database = await openTestDatabase();
    const refreshed: string[] = [];
    const platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      refreshIndex: async (chain) => {
        refreshed.push(chain);
      },
    });
    const holder = await createTestHolder('a');
    const session = await platform.signIn(holder);
    await session.register();
    await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    const { apiKey: token } = await session.mintKey('holder.read', 'x');
    const edge = createEdgeClient({
      url: `${platform.url}/agent-edge`,
      token,
      fetch: platform.fetch,
    });
    expect(await edge.getNotes({ chain: 'anvil', token: 'USDC' })).toEqual({ notes: [] });
    expect(refreshed).toEqual(['anvil']);
    await database.close();
  });
});
