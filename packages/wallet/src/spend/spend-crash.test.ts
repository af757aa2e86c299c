// A process that dies at every named point. With a durable journal a retry under the same key pays once. Without one, a retry pays from
// other notes, as the service specifies: then the first spend either landed, and its change is the holder's, or it never lands, and its
// notes are free after the deadline.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore, createSqliteStore, type JobStore } from '@pool/idempotency';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SpendFaultPoint, spendFaultPoints } from '../archive/spend-state.ts';
import { createSpendWorld, type SpendWorldOptions } from '../fixtures/spend-world.ts';
import { followOnce } from './follow-spends.ts';
import { createSpender } from './perform-spend.ts';

/** A journal in a file. Each call opens it as another process does, and no process closes it before it dies. */
function createJournalFile(): () => JobStore {
  const directory = mkdtempSync(join(tmpdir(), 'pool-journal-'));
  const stores: JobStore[] = [];
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
    rmSync(directory, { recursive: true });
  });
  return () => {
    const store = createSqliteStore({ path: join(directory, 'spend-keys.sqlite') });
    stores.push(store);
    return store;
  };
}

/** Ends the process at a point, and keeps what is on disk. */
async function crash(
  world: ReturnType<typeof createSpendWorld>,
  chosen: SpendFaultPoint,
  store: JobStore,
) {
  let isReached = false;
  const { deps } = world.boot({
    store,
    crashAt(point) {
      if (point === chosen) {
        isReached = true;
        throw new Error('crash');
      }
    },
  });
  await expect(createSpender(deps).spend(callOf(world))).rejects.toThrow(`stopped at ${chosen}`);
  expect(isReached).toBe(true);
}

function callOf(world: ReturnType<typeof createSpendWorld>) {
  const [payee] = world.payees;
  return {
    operation: 'transfer',
    key: 'k',
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
  } as const;
}

/** The points at which the key is not used yet. */
const beforeKey: readonly SpendFaultPoint[] = [
  'started',
  'checked',
  'archive.before-store',
  'archive.after-store',
];

const variants: [string, SpendWorldOptions][] = [
  ['with blocks that are final at once', { finalityBlocks: 0 }],
  ['with blocks that become final later', { finalityBlocks: 5 }],
];

describe.each(variants)('a crash %s', (_, options) => {
  it.each(spendFaultPoints)(
    'at %s pays once with a durable journal [spend.memory-per-process]',
    async (point) => {
      const world = createSpendWorld(options);
      const openJournal = createJournalFile();
      await crash(world, point, openJournal());
      const store = openJournal();
      const receipt = await createSpender(world.boot({ store }).deps).spend(callOf(world));
      expect(receipt.status).toBe('success');
      expect(world.receivedBy(world.payees[0])).toBe(250n);
      expect(world.chain.landed).toHaveLength(1);
      expect(world.balance()).toBe(850n);
      expect(new Set(world.edge.posts.map(({ spend }) => spend.rSig)).size).toBe(1);
    },
  );

  it.each(spendFaultPoints)(
    'at %s: a caller that only attaches ends the spend of a used key, and begins none [command.unknown-outcome]',
    async (point) => {
      const world = createSpendWorld(options);
      const openJournal = createJournalFile();
      await crash(world, point, openJournal());
      const spender = createSpender(world.boot({ store: openJournal() }).deps);
      const wasBound = beforeKey.indexOf(point) < 0 && point !== 'key.after-claim';
      const attached = spender.spend({ ...callOf(world), isAttached: true });
      if (wasBound) {
        expect(await attached).toMatchObject({ status: 'success' });
      } else {
        await expect(attached).rejects.toMatchObject({ code: 'spend_unknown' });
      }
      expect(world.chain.landed).toHaveLength(wasBound ? 1 : 0);
    },
  );

  it.each(spendFaultPoints)(
    'at %s loses no change and no note without a journal',
    async (point) => {
      const world = createSpendWorld(options);
      await crash(world, point, createMemoryStore());
      const landed = world.chain.landed.length;
      const locked = await world.archive.listLocked();
      const next = world.boot();
      // Following sends nothing.
      const posts = world.edge.posts.length;
      await followOnce(next.deps);
      expect(world.edge.posts).toHaveLength(posts);

      // A retry is a new spend, from other notes.
      const receipt = await createSpender(next.deps).spend(callOf(world));
      expect(receipt.nullifiers.some((nullifier) => locked.has(nullifier))).toBe(false);
      expect(world.chain.landed).toHaveLength(landed + 1);

      world.clock.advanceSeconds(3_600);
      expect(await followOnce(next.deps)).toEqual({ open: 0, unroutable: 0 });
      expect(world.archive.all().filter((spend) => spend.concludedAtMs === undefined)).toEqual([]);
      expect(world.chain.landed).toHaveLength(landed + 1);
      // What was paid is gone, everything else can be spent: notes and change.
      expect(world.balance()).toBe(1_100n - 250n * BigInt(landed + 1));
      const usable = await next.deps.notes.listSpendable(world.assetId);
      expect(usable.reduce((sum, { amount }) => sum + amount, 0n)).toBe(world.balance());
      const stillLocked = await world.archive.listLocked();
      expect(
        usable.filter(({ nullifier }) => stillLocked.has(`0x${nullifier.toString(16)}` as never)),
      ).toEqual([]);
    },
  );
});

describe('a store that refuses any one write', () => {
  it('pays once, with a durable journal and a retry under the same key', async () => {
    for (let refused = 0; refused < 12; refused += 1) {
      const world = createSpendWorld();
      const store = createMemoryStore();
      const { deps } = world.boot({ store });
      let writes = 0;
      const fail = (): void => {
        writes += 1;
        if (writes === refused + 1) {
          throw new Error('disk full');
        }
      };
      const archive: typeof deps.archive = {
        ...world.archive,
        async add(spend) {
          fail();
          return world.archive.add(spend);
        },
        async change(...args) {
          fail();
          return world.archive.change(...args);
        },
      };
      const ended = await createSpender({ ...deps, archive })
        .spend(callOf(world))
        .then(() => true)
        .catch(() => false);
      await createSpender(world.boot({ store }).deps).spend(callOf(world));
      expect(world.chain.landed, `write ${refused + 1}`).toHaveLength(1);
      if (ended && writes <= refused) {
        expect(refused).toBeGreaterThan(3);
        return;
      }
    }
    throw new Error('a spend never got through');
  });
});
