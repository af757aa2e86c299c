// Idempotency-Keys of spends: one key, one spend (docs/decisions/0011).
import { PoolError } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendEvent } from './spend-deps.ts';

function callOf(world: ReturnType<typeof createSpendWorld>, key = 'k', amount = '250') {
  const [payee] = world.payees;
  return {
    operation: 'transfer',
    key,
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount }] },
  } as const;
}

describe('a spend that a restored archive believes unsent', () => {
  // The review's case: an attached call skipped the wait of a restored directory.
  it.each(['key.after-bind', 'signature.after-store'] as const)(
    'is neither signed nor sent while spends of the lost time can land: %s',
    async (point) => {
      const world = createSpendWorld();
      const store = createMemoryStore();
      const crashAt = (at: string): void => {
        if (at === point) {
          throw new Error('killed');
        }
      };
      const first = createSpender(world.boot({ store, crashAt }).deps);
      await expect(first.spend(callOf(world))).rejects.toThrow('stopped');
      const state = world.archive.all()[0]?.state;
      let isKnown = false;
      const { deps } = world.boot({ store });
      const spender = createSpender({
        ...deps,
        assertSpendsKnown() {
          if (!isKnown) {
            throw new PoolError('restored_recently', 'restored');
          }
        },
      });
      const attach = () => spender.spend({ ...callOf(world), isAttached: true });
      await expect(attach()).rejects.toMatchObject({ code: 'restored_recently', status: 503 });
      expect([world.archive.all()[0]?.state, world.edge.rows.size]).toEqual([state, 0]);
      isKnown = true;
      expect(await attach()).toMatchObject({ status: 'success' });
    },
  );
});

describe('a key', () => {
  it('that is underway reads the same outcome [spend.retry-attaches]', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    const receipts = await Promise.all([1, 2, 3].map(() => spender.spend(callOf(world))));
    expect(new Set(receipts.map(({ txHash }) => txHash)).size).toBe(1);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('that has ended reads the same receipt, even if the payee is not enrolled any more', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    const first = await spender.spend(callOf(world));
    world.directory.enroll(world.payees[0], { readiness: 'not_enrolled' });
    expect(await spender.spend(callOf(world))).toEqual(first);
    expect(world.chain.landed).toHaveLength(1);
  });

  it.each(['while it is underway', 'after it has ended'])(
    'with another body or operation is a conflict %s [spend.other-body, spend-error.conflict]',
    async (when) => {
      const world = createSpendWorld();
      const spender = createSpender(world.boot().deps);
      const running = spender.spend(callOf(world));
      if (when.startsWith('after')) {
        await running;
      }
      const others = [
        callOf(world, 'k', '251'),
        { operation: 'send', key: 'k', body: { token: 'USDC', amount: '250' } },
        { ...callOf(world), body: { ...callOf(world).body, dryRun: true } },
      ] as const;
      for (const other of others) {
        await expect(spender.spend(other)).rejects.toMatchObject({
          code: 'idempotency_conflict',
          status: 409,
        });
      }
      await running;
      expect(world.chain.landed).toHaveLength(1);
    },
  );

  it('of a refused request may be used for a corrected one', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    await expect(spender.spend(callOf(world, 'k', '9000'))).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    const call = callOf(world, 'k', '0');
    await expect(spender.spend(call)).rejects.toMatchObject({ code: 'invalid-amount' });
    expect((await spender.spend(callOf(world))).status).toBe('success');
  });

  it('of a spend that failed before it left may be tried again, and pays once', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    world.signer.refusals = 2;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(spender.spend(callOf(world))).rejects.toMatchObject({
        code: 'signer_refused',
      });
    }
    expect((await spender.spend(callOf(world))).status).toBe('success');
    expect(world.archive.all().map(({ state }) => state.kind)).toEqual([
      'abandoned',
      'abandoned',
      'settled',
    ]);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('that a caller only attaches to begins no spend, and reads the outcome of the one that began', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    const attached = { ...callOf(world), isAttached: true };
    await expect(spender.spend(attached)).rejects.toMatchObject({
      code: 'spend_unknown',
      status: 404,
    });
    expect(world.archive.all()).toEqual([]);
    const running = spender.spend(callOf(world));
    const [first, second] = await Promise.all([running, spender.spend(attached)]);
    expect(second).toEqual(first);
    expect(await spender.spend(attached)).toEqual(first);
    // After a restart without a journal the key is not known any more.
    await expect(createSpender(world.boot().deps).spend(attached)).rejects.toMatchObject({
      code: 'spend_unknown',
    });
    expect(world.chain.landed).toHaveLength(1);
  });

  it('with another chain is a conflict, and the chain is the one that is asked for [command.chain]', async () => {
    const world = createSpendWorld();
    const asked: (string | undefined)[] = [];
    const route = (chain?: string) => {
      asked.push(chain);
      return world.context;
    };
    const spender = createSpender(world.boot({ route }).deps);
    await spender.spend({ ...callOf(world), chain: 'anvil' });
    await expect(spender.spend(callOf(world))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await spender.spend(callOf(world, 'k-2', '1'));
    expect(asked).toEqual(['anvil', undefined]);
  });

  it('tells its own caller how far the spend is', async () => {
    const world = createSpendWorld();
    const { deps, events } = world.boot();
    const spender = createSpender(deps);
    const own: string[] = [];
    const note = (event: SpendEvent) => void own.push(event.kind === 'stage' ? event.stage : '');
    await spender.spend({ ...callOf(world), onEvent: note });
    expect(own.filter((stage) => stage !== '')).toEqual([
      'checking',
      'signing',
      'proving',
      'settling',
    ]);
    expect(events).toHaveLength(own.length);
  });

  it('is forgotten when the process ends, and a retry pays again from different notes [spend.memory-per-process, limit.spend-keys]', async () => {
    const world = createSpendWorld();
    const first = await createSpender(world.boot().deps).spend(callOf(world));
    const second = await createSpender(world.boot().deps).spend(callOf(world));
    expect(second.txHash).not.toBe(first.txHash);
    expect(second.nullifiers).not.toEqual(first.nullifiers);
    expect(world.receivedBy(world.payees[0])).toBe(500n);
  });

  it('in a durable journal survives the process, and never pays twice', async () => {
    const world = createSpendWorld();
    const store = createMemoryStore();
    const first = await createSpender(world.boot({ store }).deps).spend(callOf(world));
    const second = await createSpender(world.boot({ store }).deps).spend(callOf(world));
    expect(second).toEqual(first);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('of one journal reaches one spend from two processes at once', async () => {
    const world = createSpendWorld();
    const store = createMemoryStore();
    const receipts = await Promise.all(
      [1, 2].map(() => createSpender(world.boot({ store }).deps).spend(callOf(world))),
    );
    expect(receipts[0]).toEqual(receipts[1]);
    expect(world.chain.landed).toHaveLength(1);
    expect(new Set(world.edge.posts.map(({ spend }) => spend.rSig)).size).toBe(1);
    expect(
      world.archive
        .all()
        .map(({ state }) => state.kind)
        .sort(),
    ).toEqual(['abandoned', 'settled']);
  });

  it('whose spend is missing from the archive is not paid again', async () => {
    const world = createSpendWorld();
    const store = createMemoryStore();
    await createSpender(world.boot({ store }).deps).spend(callOf(world));
    world.archive.texts.clear();
    await expect(
      createSpender(world.boot({ store }).deps).spend(callOf(world)),
    ).rejects.toMatchObject({ code: 'spend_unreadable' });
    expect(world.chain.landed).toHaveLength(1);
  });

  it.each(['chain', 'pool', 'wallet'])(
    'is not paid again under another %s of the settings',
    async (what) => {
      const world = createSpendWorld();
      const store = createMemoryStore();
      const crashed = world.boot({
        store,
        crashAt(point) {
          if (point === 'signature.after-store') {
            throw new Error('crash');
          }
        },
      });
      await expect(createSpender(crashed.deps).spend(callOf(world))).rejects.toThrow('stopped at');
      const { deps } = world.boot({ store });
      const { settings } = world.context;
      const changed = {
        chain: { findChain: () => undefined },
        pool: {
          findChain: () => ({
            ...world.context,
            settings: { ...settings, pool: world.holder.address },
          }),
        },
        wallet: { holder: { ...deps.holder, walletPub: world.payees[1].walletPub } },
      }[what];
      await expect(
        createSpender({ ...deps, ...changed }).spend(callOf(world)),
      ).rejects.toMatchObject({ code: 'configuration_changed' });
      expect(world.edge.posts).toEqual([]);
    },
  );
});
