/** The routes that holders read, through the typed client and raw. */
import type { Capability } from '@pool/api';
import { bigintToHex32, type Secret } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { createTestHolder, type TestHolder } from '../fixtures/test-holder.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

function word(value: number) {
  return bigintToHex32(BigInt(value));
}

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

  /** @param slots - commitments of each leaf */
  async function index(count: number, slots: number): Promise<void> {
    const leaves = Array.from({ length: count }, (_, leaf) => ({
      chain: 'anvil',
      leaf_index: leaf,
      kind: leaf % 2 === 0 ? ('fund' as const) : ('spend' as const),
      batch_root: word(leaf),
      batch_id: leaf % 2 === 0 ? word(1_000 + leaf) : null,
      new_root: word(2_000 + leaf),
      commitments: JSON.stringify(Array.from({ length: slots }, (_ignored, slot) => word(slot))),
      sealed_notes_hash: word(3),
      tx_hash: word(4_000 + leaf),
      block_number: leaf,
      settlement_id: null,
    }));
    await database.db.insertInto('batches').values(leaves).execute();
    await database.db
      .insertInto('nullifiers')
      .values(
        leaves
          .filter(({ kind }) => kind === 'spend')
          .flatMap(({ leaf_index }) =>
            [1, 0].map((place) => ({
              chain: 'anvil',
              nullifier: word(10_000 + 2 * leaf_index + place),
              leaf_index,
              place,
            })),
          ),
      )
      .execute();
  }

  it.each([
    ['at most 100 leaves', 230, 4, [100, 100, 30]],
    ['about 4,096 commitments', 40, 256, [16, 16, 8]],
  ])('answers pages of %s without a gap', async (_name, count, slots, pages) => {
    await index(count, slots);
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
    await index(2, 4);
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
