// An agent that is killed before anything of a spend left: the notes are free at the next start, and until then the answer says what holds
// them (docs/decisions/0011).
import { createMemoryStore } from '@pool/idempotency';
import { describe, expect, it } from 'vitest';
import type { SpendFaultPoint } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { followOnce } from './follow-spends.ts';
import { createSpender } from './perform-spend.ts';
import type { OrphanRule } from './spend-deps.ts';

type World = ReturnType<typeof createSpendWorld>;

function send(deps: Parameters<typeof createSpender>[0], key = 'k', amount = '700') {
  return createSpender(deps).spend({
    operation: 'send',
    key,
    body: { token: 'USDC', amount },
  });
}

/** Ends a process at a point. Its keys are forgotten. */
async function kill(world: World, at: SpendFaultPoint) {
  const { deps } = world.boot({
    crashAt(point) {
      if (point === at) {
        throw new Error('killed');
      }
    },
  });
  await expect(send(deps)).rejects.toThrow(`stopped at ${at}`);
  return deps.owner;
}

/** Only the first process has ended. */
const local: OrphanRule = { isOrphan: (owner) => owner === 'process 1', isRemote: false };

const unsent = [
  'archive.after-store',
  'key.after-bind',
  'signature.before-ask',
  'signature.after-store',
  'proof.made',
  'release.before-store',
] as const satisfies readonly SpendFaultPoint[];

describe('an agent that is killed before anything of a spend left', () => {
  it.each(unsent)('at %s: the notes are free at the next start', async (point) => {
    const world = createSpendWorld({ amounts: [1_000_000n] });
    const owner = await kill(world, point);
    const { deps } = world.boot();
    const isOrphan: OrphanRule['isOrphan'] = (other) => other === owner;
    await followOnce({ ...deps, orphans: { isOrphan, isRemote: false } });
    expect(world.archive.all().map(({ state }) => state)).toEqual([
      { kind: 'abandoned', code: 'interrupted' },
    ]);
    expect(await send(deps, 'other')).toMatchObject({ status: 'success' });
  });

  it.each(['release.after-store', 'spend.posted'] as const)(
    'but not at %s: it may have left',
    async (point) => {
      const world = createSpendWorld({ amounts: [1_000_000n], finalityBlocks: 60 });
      world.edge.holdBack = true;
      const owner = await kill(world, point);
      const { deps } = world.boot();
      const isOrphan: OrphanRule['isOrphan'] = (other) => other === owner;
      await followOnce({ ...deps, orphans: { isOrphan, isRemote: false } });
      expect(world.archive.all().map(({ state }) => state.kind)).toEqual(['released']);
      expect((await world.archive.listLocked()).size).toBe(1);
    },
  );
});

describe('the notes of an unsent spend stay locked', () => {
  async function follow(world: World, orphans: OrphanRule, prepare = async () => undefined) {
    await kill(world, 'proof.made');
    await prepare();
    const { deps } = world.boot();
    await followOnce({
      ...deps,
      orphans: { ...orphans, isOrphan: () => orphans.isOrphan(undefined) },
    });
    return (await world.archive.listLocked()).size;
  }
  const gone: OrphanRule = { isOrphan: () => true, isRemote: false };

  it.each<[string, OrphanRule]>([
    ['while its process lives', { isOrphan: () => false, isRemote: false }],
    ['if a signer outside this process has signed it', { isOrphan: () => true, isRemote: true }],
  ])('%s', async (_, orphans) => {
    expect(await follow(createSpendWorld({ amounts: [1_000n] }), orphans)).toBe(1);
  });

  it('if the platform has it, because the archive is older than what was sent', async () => {
    const world = createSpendWorld({ amounts: [1_000n] });
    const has = async () => {
      const outRoot = world.archive.all()[0]?.outRoot;
      if (outRoot !== undefined) {
        world.edge.rows.set(`spend-${outRoot}`, { state: 'accepted', outRoot });
      }
      return undefined;
    };
    expect(await follow(world, gone, has)).toBe(1);
  });

  it('if a block that is not final uses one of them', async () => {
    const world = createSpendWorld({ amounts: [1_000n], finalityBlocks: 60 });
    const use = async () => {
      for (const nullifier of await world.archive.listLocked()) {
        world.chain.useNullifier(nullifier);
      }
      return undefined;
    };
    expect(await follow(world, gone, use)).toBe(1);
  });

  it('if a process takes it up while the platform is asked', async () => {
    const world = createSpendWorld({ amounts: [1_000n] });
    await kill(world, 'proof.made');
    const { deps } = world.boot();
    const { getSpend } = world.edge;
    world.edge.getSpend = async (key) => {
      for (const { outRoot } of world.archive.all()) {
        await world.archive.change(outRoot, (spend) => ({ ...spend, owner: 'process 9' }));
      }
      return await getSpend(key);
    };
    const platform = { transfer: world.edge, send: world.edge };
    await followOnce({ ...deps, platform, orphans: local });
    expect((await world.archive.listLocked()).size).toBe(1);
  });

  it('while the platform does not answer, and are free at a later look', async () => {
    const world = createSpendWorld({ amounts: [1_000n] });
    const down = async () => world.edge.failCalls(1) as undefined;
    expect(await follow(world, gone, down)).toBe(1);
    await followOnce({ ...world.boot().deps, orphans: gone });
    expect((await world.archive.listLocked()).size).toBe(0);
  });
});

describe('a process that continues a spend of an earlier one', () => {
  it('is its owner, so that nobody gives it up meanwhile', async () => {
    const world = createSpendWorld({ amounts: [1_000n] });
    const store = createMemoryStore();
    const first = world.boot({
      store,
      crashAt(point) {
        if (point === 'signature.after-store') {
          throw new Error('killed');
        }
      },
    });
    await expect(send(first.deps)).rejects.toThrow('stopped');
    const second = world.boot({ store });
    const follower = world.boot();
    let looks = 0;
    const prove: typeof second.deps.prover.prove = async (...args) => {
      looks += 1;
      await followOnce({ ...follower.deps, orphans: local });
      return await world.prover.prove(...args);
    };
    const deps = { ...second.deps, prover: { ...world.prover, prove } };
    expect(await send(deps)).toMatchObject({ status: 'success' });
    expect([looks, world.archive.all().length]).toEqual([1, 1]);
  });
});

describe('a spend that another process gives up while it is proved', () => {
  it('is begun three times by one call, and not for ever', async () => {
    const world = createSpendWorld({ amounts: [1_000n] });
    const { deps } = world.boot();
    const follower = world.boot();
    let looks = 0;
    const prove: typeof deps.prover.prove = async (...args) => {
      looks += 1;
      if (looks < 9) {
        await followOnce({
          ...follower.deps,
          orphans: { isOrphan: () => true, isRemote: false },
        });
      }
      return await world.prover.prove(...args);
    };
    await expect(send({ ...deps, prover: { ...world.prover, prove } })).rejects.toMatchObject({
      code: 'notes_unavailable',
      status: 503,
      retryable: true,
    });
    expect([looks, (await world.archive.listLocked()).size, world.edge.rows.size]).toEqual([
      3, 0, 0,
    ]);
  });
});

describe('insufficient_funds while spends are underway', () => {
  it('says what they lock and until when, beside what is spendable', async () => {
    const world = createSpendWorld({ amounts: [600n, 300n, 200n] });
    await kill(world, 'proof.made');
    const [spend] = world.archive.all();
    const until = `${new Date((spend?.deadline ?? 0) * 1_000).toISOString().slice(0, 19)}Z`;
    await expect(send(world.boot().deps, 'other', '900')).rejects.toMatchObject({
      code: 'insufficient_funds',
      status: 409,
      message: expect.stringContaining(until),
      details: { spendable: '300', locked: '800', lockedUntil: until },
    });
  });

  it('says nothing of locks if there are none', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    await expect(send(world.boot().deps, 'k', '900')).rejects.toMatchObject({
      details: { spendable: '600' },
      message: expect.not.stringContaining('lock'),
    });
  });
});
