// Steps of a consolidation over the fake world: notes, manifests, signatures and paths are real.
import { fieldToHex, zeroWord } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { spendFaultPoints } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from '../spend/perform-spend.ts';
import { type Consolidator, createConsolidator } from './consolidate.ts';

const many = Array.from({ length: 36 }, (_, index) => BigInt(index + 1));
/** One step. */
const few = many.slice(0, 18);
const total = sum(many);

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((left, right) => left + right, 0n);
}

function createWorld(amounts: readonly bigint[] = many) {
  const world = createSpendWorld({ amounts });
  const boot = (...changes: Parameters<typeof world.boot>): Consolidator =>
    createConsolidator(world.boot(...changes).deps);
  return { ...world, consolidator: boot(), restart: boot };
}

/** Repeats the call as the command does. @returns how many steps there were */
async function finish(consolidator: Consolidator, body: object = { token: 'USDC' }) {
  for (let steps = 0; ; steps += 1) {
    const { receipt } = await consolidator.consolidate(body);
    if (receipt === undefined) {
      return steps;
    }
    expect(receipt).toMatchObject({ operation: 'transfer', status: 'success' });
  }
}

/** Every note is in at most one spend. */
function expectNoNoteTwice({ chain }: Pick<ReturnType<typeof createWorld>, 'chain'>): void {
  const spent = chain.landed.flatMap(({ spend }) => spend.nullifiers);
  expect(new Set(spent).size).toBe(spent.length);
}

describe('a consolidation', () => {
  it('shows its steps and their time, and a dry run sends nothing', async () => {
    const { consolidator, edge, signer } = createWorld();
    const plan = await consolidator.consolidate({ token: 'USDC', dryRun: true });
    expect(plan).toMatchObject({ chain: 'anvil' });
    expect(plan.steps.map(({ notes }) => notes)).toEqual([16, 6]);
    expect(plan.seconds).toBeGreaterThan(2 * 20);
    expect(plan.receipt).toBeUndefined();
    expect([edge.posts.length, signer.signatures]).toEqual([0, 0]);
  });

  it('merges until one spend covers everything, and changes no balance', async () => {
    const world = createWorld();
    expect(await finish(world.consolidator)).toBe(2);
    expect(world.balance()).toBe(total);
    expectNoNoteTwice(world);
    const { deps } = world.boot();
    const body = { token: 'USDC', amount: total.toString() };
    const receipt = await createSpender(deps).spend({ operation: 'send', key: 'all', body });
    expect(receipt).toMatchObject({ status: 'success', changeAmount: '0' });
  });

  it('merges no more than the amount needs', async () => {
    const world = createWorld();
    const largest = sum(many.slice(-16));
    expect(await finish(world.consolidator, { token: 'USDC', until: String(largest) })).toBe(0);
    expect(await finish(world.consolidator, { token: 'USDC', until: String(largest + 1n) })).toBe(
      1,
    );
    await expect(
      world.consolidator.consolidate({ token: 'USDC', until: String(total + 1n) }),
    ).rejects.toMatchObject({ code: 'insufficient_funds' });
  });

  it('is named by the error of a spend that needs too many notes, with its amount', async () => {
    const { boot } = createWorld();
    const body = { token: 'USDC', amount: total.toString() };
    await expect(
      createSpender(boot().deps).spend({ operation: 'send', key: 'all', body }),
    ).rejects.toMatchObject({
      code: 'consolidation_required',
      message: expect.stringContaining(`"disburse-agent consolidate --until 0.000${total}USDC"`),
    });
  });

  it('proves with the root that a transfer would use, and with 0 only if it is not accepted', async () => {
    const world = createWorld();
    await world.consolidator.consolidate({ token: 'USDC' });
    const { context } = world;
    const chain = { ...context.chain, isEligibilityRootAccepted: async () => false };
    const without = { ...context, chain };
    const revoked = world.restart({ route: () => without, findChain: () => without });
    await revoked.consolidate({ token: 'USDC' });
    const roots = world.chain.landed.map(({ spend }) => spend.eligibilityRoot);
    expect(roots).toEqual([fieldToHex(world.tree.root), zeroWord]);
    expect(world.chain.landed.map(({ spend }) => spend.withdrawAmount)).toEqual(['0', '0']);
  });

  it('performs one step for two calls at the same time', async () => {
    const world = createWorld();
    const [first, second] = await Promise.all([
      world.consolidator.consolidate({ token: 'USDC' }),
      world.consolidator.consolidate({ token: 'USDC' }),
    ]);
    expect(first).toBe(second);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('shares no note with a second agent of the same directory', async () => {
    const world = createWorld();
    await Promise.allSettled([
      world.consolidator.consolidate({ token: 'USDC' }),
      world.restart().consolidate({ token: 'USDC' }),
    ]);
    await finish(world.restart());
    expectNoNoteTwice(world);
    expect(world.balance()).toBe(total);
  });

  it.each(spendFaultPoints.filter((point) => !point.startsWith('key.') && point !== 'started'))(
    'goes on after a crash at %s',
    async (crashPoint) => {
      const world = createWorld(few);
      const crashed = world.restart({
        crashAt: (point) => {
          if (point === crashPoint) {
            throw new Error('the process ends here');
          }
        },
      });
      await crashed.consolidate({ token: 'USDC' }).catch(() => undefined);
      await finish(world.restart());
      expect(world.chain.landed).toHaveLength(1);
      expect(await world.archive.listOpen()).toEqual([]);
      expect(world.balance()).toBe(sum(few));
      const plan = await world.restart().consolidate({ token: 'USDC', dryRun: true });
      expect(plan.steps).toEqual([]);
    },
  );

  it('gives the new note the same time to arrive when somebody sets the clock back', async () => {
    const world = createSpendWorld({ amounts: few });
    const { deps } = world.boot();
    const startMs = world.clock.nowMs();
    let setBackMs = 0;
    const consolidator = createConsolidator({
      ...deps,
      clock: { ...world.clock, nowMs: () => world.clock.nowMs() - setBackMs },
      notes: {
        ...deps.notes,
        // The step lands, and its note does not arrive.
        async listSpendable(asset) {
          if (world.chain.landed.length === 0) {
            return deps.notes.listSpendable(asset);
          }
          setBackMs += 1_000;
          // A test that failed would wait for ever.
          expect(setBackMs).toBeLessThan(1_000_000);
          return [];
        },
      },
    });
    await expect(consolidator.consolidate({ token: 'USDC' })).rejects.toMatchObject({
      code: 'notes_unavailable',
      retryable: true,
    });
    expect(world.clock.nowMs() - startMs).toBeLessThan(600_000);
  });

  it('proves nothing with the mock prover, and refuses an unknown token', async () => {
    const { deps } = createSpendWorld({ amounts: many, proverMode: 'mock' }).boot();
    const mock = createConsolidator(deps);
    await expect(mock.consolidate({ token: 'USDC' })).rejects.toMatchObject({
      code: 'prover_mock',
    });
    expect((await mock.consolidate({ token: 'USDC', dryRun: true })).steps).toHaveLength(2);
    await expect(mock.consolidate({ token: 'DAI' })).rejects.toMatchObject({
      code: 'unknown_token',
    });
  });
});
