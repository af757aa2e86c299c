// An approval that no block takes: replaced with higher fees after a time limit, three times, and within what an approval may cost.
import type { Hex } from '@pool/core';
import { Transaction } from 'ethers';
import { expect, it } from 'vitest';
import { createWorld, viewOf, type World } from '../fixtures/fake-world.ts';

type Sent = { readonly transaction: Transaction; readonly atMs: number };

/**
 * Runs a payment that needs an approval.
 * @param isTaken - whether a block takes a transaction
 * @returns its view, and each transaction with the time at which it was first sent
 */
async function runWith(world: World, isTaken: (transaction: Transaction) => boolean) {
  const sent = new Map<Hex, Sent>();
  const broadcast = async (raw: Hex): Promise<void> => {
    const transaction = Transaction.from(raw);
    sent.set(raw, sent.get(raw) ?? { transaction, atMs: world.clock.nowMs() });
    if (isTaken(transaction)) {
      await world.chain.broadcast(raw);
    }
  };
  const chain = new Proxy(world.chain, {
    get: (target, name) => (name === 'broadcast' ? broadcast : Reflect.get(target, name)),
  });
  const job = await world.accept();
  await world.run(job, undefined, { findChain: () => ({ ...world.context, chain }) });
  return { view: viewOf(job), sent: [...sent.values()] };
}

it('is replaced once its time is over: the same nonce and value, and higher fees', async () => {
  const world = await createWorld();
  const first = 2n * world.chain.baseFee + 1n;
  const { view, sent } = await runWith(world, ({ maxFeePerGas }) => (maxFeePerGas ?? 0n) > first);
  expect(view.state).toBe('done');
  const [one, two, ...others] = sent;
  expect(others).toEqual([]);
  expect(one?.transaction.maxFeePerGas).toBe(first);
  expect(two?.transaction.maxFeePerGas).toBe(first + first / 8n + 1n);
  expect(two?.transaction.nonce).toBe(one?.transaction.nonce);
  expect(two?.transaction.data).toBe(one?.transaction.data);
  const waitedMs = (two?.atMs ?? 0) - (one?.atMs ?? 0);
  expect(waitedMs).toBeGreaterThanOrEqual(20_000);
  expect(world.chain.approvals).toEqual([6_000n]);
});

it('is given up after three replacements, and nobody is paid', async () => {
  const world = await createWorld();
  const { view, sent } = await runWith(world, () => false);
  expect(view).toMatchObject({ state: 'failed', error: { code: 'approval_failed' } });
  // Then its allowance of zero, which is to replace it, is not mined either.
  const own = sent.filter(
    ({ transaction }) => BigInt(`0x${transaction.data.slice(-64)}`) === 6_000n,
  );
  expect(own).toHaveLength(4);
  expect(new Set(sent.map(({ transaction }) => transaction.nonce)).size).toBe(1);
  expect(world.chain.funds).toBe(0);
});

it('is not replaced where it would cost more than 0.1 of the coin', async () => {
  const world = await createWorld();
  // 60,000 gas for 1.6 * 10^12 wei each: an eighth more is above the limit.
  world.chain.baseFee = 800_000_000_000n;
  const { view, sent } = await runWith(world, () => false);
  expect(view).toMatchObject({ state: 'failed', error: { code: 'approval_failed' } });
  expect(sent).toHaveLength(1);
});
