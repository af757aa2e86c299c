// Before a rotation the notes of the earlier P become change under the new one: everything arrives, once, and nothing else happens.
import { fieldToHex, Secret, zeroWord } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createSpendWorld, type SpendWorldOptions } from '../fixtures/spend-world.ts';
import { followOnce } from '../spend/follow-spends.ts';
import { createSpender } from '../spend/perform-spend.ts';
import { countSweepable, sweepOnce } from './sweep-notes.ts';

function createRotated(options: SpendWorldOptions = {}) {
  const world = createSpendWorld(options);
  const { viewingKey, encryptionPublicKey } = createFakeHolder(9);
  const next = { ...world.holder, viewingKey, encryptionPublicKey };
  const holder = {
    walletPub: world.holder.walletPub,
    address: world.holder.address,
    changeKey: next.encryptionPublicKey,
    viewingKeyOf: (key: string) =>
      key === next.encryptionPublicKey
        ? new Secret(next.viewingKey)
        : key === world.holder.encryptionPublicKey
          ? new Secret(world.holder.viewingKey)
          : undefined,
  };
  return { world, next, boot: (changes = {}) => world.boot({ holder, ...changes }) };
}

describe('a sweep', () => {
  it('moves the notes of the earlier P to the new one, the largest first, and ends', async () => {
    const amounts = Array.from({ length: 18 }, (_, index) => BigInt(100 + index));
    const { world, next, boot } = createRotated({ amounts });
    const { deps } = boot();
    const first = await sweepOnce('USDC', deps);
    expect(first).toMatchObject({ notes: 18, locked: 0, receipt: { status: 'success' } });
    const largest = amounts.slice(2).reduce((total, amount) => total + amount, 0n);
    expect(first.receipt?.changeAmount).toBe(largest.toString());
    expect(world.balance()).toBe(201n);
    const second = await sweepOnce('USDC', deps);
    expect(second).toMatchObject({ notes: 2, receipt: { changeAmount: '201' } });
    expect(world.balance()).toBe(0n);
    expect(world.receivedBy(next)).toBe(largest + 201n);
    expect(await sweepOnce('USDC', deps)).toEqual({ receipt: undefined, notes: 0, locked: 0 });
    expect(world.chain.landed).toHaveLength(2);
  });

  it('has the eligibility root of a transfer, so that it cannot be told apart, and 0 only if there is none', async () => {
    const { world, boot } = createRotated();
    await sweepOnce('USDC', boot().deps);
    expect(world.chain.landed[0]?.spend.eligibilityRoot).toBe(fieldToHex(world.tree.root));
    const alone = createRotated();
    const { deps } = alone.boot();
    const { context } = alone.world;
    const chain = { ...context.chain, isEligibilityRootAccepted: async () => false };
    const changed = { ...context, chain };
    await sweepOnce('USDC', { ...deps, route: () => changed, findChain: () => changed });
    expect(alone.world.chain.landed[0]?.spend.eligibilityRoot).toBe(zeroWord);
  });

  it('is counted without moving anything, and is refused where it would be refused', async () => {
    const { world, boot } = createRotated({ amounts: [500n, 30n] });
    const { deps } = boot();
    expect(await countSweepable('USDC', deps)).toEqual({ notes: 2, locked: 0, openChange: 0 });
    expect([world.archive.all(), world.edge.posts]).toEqual([[], []]);
    await expect(countSweepable('DAI', deps)).rejects.toMatchObject({ code: 'unknown_token' });
    const mock = { ...deps, prover: { ...deps.prover, mode: 'mock' as const } };
    await expect(countSweepable('USDC', mock)).rejects.toMatchObject({ code: 'prover_mock' });
  });

  it('leaves notes alone that another spend holds, and counts them', async () => {
    const { boot } = createRotated({ amounts: [500n] });
    const crash = new Error('killed');
    const killed = boot({
      crashAt: (point: string) => {
        if (point === 'spend.posted') {
          throw crash;
        }
      },
    });
    await expect(
      createSpender(killed.deps).spend({
        operation: 'send',
        key: 'k',
        body: { token: 'USDC', amount: '100' },
      }),
    ).rejects.toThrow();
    const step = await sweepOnce('USDC', boot().deps);
    expect(step).toEqual({ receipt: undefined, notes: 1, locked: 1 });
  });

  it('counts a spend whose change goes to the earlier P, until that change is read', async () => {
    const { world, boot } = createRotated({ amounts: [500n] });
    const send = (deps: ReturnType<typeof boot>['deps']) =>
      createSpender(deps).spend({
        ...{ operation: 'send', key: 'k' },
        body: { token: 'USDC', amount: '100' },
      });
    const killed = world.boot({
      crashAt: (point: string) => {
        if (point === 'spend.posted') {
          throw new Error('killed');
        }
      },
    });
    await expect(send(killed.deps)).rejects.toThrow();
    const { deps } = boot();
    expect(await countSweepable('USDC', deps)).toEqual({ notes: 1, locked: 1, openChange: 1 });
    // The note is used up in a final block, and the platform does not list the change yet.
    world.clock.advanceSeconds(600);
    expect(await followOnce(deps)).toMatchObject({ open: 0 });
    expect(world.archive.all()[0]?.state.kind).toBe('settled');
    const late = { ...deps, notes: { ...deps.notes, listSpendable: async () => [] } };
    expect(await countSweepable('USDC', late)).toEqual({ notes: 0, locked: 0, openChange: 1 });
    expect(await countSweepable('USDC', deps)).toEqual({ notes: 1, locked: 0, openChange: 0 });
    // The change was read, and spent.
    await sweepOnce('USDC', deps);
    expect(await countSweepable('USDC', deps)).toEqual({ notes: 0, locked: 0, openChange: 0 });
  });

  it('does nothing where no earlier key is configured', async () => {
    const world = createSpendWorld();
    expect(await sweepOnce('USDC', world.boot().deps)).toEqual({
      receipt: undefined,
      notes: 0,
      locked: 0,
    });
    expect(world.chain.landed).toEqual([]);
  });

  it('refuses a token that is not configured, and a prover that proves nothing', async () => {
    const { boot } = createRotated();
    await expect(sweepOnce('EURC', boot().deps)).rejects.toMatchObject({ code: 'unknown_token' });
    const mock = createRotated({ proverMode: 'mock' });
    await expect(sweepOnce('USDC', mock.boot().deps)).rejects.toMatchObject({
      code: 'prover_mock',
    });
  });
});

describe('a spend after the change of keys', () => {
  it('uses notes of the earlier P, and its change goes to the new one', async () => {
    const { world, next, boot } = createRotated({ amounts: [600n] });
    const receipt = await createSpender(boot().deps).spend({
      operation: 'send',
      key: 'k',
      body: { token: 'USDC', amount: '100' },
    });
    expect(receipt).toMatchObject({ status: 'success', changeAmount: '500' });
    expect(world.receivedBy(next)).toBe(500n);
    expect(world.balance()).toBe(0n);
  });

  it('does not use notes whose viewing key the agent does not have', async () => {
    const { world, next } = createRotated();
    const alone = {
      walletPub: world.holder.walletPub,
      address: world.holder.address,
      changeKey: next.encryptionPublicKey,
      viewingKeyOf: () => undefined,
    };
    await expect(
      createSpender(world.boot({ holder: alone }).deps).spend({
        operation: 'send',
        key: 'k',
        body: { token: 'USDC', amount: '100' },
      }),
    ).rejects.toMatchObject({ code: 'insufficient_funds', details: { spendable: '0' } });
  });
});
