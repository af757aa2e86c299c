// Approvals that are voted on, for several batches of one funder and with fees that rise (docs/decisions/0015).
import { parseHex32, Secret } from '@pool/core';
import { createLocalKeySigner } from '@pool/signers';
import { createKeyLock } from '@pool/wallet';
import { Transaction } from 'ethers';
import { expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';

/** Another amount for each batch. */
function pay(world: World, amount: string) {
  const [first] = world.createRequest().recipients;
  return { recipients: [{ ...first!, amount }] };
}

it('asks for one approval for each of eight batches of a funder', async () => {
  const world = await createWorld({ isVoting: true, finalityBlocks: 5 });
  const turns = createKeyLock();
  const keys = ['1', '2', '3', '4', '5', '6', '7', '8'];
  const jobs = await Promise.all(keys.map((key) => world.accept(key, pay(world, key))));
  // Whoever votes comes late, when each batch has asked for what it may ask for.
  let polls = 0;
  world.voting.policy = (kind) => {
    const isReady = jobs.every((job) => job.record().signature !== undefined);
    polls += isReady ? 1 : 0;
    return kind === 'token-approval' && polls < 200 ? 'wait' : 'approve';
  };
  await Promise.all(jobs.map((job) => world.run(job, undefined, { turns })));
  expect(jobs.map((job) => job.state())).toEqual(Array(8).fill('done'));
  expect(world.voting.countOf('token-approval')).toBe(8);
  expect(world.chain.funds).toBe(8);
});

it('asks for at most 2n − 1 permits for n batches of a funder', async () => {
  const world = await createWorld({ isVoting: true, permit: true, finalityBlocks: 5 });
  const turns = createKeyLock();
  const keys = ['1', '2', '3', '4', '5'];
  const jobs = await Promise.all(keys.map((key) => world.accept(key, pay(world, key))));
  // Whoever votes comes late: each batch that may ask for a permit meanwhile does.
  let reads = 0;
  let asked = 0;
  world.voting.policy = (kind) => {
    const count = world.voting.countOf('permit');
    reads = count > asked ? 0 : reads + 1;
    asked = Math.max(asked, count);
    return kind === 'permit' && reads < 100 ? 'wait' : 'approve';
  };
  await Promise.all(jobs.map((job) => world.run(job, undefined, { turns })));
  expect(jobs.map((job) => job.state())).toEqual(Array(5).fill('done'));
  expect(world.voting.countOf('permit')).toBe(9);
  expect(world.chain.funds).toBe(5);
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
  const [first, second, ...others] = approvalsOf(world);
  expect(others).toEqual([]);
  expect(second?.nonce).toBe(first?.nonce);
  expect(second?.maxFeePerGas).toBeGreaterThanOrEqual(world.chain.baseFee);
  expect(world.chain.approvals).toEqual([6_000n]);
});

/** Runs a payment whose approvals the provider sends, and of which the first ones revert. @returns how many it sent */
async function sendReverting(count: number) {
  const world = await createWorld({ isVoting: true });
  world.voting.policy = (kind) => (kind === 'token-approval' ? 'send' : 'approve');
  const hashes: string[] = [];
  world.voting.send = () => {
    const txHash = parseHex32(`0x${`0${hashes.length + 1}`.repeat(32)}`);
    world.chain.mineApproval(hashes.length < count ? 0n : 6_000n, txHash);
    hashes.push(txHash);
    return txHash;
  };
  const { chain } = world;
  const fetchReceipt: typeof chain.fetchReceipt = async (txHash) => {
    const receipt = await chain.fetchReceipt(txHash);
    const place = hashes.indexOf(txHash);
    return receipt === undefined
      ? undefined
      : { ...receipt, reverted: 0 <= place && place < count };
  };
  const proxied = new Proxy(chain, {
    get: (target, name) => (name === 'fetchReceipt' ? fetchReceipt : Reflect.get(target, name)),
  });
  const job = await world.accept();
  await world.run(job, undefined, { findChain: () => ({ ...world.context, chain: proxied }) });
  return { job, sent: hashes.length };
}

it('looks again after an approval that the provider sent has reverted', async () => {
  const { job, sent } = await sendReverting(1);
  expect(job.state()).toBe('done');
  expect(sent).toBe(2);
});

it('gives up after three approvals that the provider sent have reverted', async () => {
  const { job, sent } = await sendReverting(5);
  expect(job.record().error?.code).toBe('approval_failed');
  expect(sent).toBe(3);
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
  const turns = createKeyLock();
  const job = await world.accept('one');
  const other = await world.accept('two', pay(world, '7'));
  let isTakenBack = false;
  const running = world.run(job, undefined, { turns, voteLimitSeconds: 7_200 });
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
    { turns },
  );
  await until(() => other.record().stage === 'awaiting-turn');
  cancel(job);
  await until(() => job.record().abandoned !== undefined);
  world.voting.policy = () => 'approve';
  await Promise.all([running, next]);
  expect(isTakenBack).toBe(true);
  expect([job.record().error?.code, other.state()]).toEqual(['cancelled', 'done']);
});

/** The lock that approvals of the funder have in common, whatever their token. */
function accountOf(world: World): string {
  return ['approval', world.context.key, world.funder.address].join(' ');
}

it('asks for no approval while another token of the funder has one, and takes its turn then', async () => {
  const world = await createWorld({ isVoting: true, finalityBlocks: 5 });
  const turns = createKeyLock();
  const end = await turns.acquire(accountOf(world), new AbortController().signal);
  const job = await world.accept();
  const running = world.run(job, undefined, { turns });
  await until(() => job.record().stage === 'awaiting-turn');
  expect(job.record().signature).toBeDefined();
  expect(world.voting.countOf('token-approval')).toBe(0);
  let approvalsBefore: number | undefined;
  const third = turns.acquire(accountOf(world), new AbortController().signal).then((free) => {
    approvalsBefore = world.chain.approvals.length;
    free();
  });
  // The approval of the other token is mined.
  world.chain.funderNonce += 1;
  end();
  await Promise.all([running, third]);
  expect(job.state()).toBe('done');
  // After its wait the batch looks again, and keeps its place meanwhile.
  expect(approvalsBefore).toBe(1);
  expect(approvalsOf(world).map(({ nonce }) => nonce)).toEqual([1]);
});

it('is cancelled while it waits for the approval of another token', async () => {
  const world = await createWorld({ isVoting: true });
  const turns = createKeyLock();
  const end = await turns.acquire(accountOf(world), new AbortController().signal);
  const job = await world.accept();
  const running = world.run(job, undefined, { turns });
  await until(() => job.record().stage === 'awaiting-turn');
  cancel(job);
  await until(() => job.state() === 'failed');
  expect(job.record().error?.code).toBe('cancelled');
  expect(world.voting.countOf('token-approval')).toBe(0);
  end();
  await running;
  // Nobody is left in the queue.
  await until(() => !turns.isTaken(accountOf(world)));
});

it('lets another token have an approval as soon as its own is mined', async () => {
  const world = await createWorld({ isVoting: true, finalityBlocks: 30 });
  const turns = createKeyLock();
  world.voting.policy = (kind) => (kind === 'token-approval' ? 'wait' : 'approve');
  const job = await world.accept();
  const running = world.run(job, undefined, { turns });
  await until(() => world.voting.countOf('token-approval') === 1);
  expect(turns.isTaken(accountOf(world))).toBe(true);
  world.voting.policy = () => 'approve';
  await until(() => job.record().releasedAtMs !== undefined);
  await until(() => !turns.isTaken(accountOf(world)));
  expect(job.state()).toBe('submitted');
  await running;
  expect(job.state()).toBe('done');
});

it('sends a refused batch again once another token has its approval', async () => {
  const world = await createWorld({ isVoting: true });
  const turns = createKeyLock();
  let other: Promise<() => void> | undefined;
  const job = await world.accept();
  const running = world.run(
    job,
    (point) => {
      if (point === 'settling.released') {
        // The batch is refused, and its next approval finds another one underway.
        world.chain.allowance = 5n;
        other = turns.acquire(accountOf(world), new AbortController().signal);
      }
    },
    { turns },
  );
  await until(() => other !== undefined && job.record().stage === 'awaiting-approval');
  expect(world.voting.countOf('token-approval')).toBe(1);
  (await other)?.();
  await running;
  expect(job.state()).toBe('done');
  expect(world.voting.countOf('token-approval')).toBe(2);
});

function approvalsOf(world: World): Transaction[] {
  return [...world.voting.requests.values()].flatMap(({ request }) =>
    request.kind === 'token-approval'
      ? [Transaction.from(request.payload.unsignedTransaction)]
      : [],
  );
}

/** Lets the runs of this process go on until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn += 1) {
    await new Promise(setImmediate);
  }
  expect(isSo()).toBe(true);
}
