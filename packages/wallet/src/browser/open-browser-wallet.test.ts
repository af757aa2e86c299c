// The wallet of a browser, against fakes that keep real notes, paths and signatures: a tab that is closed at every point of a spend, two
// tabs at once, and what the next visit shows.
import 'fake-indexeddb/auto';
import { parseField } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { type SpendFaultPoint, spendFaultPoints } from '../archive/spend-state.ts';
import { createAccount } from '../fixtures/browser-store.ts';
import { createSpendWorld, vault } from '../fixtures/spend-world.ts';

type World = ReturnType<typeof createSpendWorld>;

const withdrawal = { token: 'USDC', amount: 250n, to: vault };

describe('the wallet of a browser', () => {
  it('withdraws, and shows balance and history at the next visit', async () => {
    const world = createSpendWorld();
    const { openTab, minted, refused } = await createAccount(world);
    const first = await openTab();
    expect(await first.readBalance('USDC')).toMatchObject({
      ...{ total: 1_100n, spendable: 1_100n, notes: 3 },
    });
    expect(await first.planWithdrawal(withdrawal)).toMatchObject({
      ...{ status: 'dry-run', changeAmount: '50' },
    });
    expect([world.prover.proofs, world.edge.posts.length]).toEqual([0, 0]);
    const receipt = await first.withdraw(withdrawal, { key: 'one' });
    expect(receipt).toMatchObject({ status: 'success', changeAmount: '50' });
    expect(world.edge.posts.map(({ spend }) => [spend.withdrawAmount, spend.recipient])).toEqual([
      ['250', vault],
    ]);
    await first.close();

    const again = await openTab();
    expect(await again.readBalance('USDC')).toMatchObject({ total: 850n, spendable: 850n });
    expect((await again.readHistory({ token: 'USDC' })).entries.map(({ kind }) => kind)).toEqual([
      ...['received', 'received', 'received', 'send'],
    ]);
    expect(await again.withdraw(withdrawal, { key: 'one' })).toEqual(receipt);
    expect(world.chain.landed).toHaveLength(1);
    expect(minted).toEqual(['holder.read', 'holder.send']);
    // A key that was revoked is made again.
    refused.add('holder.read 1');
    await again.readBalance('USDC');
    expect(minted).toEqual(['holder.read', 'holder.send', 'holder.read']);
  });

  it.each(spendFaultPoints)('pays once after a tab that was closed at %s', async (crashAt) => {
    const world = createSpendWorld();
    const { openTab } = await createAccount(world);
    const first = await openTab({ crashAt });
    await first.readBalance('USDC');
    await expect(first.withdraw(withdrawal, { key: 'one' })).rejects.toThrow('stopped at');
    const again = await openTab();
    await again.readBalance('USDC');
    expect(await again.withdraw(withdrawal, { key: 'one' })).toMatchObject({ status: 'success' });
    expect(world.chain.landed).toHaveLength(1);
    expect(await again.readBalance('USDC')).toMatchObject({ total: 850n, spendable: 850n });
  });

  it('never spends one note in two tabs', async () => {
    const world = createSpendWorld();
    const { openTab } = await createAccount(world);
    const [one, other] = [await openTab(), await openTab()];
    await Promise.all([one.readBalance('USDC'), other.readBalance('USDC')]);
    const receipts = await Promise.all([
      one.withdraw({ ...withdrawal, amount: 600n }, { key: 'one' }),
      other.withdraw({ ...withdrawal, amount: 500n }, { key: 'other' }),
    ]);
    expect(receipts.map(({ status }) => status)).toEqual(['success', 'success']);
    const used = world.chain.landed.flatMap(({ spend }) => spend.nullifiers);
    expect(new Set(used).size).toBe(used.length);
    expect(await one.readBalance('USDC')).toMatchObject({ total: 0n });
    expect(await other.readBalance('USDC')).toMatchObject({ total: 0n });
  });

  it('leaves a spend alone that another tab still performs', async () => {
    const world = createSpendWorld();
    const { openTab } = await createAccount(world);
    const [reached, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = await openTab({
      async onPoint(point) {
        if (point !== 'archive.after-store') return;
        reached.resolve();
        await resume.promise;
      },
    });
    const paid = first.withdraw(withdrawal, { key: 'one' });
    await reached.promise;
    const other = await openTab();
    await other.looked;
    expect(await other.readBalance('USDC')).toMatchObject({ total: 1_100n, spendable: 800n });
    resume.resolve();
    expect(await paid).toMatchObject({ status: 'success' });
    expect(world.chain.landed).toHaveLength(1);
  });

  it('asks the platform before it adds a contact', async () => {
    const { openTab, minted } = await createAccount(createSpendWorld());
    const { contacts } = await openTab();
    const { walletPub } = createFakeHolder(9);
    await expect(contacts.add('ben', walletPub)).rejects.toMatchObject({
      code: 'unregistered-recipient',
    });
    expect(await contacts.list()).toEqual([]);
    expect(minted).toEqual(['edge']);
  });

  it('pays a contact, with paths that one key of the account asks the platform for', async () => {
    const world = createSpendWorld();
    const { openTab, minted, refused } = await createAccount(world);
    const [ben] = world.payees;
    const wallet = await openTab();
    await wallet.contacts.add('ben', ben.walletPub);
    const recipients = [{ walletPub: await wallet.contacts.find('ben'), amount: 250n }];
    await wallet.transfer({ token: 'USDC', recipients }, { key: 'one' });
    const again = await openTab();
    await again.transfer({ token: 'USDC', recipients }, { key: 'two' });
    expect(world.receivedBy(ben)).toBe(500n);
    expect(await again.readBalance('USDC')).toMatchObject({ total: 600n, spendable: 600n });
    expect(minted).toEqual(['edge', 'holder.read', 'holder.transfer']);
    refused.add('holder.transfer 3');
    await again.transfer({ token: 'USDC', recipients }, { key: 'three' });
    expect(minted.slice(3)).toEqual(['holder.transfer']);
  });

  it('continues a withdrawal that was not sent and holds every note', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    const { openTab } = await createAccount(world);
    const first = await openTab({ crashAt: 'release.after-store' });
    const { key } = await first.chooseKey(withdrawal);
    await expect(first.withdraw(withdrawal, { key })).rejects.toThrow('stopped at');
    const again = await openTab();
    expect(await again.planWithdrawal(withdrawal)).toMatchObject({ changeAmount: '350' });
    await expect(again.planWithdrawal({ ...withdrawal, amount: 1n })).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    await again.withdraw(withdrawal, await again.chooseKey(withdrawal));
    expect(world.chain.landed).toHaveLength(1);
    expect(await again.readBalance('USDC')).toMatchObject({ total: 350n, spendable: 350n });
  });

  describe('the key of a payment', () => {
    async function begin(world: World, crashAt?: SpendFaultPoint) {
      const { openTab } = await createAccount(world);
      const [{ walletPub }] = world.payees;
      const payment = { token: 'USDC', recipients: [{ walletPub, amount: 250n }] };
      const first = await openTab({ crashAt });
      const { key } = await first.chooseKey(payment);
      if (crashAt !== undefined) {
        await expect(first.transfer(payment, { key })).rejects.toThrow('stopped at');
      }
      return { openTab, payment, first, key };
    }

    it('stays while the chain has not decided, and says what it continues', async () => {
      const world = createSpendWorld();
      const { openTab, payment, key } = await begin(world, 'release.after-store');
      const again = await openTab();
      await again.looked;
      expect((await again.chooseKey({ ...payment, token: 'EURC' })).key).not.toBe(key);
      const earlier = { state: 'underway', atMs: expect.any(Number) };
      expect(await again.chooseKey(payment)).toEqual({ key, earlier });
      await again.transfer(payment, { key });
      expect(world.chain.landed).toHaveLength(1);
    });

    it('is another one after somebody else read that it was paid, which is said until it is paid again', async () => {
      const world = createSpendWorld();
      const { openTab, payment, key } = await begin(world, 'spend.posted');
      world.clock.advanceSeconds(60);
      const again = await openTab();
      await again.looked;
      const next = await again.chooseKey(payment);
      const earlier = { state: 'settled', atMs: expect.any(Number) };
      expect(next).toEqual({ key: expect.not.stringMatching(key), earlier });
      expect(await (await openTab()).chooseKey(payment)).toEqual(next);
      expect(await again.transfer(payment, next)).toMatchObject({ status: 'success' });
      expect(world.chain.landed).toHaveLength(2);
      const last = await again.chooseKey(payment);
      expect([key, next.key]).not.toContain(last.key);
      expect(last.earlier?.atMs).toBeGreaterThan(next.earlier?.atMs ?? Infinity);
    });

    it('is another one after a spend that ended without paying', async () => {
      const world = createSpendWorld();
      world.edge.holdBack = true;
      const { openTab, payment, key } = await begin(world, 'spend.posted');
      world.clock.advanceSeconds(2_000);
      const again = await openTab();
      await expect(again.transfer(payment, { key })).rejects.toMatchObject({
        code: 'settlement_expired',
      });
      const next = await again.chooseKey(payment);
      expect(next).toEqual({ key: expect.not.stringMatching(key), earlier: undefined });
      world.edge.holdBack = false;
      expect(await again.transfer(payment, next)).toMatchObject({ status: 'success' });
      expect(world.chain.landed).toHaveLength(1);
    });

    it('stays after a spend of which nothing left', async () => {
      const { openTab, payment, key } = await begin(createSpendWorld(), 'proof.made');
      const again = await openTab();
      await again.looked;
      expect(await again.chooseKey(payment)).toEqual({ key, earlier: undefined });
    });

    it('stays for a day after the last look, and after the payment began', async () => {
      const world = createSpendWorld();
      const { openTab, payment, first, key } = await begin(world);
      for (let look = 1; look <= 2; look += 1) {
        world.clock.advanceSeconds(86_399);
        expect((await first.chooseKey(payment)).key).toBe(key);
      }
      world.clock.advanceSeconds(86_399);
      await first.transfer(payment, { key });
      world.clock.advanceSeconds(86_000);
      const again = await openTab();
      expect((await again.chooseKey(payment)).earlier).toMatchObject({ state: 'settled' });
      world.clock.advanceSeconds(86_400);
      expect((await again.chooseKey(payment)).earlier).toBeUndefined();
    });
  });

  it('makes no transfer without the platform', async () => {
    const { openTab } = await createAccount(createSpendWorld());
    const wallet = await openTab({ gasKey: `0x${'11'.repeat(32)}` });
    const recipients = [{ walletPub: '0x02' as never, amount: 1n }];
    await expect(
      wallet.transfer({ token: 'USDC', recipients }, { key: 'one' }),
    ).rejects.toMatchObject({ code: 'unregistered-recipient' });
  });
});

describe('the exit of a browser', () => {
  const stranger = `0x${'11'.repeat(32)}`;

  it('withdraws with seed, notes and chain alone, and says before what it costs and publishes', async () => {
    const world = createSpendWorld();
    const { openTab, minted } = await createAccount(world);
    const { address, wallet: own } = world.holder;
    const first = await openTab();
    await first.readBalance('USDC');
    await first.close();
    const exit = await openTab({ gasKey: own.privateKey });
    expect(await exit.readBalance('USDC')).toMatchObject({ total: 1_100n, notes: 3 });
    const plan = await exit.planExit({ token: 'USDC', amount: 250n });
    expect(plan).toMatchObject({
      receipt: { status: 'dry-run', changeAmount: '50' },
      gas: { from: address, balanceWei: 7n, expectedWei: 5n, capWei: 10n ** 16n },
      revealed: { sender: address, recipient: address, token: 'USDC', amount: 250n },
    });
    expect([world.prover.proofs, world.edge.posts.length]).toEqual([0, 0]);
    expect(await exit.withdraw({ token: 'USDC', amount: 250n }, { key: 'exit' })).toMatchObject({
      status: 'success',
    });
    expect(world.chain.landed.map(({ spend }) => spend.recipient)).toEqual([address]);
    expect(await exit.readBalance('USDC')).toMatchObject({ total: 850n, spendable: 850n });
    expect(minted).toEqual(['holder.read']);
  });

  it.each(spendFaultPoints)('pays once what a tab began that was closed at %s', async (crashAt) => {
    const world = createSpendWorld();
    const { openTab } = await createAccount(world);
    const first = await openTab({ crashAt });
    await first.readBalance('USDC');
    await expect(first.withdraw(withdrawal, { key: 'one' })).rejects.toThrow('stopped at');
    const exit = await openTab({ gasKey: stranger });
    expect(await exit.withdraw(withdrawal, { key: 'one' })).toMatchObject({ status: 'success' });
    expect(world.chain.landed).toHaveLength(1);
    expect(await exit.readBalance('USDC')).toMatchObject({ total: 850n, spendable: 850n });
  });

  it('takes notes of another device, and keeps them', async () => {
    const world = createSpendWorld();
    const first = await (await createAccount(world)).openTab();
    await first.readBalance('USDC');
    const { notes } = await first.exportNotes();
    const { openTab } = await createAccount(world);
    const exit = await openTab({ gasKey: stranger });
    expect(await exit.readBalance('USDC')).toMatchObject({ total: 0n });
    const offered = notes.map(({ commitment: hex, sealed }) => ({
      commitment: parseField(hex),
      sealed,
    }));
    expect(await exit.importNotes(offered)).toEqual(['accepted', 'accepted', 'accepted']);
    const again = await openTab({ gasKey: stranger });
    expect(await again.withdraw(withdrawal, { key: 'one' })).toMatchObject({ status: 'success' });
  });

  it('does not publish that the account pays another address: its own key withdraws to itself', async () => {
    const world = createSpendWorld();
    const { openTab } = await createAccount(world);
    const { privateKey } = world.holder.wallet;
    const first = await openTab();
    await first.readBalance('USDC');
    const exit = await openTab({ gasKey: privateKey });
    const refusal = {
      code: 'gas_key_refused',
      message: expect.stringContaining('pay the gas from another account'),
    };
    await expect(exit.planExit(withdrawal)).rejects.toMatchObject(refusal);
    await expect(exit.withdraw(withdrawal, { key: 'one' })).rejects.toMatchObject(refusal);
    expect(world.edge.posts).toEqual([]);
    const other = await openTab({ gasKey: stranger });
    expect((await other.planExit(withdrawal)).revealed).toMatchObject({ recipient: vault });
  });

  it('is not what a wallet of the platform does', async () => {
    const { openTab } = await createAccount(createSpendWorld());
    const wallet = await openTab();
    await expect(wallet.planExit(withdrawal)).rejects.toMatchObject({ code: 'gas_key_refused' });
  });
});
