// The stored form of a spend, and its erasure after retention.
import { bigintToHex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from '../spend/perform-spend.ts';
import { eraseExpiredSpends } from './erase-spends.ts';
import {
  changeSpendState,
  deserializeSpend,
  requireSecrets,
  serializeSpend,
} from './spend-archive.ts';

async function archiveOne(world: ReturnType<typeof createSpendWorld>) {
  const [payee] = world.payees;
  const body = { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '271' }] };
  const call = { operation: 'transfer', key: 'k', body } as const;
  const spender = createSpender(world.boot().deps);
  const receipt = await spender.spend(call);
  return { receipt, again: () => spender.spend(call) };
}

/** A sync, which keeps the change. */
async function keepChange(world: ReturnType<typeof createSpendWorld>): Promise<void> {
  await world.boot().deps.notes.listSpendable(world.assetId);
}

function isRead(): boolean {
  return true;
}

describe('an archived spend', () => {
  it('is read as it was written', async () => {
    const world = createSpendWorld();
    await archiveOne(world);
    const [text = ''] = world.archive.texts.values();
    expect(JSON.stringify(deserializeSpend(text))).toBe(text);
  });

  it.each(['', 'null', '{}', '{"version":2}', '{"version":1}', '[1'])(
    'is refused if the text is %j',
    (text) => {
      expect(() => deserializeSpend(text)).toThrow();
    },
  );

  it('cannot change to a state that does not follow', async () => {
    const world = createSpendWorld();
    await archiveOne(world);
    const [{ outRoot } = { outRoot: undefined }] = world.archive.all();
    expect(outRoot).toBeDefined();
    if (outRoot !== undefined) {
      await expect(
        changeSpendState(world.archive, outRoot, () => ({ kind: 'abandoned', code: 'x' })),
      ).rejects.toThrow('settled to abandoned');
    }
    expect(world.archive.all()[0]?.state.kind).toBe('settled');
  });
});

describe('retention', () => {
  it('erases payees, amounts and seed of a decided spend, and keeps its receipt', async () => {
    const world = createSpendWorld();
    const { receipt, again } = await archiveOne(world);
    await keepChange(world);
    const nowMs = world.clock.nowMs();
    expect(await eraseExpiredSpends(world.archive, 30, nowMs + 29 * 86_400_000, isRead)).toBe(0);
    expect(await eraseExpiredSpends(world.archive, 30, nowMs + 31 * 86_400_000, isRead)).toBe(1);
    const [text = ''] = world.archive.texts.values();
    for (const secret of ['seed', '271', world.payees[0].walletPub, world.holder.walletPub]) {
      expect(text).not.toContain(secret);
    }
    expect(await again()).toEqual(receipt);
    expect(() => requireSecrets(deserializeSpend(text))).toThrow('erased');
  });

  it('erases nothing of a spend whose change is not among the kept notes', async () => {
    const world = createSpendWorld();
    await archiveOne(world);
    const later = world.clock.nowMs() + 400 * 86_400_000;
    expect(await eraseExpiredSpends(world.archive, 30, later, isRead)).toBe(0);
    expect(world.archive.all()[0]?.secrets).toBeDefined();
    await keepChange(world);
    expect(await eraseExpiredSpends(world.archive, 30, later, isRead)).toBe(1);
  });

  it('erases nothing of a spend that expired until the chain was read after its deadline', async () => {
    const world = createSpendWorld();
    world.edge.holdBack = true;
    const [payee] = world.payees;
    const body = { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '271' }] };
    await expect(
      createSpender(world.boot().deps).spend({ operation: 'transfer', key: 'k', body }),
    ).rejects.toMatchObject({ code: 'settlement_expired' });
    const later = world.clock.nowMs() + 31 * 86_400_000;
    expect(await eraseExpiredSpends(world.archive, 30, later, () => false)).toBe(0);
    expect(await eraseExpiredSpends(world.archive, 30, later, isRead)).toBe(1);
  });

  it('goes on after a spend that cannot be opened, and reports it once', async () => {
    const world = createSpendWorld();
    await archiveOne(world);
    await keepChange(world);
    const [good] = world.archive.all();
    if (good === undefined) {
      throw new Error('there is no spend');
    }
    // More than one list, and before the good one: their manifests do not give their root.
    const names = Array.from({ length: 120 }, (_, index) => bigintToHex32(BigInt(index + 1)));
    world.archive.texts.clear();
    for (const outRoot of [...names, good.outRoot]) {
      world.archive.texts.set(outRoot, serializeSpend({ ...good, outRoot }));
    }
    const later = world.clock.nowMs() + 31 * 86_400_000;
    const kept: string[] = [];
    const reported: string[] = [];
    const erased = await eraseExpiredSpends(
      world.archive,
      30,
      later,
      isRead,
      async ({ root }) => void kept.push(root),
      (outRoot) => void reported.push(outRoot),
    );
    expect([erased, kept]).toEqual([1, [good.outRoot]]);
    expect(reported).toEqual(names);
    const left = world.archive.all().filter((spend) => spend.secrets !== undefined);
    expect(left.map(({ outRoot }) => outRoot)).toEqual(reported);
  });

  it('ends the pass if what it keeps cannot be stored', async () => {
    const world = createSpendWorld();
    await archiveOne(world);
    await keepChange(world);
    const later = world.clock.nowMs() + 31 * 86_400_000;
    const fail = (): never => {
      throw new Error('disk full');
    };
    await expect(eraseExpiredSpends(world.archive, 30, later, isRead, fail)).rejects.toThrow(
      'disk full',
    );
    expect(world.archive.all()[0]?.secrets).toBeDefined();
  });

  it('erases nothing of a spend that the chain has not decided', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot({
      crashAt(point) {
        if (point === 'spend.posted') {
          throw new Error('crash');
        }
      },
    });
    const body = { token: 'USDC', amount: '271' };
    await expect(createSpender(deps).spend({ operation: 'send', key: 'k', body })).rejects.toThrow(
      'stopped at',
    );
    const later = world.clock.nowMs() + 90 * 86_400_000;
    expect(await eraseExpiredSpends(world.archive, 30, later, isRead)).toBe(0);
    expect(world.archive.all()[0]?.secrets).toBeDefined();
  });
});
