/** Paths under roots that were replaced a short time ago (docs/decisions/0005). */

import { assertField, type Field, fieldToHex, type Hex32, parseField } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import {
  computeEligibilityRootFromPath,
  computeWalletId,
  createEligibilityTree,
  hashHere,
} from '@pool/notes';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { startTestGate, type TestGate } from '../test/test-gate.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import type { GateTables } from './gate-tables.ts';
import {
  assertAccepted,
  type Change,
  createPastLists,
  type FinalPublication,
} from './past-lists.ts';

const log = createLog('silent', 'test');

describe('createPastLists', () => {
  /** Numbers that look random and are the same in each run. */
  function createNumbers(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
  }
  const wallets = [1n, 2n, 3n, 4n, 5n, 6n].map(assertField);

  it.each(Array.from({ length: 8 }, (_, seed) => seed + 1))(
    'serves each list of the last minute as it was, also after a restart (history %i)',
    async (seed) => {
      const next = createNumbers(seed * 7_919);
      let nowMs = 1_000_000;
      const options = { maxAgeMs: 60_000, nowMs: () => nowMs, log, hashMany: hashHere };
      const tree = createEligibilityTree();
      const lists = await createPastLists(tree, [], options);
      const places = new Map<Field, number>();
      const publications: FinalPublication[] = [];
      const known: { on: readonly Field[]; root: Hex32; replacedAtMs: number }[] = [];
      for (let step = 0; step < 12; step += 1) {
        nowMs += next(20) * 1_000;
        known.push({ on: [...places.keys()], root: fieldToHex(tree.root), replacedAtMs: nowMs });
        const wallet = wallets[next(wallets.length)] ?? assertField(1n);
        const leafIndex = places.get(wallet) ?? lowestFree([...places.values()]);
        const wanted = !places.delete(wallet);
        if (wanted) places.set(wallet, leafIndex);
        const changes: Change[] = [{ walletId: fieldToHex(wallet), leafIndex, wanted }];
        lists.replace(changes);
        publications.unshift({ root: fieldToHex(tree.root), changes, finalAtMs: nowMs });
      }
      for (const served of [lists, await createPastLists(tree, publications, options)]) {
        for (const { on, root, replacedAtMs } of known) {
          const list = served.find(parseField(root));
          if (nowMs - replacedAtMs < 60_000) {
            expect(list?.root).toBe(root);
          }
          if (list !== undefined) {
            expect(wallets.filter(list.has)).toEqual(on.toSorted());
            const reached = on.map((wallet) =>
              fieldToHex(computeEligibilityRootFromPath(wallet, list.path(wallet))),
            );
            expect(new Set(reached).size).toBeLessThanOrEqual(1);
            expect(reached[0] ?? root).toBe(root);
          }
        }
      }
    },
  );

  function lowestFree(taken: readonly number[]): number {
    return [0, 1, 2, 3, 4, 5].find((place) => !taken.includes(place)) ?? 6;
  }

  it('serves no list that the stored publications do not lead to', async () => {
    const tree = createEligibilityTree([assertField(1n), assertField(2n)]);
    const { root } = tree;
    const before = createEligibilityTree([assertField(1n)]).root;
    const changes = [{ walletId: fieldToHex(assertField(2n)), leafIndex: 1, wanted: true }];
    const publications = [
      { root: fieldToHex(root), changes, finalAtMs: 0 },
      { root: fieldToHex(assertField(5n)), changes: [], finalAtMs: 0 },
    ];
    const options = { maxAgeMs: 1_000, nowMs: () => 1, log, hashMany: hashHere };
    const lists = await createPastLists(tree, publications, options);
    expect(tree.root).toBe(root);
    expect(lists.find(before)?.has(assertField(1n))).toBe(true);
    expect(lists.find(before)?.has(assertField(2n))).toBe(false);
    expect(() => lists.find(before)?.path(assertField(2n))).toThrow(
      expect.objectContaining({ code: 'unregistered-recipient' }),
    );
    expect(lists.find(assertField(5n))).toBeUndefined();
  });
});

describe('paths under a root of the request', () => {
  let database: OpenDatabase<GateTables>;
  let gate: TestGate;
  let a: TestHolder;
  let b: TestHolder;
  beforeAll(async () => {
    database = await openTestGateDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    gate = await startTestGate(database, { pastRootSeconds: 100 });
  });
  const idOf = (holder: TestHolder) => fieldToHex(computeWalletId(holder.walletPub));
  const rootNow = async (): Promise<string> => (await gate.client.root()).root;

  /** Publishes a, then b, and removes a. The root of each list. */
  async function publishThree(): Promise<[string, string, string]> {
    await gate.put(a);
    const first = await rootNow();
    await gate.put(b);
    const second = await rootNow();
    await gate.remove(a);
    return [first, second, await rootNow()];
  }

  it('lead to it, with the wallets that were on the list then', async () => {
    const [first, second, third] = await publishThree();
    for (const [root, on] of [
      [first, [a]],
      [second, [a, b]],
      [third, [b]],
    ] as const) {
      const answer = await gate.client.paths([idOf(a), idOf(b)], root);
      expect(answer.root).toBe(root);
      expect(answer.paths.map(({ walletId }) => walletId)).toEqual(on.map(idOf));
      expect(answer.missing).toHaveLength(2 - on.length);
      for (const path of answer.paths) {
        const reached = computeEligibilityRootFromPath(parseField(path.walletId), path);
        expect(fieldToHex(reached)).toBe(root);
      }
    }
    expect((await gate.client.paths([idOf(b)])).root).toBe(third);
    await gate.crash();
  });

  it('are served for the configured time after its replacement, also after a restart', async () => {
    const [first, second] = await publishThree();
    gate.clock.nowMs += 99_000;
    await gate.crash();
    await gate.start();
    expect((await gate.client.paths([idOf(a)], first)).paths).toHaveLength(1);
    gate.clock.nowMs += 1_000;
    for (const root of [first, second]) {
      await expect(gate.client.paths([idOf(a)], root)).rejects.toMatchObject({
        code: 'eligibility_root_too_old',
        status: 409,
        retryable: false,
      });
    }
    await gate.crash();
  });

  it('are refused for a root that is not final for the gate, so that the caller asks again', async () => {
    await gate.put(a);
    await expect(gate.client.paths([idOf(a)], fieldToHex(assertField(7n)))).rejects.toMatchObject({
      code: 'eligibility_root_unknown',
      status: 503,
      retryable: true,
    });
    await gate.crash();
  });
});

describe('assertAccepted', () => {
  const chain = { fetchGraceSeconds: () => Promise.resolve(3_600) };

  it('lets the gate serve a root for as long as the registry accepts it, and not longer', async () => {
    await assertAccepted(chain, 3_600);
    await expect(assertAccepted(chain, 3_601)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('GATE_PAST_ROOT_SECONDS') as string,
    });
  });

  it('reports a chain that does not answer', async () => {
    const deaf = { fetchGraceSeconds: () => Promise.reject(new Error('deaf')) };
    await expect(assertAccepted(deaf, 0)).rejects.toMatchObject({ code: 'chain_unreachable' });
  });
});
