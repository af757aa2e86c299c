// From a released spend to its outcome (protocol §8, "Late landing"): only the final state of the chain ends it.

import { fieldToHex, type Hex32, PoolError, zeroWord } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { createEligibilityTree } from '@pool/notes';
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { followOnce } from './follow-spends.ts';
import { createSpender } from './perform-spend.ts';

function callOf(world: ReturnType<typeof createSpendWorld>, key = 'k') {
  const [payee] = world.payees;
  return {
    operation: 'transfer',
    key,
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
  } as const;
}

describe('a released spend', () => {
  it('expires after its deadline in a final block, and answers 504', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.holdBack = true;
    await expect(createSpender(deps).spend(callOf(world))).rejects.toMatchObject({
      code: 'settlement_expired',
      status: 504,
    });
    const [spend] = world.archive.all();
    expect(spend?.state.kind).toBe('expired');
    // Not before the deadline: a final block is later than it.
    expect(world.clock.nowMs() / 1000).toBeGreaterThan((spend?.deadline ?? 0) + 3);
    expect(await world.archive.listLocked()).toEqual(new Set());
  });

  it('reports a refusal once, with its message and its fields, and goes on', async () => {
    const world = createSpendWorld();
    const { deps, events } = world.boot();
    const { postSpend } = world.edge;
    let refusals = 2;
    world.edge.postSpend = async (key, submission) => {
      refusals -= 1;
      if (refusals >= 0) {
        throw new PoolError('gas_key_unfunded', '0x01 needs 5 wei more', {
          details: { missingWei: '5' },
        });
      }
      return await postSpend(key, submission);
    };
    const platform = { transfer: world.edge, send: world.edge };
    const receipt = await createSpender({ ...deps, platform }).spend(callOf(world));
    expect(receipt.status).toBe('success');
    expect(events.filter(({ kind }) => kind === 'refused')).toEqual([
      {
        kind: 'refused',
        code: 'gas_key_unfunded',
        message: '0x01 needs 5 wei more',
        details: { missingWei: '5' },
      },
    ]);
  });

  it('has a deadline at a quarter of an hour, 15 to 30 minutes ahead', async () => {
    const world = createSpendWorld();
    const now = world.clock.nowMs() / 1000;
    await createSpender(world.boot().deps).spend(callOf(world));
    const [{ deadline = 0 } = {}] = world.archive.all();
    expect(deadline % 900).toBe(0);
    expect(deadline - now).toBeGreaterThanOrEqual(900);
    expect(deadline - now).toBeLessThan(1_801);
  });

  it('is a success whoever sends it', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.holdBack = true;
    const running = createSpender(deps).spend(callOf(world));
    const sent = await firstPost(world);
    // The platform keeps it, and a stranger sends it.
    const txHash = world.chain.mine(sent);
    expect(await running).toMatchObject({ status: 'success', txHash });
  });

  it('that settled is answered with its receipt, although the RPC serves no events for minutes', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    // Longer than the patience for one call.
    world.chain.failEvents(40);
    const receipt = await createSpender(deps).spend(callOf(world));
    expect(receipt).toMatchObject({ status: 'success', txHash: expect.any(String) });
    expect(world.edge.posts).toHaveLength(1);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('is looked for only since it was archived', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const { chain } = world.context;
    const asked: (number | undefined)[] = [];
    const context = {
      ...world.context,
      chain: {
        ...chain,
        fetchSpentTransaction: (outRoot: Hex32, fromBlock?: number) => {
          asked.push(fromBlock);
          return chain.fetchSpentTransaction(outRoot, fromBlock);
        },
      },
    };
    const finalBlock = await chain.fetchFinalBlockNumber();
    await createSpender({ ...deps, route: () => context, findChain: () => context }).spend(
      callOf(world),
    );
    expect(asked).toEqual([finalBlock]);
  });

  it('that reverts and expires answers a reverted receipt with the reason [receipt.reverted, spend-error.reverted]', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.isCareless = true;
    world.edge.beforeInclusion = () => world.chain.publishRoot(otherRoot(), true);
    const receipt = await createSpender(deps).spend(callOf(world));
    expect(receipt).toMatchObject({
      status: 'reverted',
      txHash: expect.any(String),
      revertReason: { code: 'eligibility-root-not-accepted', message: expect.any(String) },
    });
    expect(world.chain.landed).toEqual([]);
    expect(await world.archive.listLocked()).toEqual(new Set());
  });

  it('is proved and sent again when its eligibility root is replaced, with the same signature', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    let isFirst = true;
    // The root of the first proof is revoked while the transaction is on its way.
    const old = world.tree.root;
    world.edge.beforeInclusion = () => {
      if (isFirst) {
        isFirst = false;
        world.tree.insert(world.holder.walletId);
        world.chain.publishRoot(fieldToHex(world.tree.root), true);
      }
    };
    const receipt = await createSpender(deps).spend(callOf(world));
    expect(receipt.status).toBe('success');
    expect(world.tree.root).not.toBe(old);
    expect(world.prover.proofs).toBe(2);
    expect(new Set(world.edge.posts.map(({ spend }) => spend.rSig)).size).toBe(1);
    expect(new Set(world.edge.posts.map(({ spend }) => spend.eligibilityRoot)).size).toBe(2);
    expect(world.signer.signatures).toBe(1);
    expect(world.chain.landed).toHaveLength(1);
  });

  it('whose note another spend used answers 409', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.holdBack = true;
    const running = createSpender(deps).spend(callOf(world));
    const sent = await firstPost(world);
    const [nullifier = zeroWord] = sent.spend.nullifiers;
    world.chain.spendElsewhere(nullifier);
    await expect(running).rejects.toMatchObject({ code: 'note_already_spent', status: 409 });
  });

  it('pays once if the platform loses the answer, the request, or both for a while', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.loseAnswers(1);
    expect((await createSpender(deps).spend(callOf(world))).status).toBe('success');
    const running = createSpender(deps).spend(callOf(world, 'two'));
    world.edge.failCalls(4);
    world.chain.failReads(2);
    expect((await running).status).toBe('success');
    expect(world.chain.landed).toHaveLength(2);
  });

  it('is not given up when the agent stops, and continues under the same key with a journal', async () => {
    const world = createSpendWorld();
    const store = createMemoryStore();
    const first = world.boot({ store });
    world.edge.holdBack = true;
    const running = createSpender(first.deps).spend(callOf(world));
    await firstPost(world);
    first.stop();
    await expect(running).rejects.toMatchObject({
      code: 'spend_unfinished',
      retryable: false,
      message: expect.stringContaining('can land until 2026-'),
    });
    expect(world.archive.all()[0]?.state.kind).toBe('released');
    world.edge.holdBack = false;
    world.edge.rows.clear();
    const receipt = await createSpender(world.boot({ store }).deps).spend(callOf(world));
    expect(receipt.status).toBe('success');
    expect(world.chain.landed).toHaveLength(1);
    expect(world.signer.signatures).toBe(1);
  });
});

describe('an agent that stops before anything left', () => {
  it('says that the same request may be sent again, and frees the notes', async () => {
    const world = createSpendWorld();
    const { deps, stop } = world.boot();
    const prove: typeof world.prover.prove = async (...args) => {
      stop();
      return world.prover.prove(...args);
    };
    await expect(
      createSpender({ ...deps, prover: { ...world.prover, prove } }).spend(callOf(world)),
    ).rejects.toMatchObject({ code: 'stopping', retryable: true });
    expect(world.edge.posts).toEqual([]);
    expect(await world.archive.listLocked()).toEqual(new Set());
  });
});

describe('an archive that was restored from a backup', () => {
  it.each(['archived', 'signed'] as const)(
    'and shows the spend as %s signs nothing again and finds the payment',
    async (kind) => {
      const world = createSpendWorld({ finalityBlocks: 30 });
      const store = createMemoryStore();
      const backup = new Map<string, string>();
      const point = kind === 'archived' ? 'signature.before-store' : 'release.before-store';
      const crashed = world.boot({
        store,
        crashAt(reached) {
          if (reached === point) {
            for (const [name, text] of world.archive.texts) {
              backup.set(name, text);
            }
          }
          if (reached === 'spend.posted') {
            throw new Error('crash');
          }
        },
      });
      await expect(createSpender(crashed.deps).spend(callOf(world))).rejects.toThrow('stopped at');
      for (const [name, text] of backup) {
        world.archive.texts.set(name, text);
      }
      const receipt = await createSpender(world.boot({ store }).deps).spend(callOf(world));
      expect(receipt.status).toBe('success');
      expect(world.signer.signatures).toBe(1);
      expect(world.chain.landed).toHaveLength(1);
    },
  );
});

describe('following', () => {
  it('leaves a spend of another pool open, because that pool says that no nullifier is used', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.edge.holdBack = true;
    const running = createSpender(deps).spend(callOf(world));
    void running.catch(() => undefined);
    await firstPost(world);
    world.clock.advanceSeconds(36_000);
    const { settings } = world.context;
    const moved = { ...world.context, settings: { ...settings, chainId: 1 } };
    expect(await followOnce({ ...deps, findChain: () => moved })).toEqual({
      open: 0,
      unroutable: 1,
    });
    expect((await world.archive.listLocked()).size).toBe(1);
    await running.catch(() => undefined);
  });
});

function otherRoot(): Hex32 {
  return fieldToHex(createEligibilityTree().root);
}

async function firstPost(world: ReturnType<typeof createSpendWorld>) {
  for (;;) {
    const [sent] = world.edge.posts;
    if (sent !== undefined) {
      return sent;
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
