// Approvals that are voted on, for several batches of one funder and with fees that rise (docs/decisions/0061, §6).
import { parseHex32, Secret } from '@pool/core';
import { createLocalKeySigner } from '@pool/signers';
import { Transaction } from 'ethers';
import { expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import { createKeyLock } from './key-lock.ts';

/** Another amount for each batch. */
function pay(world: World, amount: string) {
  const [first] = world.createRequest().recipients;
  return { recipients: [{ ...first!, amount }] };
}

it('asks for one approval for each of eight batches of a funder', async () => {
  const world = await createWorld({ isVoting: true, finalityBlocks: 5 });
  const locks = createKeyLock();
  const keys = ['1', '2', '3', '4', '5', '6', '7', '8'];
  const jobs = await Promise.all(keys.map((key) => world.accept(key, pay(world, key))));
  // Whoever votes comes late, when each batch has asked for what it may ask for.
  let polls = 0;
  world.voting.policy = (kind) => {
    const isReady = jobs.every((job) => job.record().signature !== undefined);
    polls += isReady ? 1 : 0;
    return kind === 'token-approval' && polls < 200 ? 'wait' : 'approve';
  };
  await Promise.all(jobs.map((job) => world.run(job, undefined, { locks })));
  expect(jobs.map((job) => job.state())).toEqual(Array(8).fill('done'));
  expect(world.voting.countOf('token-approval')).toBe(8);
  expect(world.chain.funds).toBe(8);
});

it('replaces an approval whose fees the chain has left behind during its vote', async () => {
  const world = await createWorld({ isVoting: true });
  world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
  const job = await world.accept();
  await runWith(world, job, [
    [
      600,
      () => {
        world.chain.baseFee *= 10n;
        world.voting.policy = () => 'approve';
      },
    ],
  ]);
  expect(job.state()).toBe('done');
  const [first, second, ...others] = [...world.voting.requests.values()].flatMap(({ request }) =>
    request.kind === 'token-approval'
      ? [Transaction.from(request.payload.unsignedTransaction)]
      : [],
  );
  expect(others).toEqual([]);
  expect(second?.nonce).toBe(first?.nonce);
  expect(second?.maxFeePerGas).toBeGreaterThanOrEqual(world.chain.baseFee);
  expect(world.chain.approvals).toEqual([6_000n]);
});

it('looks again after an approval that the provider sent has reverted', async () => {
  const world = await createWorld({ isVoting: true });
  world.voting.policy = (kind) => (kind === 'token-approval' ? 'send' : 'approve');
  let sent = 0;
  world.voting.send = () => {
    sent += 1;
    const txHash = parseHex32(`0x${`0${sent}`.repeat(32)}`);
    world.chain.mineApproval(sent === 1 ? 0n : 6_000n, txHash);
    return txHash;
  };
  const { chain } = world;
  const reverting = {
    ...chain,
    fetchReceipt: async (txHash: Parameters<typeof chain.fetchReceipt>[0]) => {
      const receipt = await chain.fetchReceipt(txHash);
      const isFirst = txHash === parseHex32(`0x${'01'.repeat(32)}`);
      return receipt === undefined ? undefined : { ...receipt, reverted: isFirst };
    },
  };
  const proxied = new Proxy(chain, {
    get: (target, name) =>
      name === 'fetchReceipt' ? reverting.fetchReceipt : Reflect.get(target, name),
  });
  const job = await world.accept();
  await world.run(job, undefined, { findChain: () => ({ ...world.context, chain: proxied }) });
  expect(job.state()).toBe('done');
  expect(sent).toBe(2);
});

it('names the approval that may still be given when the funder was changed during its vote', async () => {
  const world = await createWorld({ isVoting: true });
  world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
  const job = await world.accept();
  const crashed = world.run(job, () => {
    if (world.voting.countOf('token-approval') === 1) {
      throw new Error('power cut');
    }
  });
  await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
  world.clock.advanceSeconds(200_000);
  const signer = createLocalKeySigner({ privateKey: new Secret(`0x${'43'.repeat(32)}`) });
  await world.run(job, undefined, { funder: await createFunder(signer) });
  expect(job.record().error?.message).toContain('may still be given');
  expect(job.record().error?.message).toContain(world.funder.address);
});

it('sends a refused batch again only once its whole allowance is there', async () => {
  const world = await createWorld({ isVoting: true, zeroFirst: true });
  let refused = 0;
  world.platform.beforeInclusion = () => {
    refused += 1;
    if (refused === 1) {
      world.chain.allowance = 5n;
    }
  };
  const job = await world.accept();
  await world.run(job);
  expect(job.state()).toBe('done');
  expect(world.chain.approvals).toEqual([6_000n, 0n, 6_000n]);
  expect(world.platform.posts).toBe(2);
});

it('takes a request back before another batch gets the lock', async () => {
  const world = await createWorld({ isVoting: true });
  world.voting.policy = (kind) => (kind === 'fund-authorization' ? 'approve' : 'wait');
  const locks = createKeyLock();
  const job = await world.accept('one');
  const other = await world.accept('two', pay(world, '7'));
  let isTakenBack = false;
  const running = world.run(job, undefined, { locks, voteLimitSeconds: 7_200 });
  await until(() => world.voting.countOf('token-approval') === 1);
  const next = world.run(
    other,
    (point) => {
      if (point === 'approval.signed') {
        isTakenBack = [...world.voting.requests.values()].some(
          ({ request, outcome }) =>
            request.kind === 'token-approval' && outcome?.state === 'refused',
        );
      }
    },
    { locks },
  );
  await until(() => other.record().stage === 'awaiting-turn');
  cancel(job);
  await until(() => job.record().abandoned !== undefined);
  world.voting.policy = () => 'approve';
  await Promise.all([running, next]);
  expect(isTakenBack).toBe(true);
  expect([job.record().error?.code, other.state()]).toEqual(['cancelled', 'done']);
});

/** Lets the runs of this process go on until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn += 1) {
    await new Promise(setImmediate);
  }
  expect(isSo()).toBe(true);
}
