// The change of a holder's own spends without anybody's help. The platform of this world lists no note, and no test gives the sealed notes
// of a transaction to the agent: a relayer may have wrapped or scrambled them.
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from '../spend/perform-spend.ts';
import { deserializeSpend, serializeSpend } from './spend-archive.ts';
import { isOpen } from './spend-state.ts';

type World = ReturnType<typeof createSpendWorld>;

async function pay(world: World, amount: string): Promise<void> {
  const [payee] = world.payees;
  const body = { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount }] };
  const { deps } = world.boot();
  await createSpender(deps).spend({ operation: 'transfer', key: `k${amount}`, body });
}

/** Total, number of notes, largest. @param deps - of a process; a new one by default */
async function readBalance(world: World, deps = world.boot().deps) {
  const amounts = (await deps.notes.listSpendable(world.assetId)).map(({ amount }) => amount);
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  return [total, amounts.length, amounts.sort((one, other) => Number(other - one))[0]];
}

describe('the change of an own spend', () => {
  it('is in the balance and can be spent, although the platform hides it', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    expect(await readBalance(world)).toEqual([600n, 1, 600n]);
    await pay(world, '250');
    expect(await readBalance(world)).toEqual([350n, 1, 350n]);
    await pay(world, '100');
    expect(await readBalance(world)).toEqual([250n, 1, 250n]);
  });

  it('is found by a process that ran before the spend landed, and once it is final', async () => {
    const world = createSpendWorld({ amounts: [600n], finalityBlocks: 50 });
    const { deps } = world.boot();
    world.clock.advanceSeconds(60);
    expect(await readBalance(world, deps)).toEqual([600n, 1, 600n]);
    await pay(world, '250');
    expect(await readBalance(world, deps)).toEqual([350n, 1, 350n]);
  });

  it('is kept among the notes, once, and the spend is marked', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    await pay(world, '250');
    const spend = world.chain.landed[0];
    await readBalance(world);
    await readBalance(world);
    const kept = world.noteArchive.records.filter(({ leafIndex }) => leafIndex === 1);
    expect(kept.map(({ sealed, slot }) => [sealed, slot])).toEqual([
      [spend?.sealedNotes[0]?.sealed, 0],
    ]);
    expect(world.archive.all()[0]?.isChangeKept).toBe(true);
  });

  it('is found for a spend that an archive marks with another outcome, because a node lied', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    await pay(world, '250');
    for (const spend of world.archive.all()) {
      world.archive.texts.set(
        spend.outRoot,
        serializeSpend({ ...spend, state: { kind: 'expired' } }),
      );
    }
    expect(await readBalance(world)).toEqual([350n, 1, 350n]);
  });

  it('is found while nobody has stored the outcome', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    const [payee] = world.payees;
    const { deps } = world.boot({
      crashAt(point) {
        if (point === 'spend.posted') {
          throw new Error('crash');
        }
      },
    });
    const body = { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] };
    await expect(
      createSpender(deps).spend({ operation: 'transfer', key: 'k', body }),
    ).rejects.toThrow('stopped at');
    world.clock.advanceSeconds(60);
    expect(await readBalance(world)).toEqual([350n, 1, 350n]);
    expect(world.archive.all().map(({ state }) => isOpen(state))).toEqual([true]);
  });

  it('is found again if the mark cannot be written', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    await pay(world, '250');
    world.archive.failWrites(1);
    await expect(readBalance(world)).rejects.toThrow('disk full');
    expect(await readBalance(world)).toEqual([350n, 1, 350n]);
    expect(world.archive.all()[0]?.isChangeKept).toBe(true);
  });

  it('of a manifest that does not give the spend stops no other', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    await pay(world, '250');
    const [name = '', text = ''] = [...world.archive.texts].flat();
    const other = deserializeSpend(text.replaceAll(name, `0x${'12'.repeat(32)}`));
    world.archive.texts.set(other.outRoot, serializeSpend({ ...other, inputNullifiers: [] }));
    expect(await readBalance(world)).toEqual([350n, 1, 350n]);
    expect(world.archive.all().map(({ isChangeKept }) => isChangeKept)).toEqual([true, undefined]);
  });
});
