// A contract wallet pays (ERC-1271): the batch waits for the signatures of its owners and for its own allowance, and what counts is the
// answer of the contract. The contract is fake here; a real one is in apps/sandbox.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContractSignature, ContractVerdict } from '@pool/contracts';
import type { Hex } from '@pool/core';
import type { ReleaseEntry } from '@pool/policy';
import { computeSafeMessageHash, createContractWalletSigner } from '@pool/signers';
import { createKeyLock } from '@pool/wallet';
import { afterEach, expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, type FakeJob } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import {
  createOwnersDesk,
  listOwnersRequests,
  type OwnersOffice,
  storeOwnersSignature,
} from '../releases/owners-desk.ts';
import { openReleaseLog, type ReleaseLog } from '../releases/release-log.ts';

const logs: ReleaseLog[] = [];
afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

const first: Hex = `0x${'11'.repeat(130)}`;
const second: Hex = `0x${'22'.repeat(130)}`;

async function setUp() {
  const world = await createWorld();
  const home = mkdtempSync(join(tmpdir(), 'owners-'));
  const log = await openReleaseLog({ home, jobs: { url: 'memory:' } });
  logs.push(log);
  /** What the contract accepts now, or that there is none. */
  const contract: { accepts: readonly Hex[]; exists: boolean; asked: ContractSignature[] } = {
    ...{ accepts: [first], exists: true, asked: [] },
  };
  const chain = {
    async checkContractSignature(subject: ContractSignature): Promise<ContractVerdict> {
      contract.asked.push(subject);
      const verdict = contract.accepts.includes(subject.signature) ? 'valid' : 'invalid';
      return contract.exists ? verdict : 'no-contract';
    },
    fetchOwners: async () => undefined,
  };
  const { settings } = world.context;
  /** Of jobs that have ended, by key. */
  const ended = new Set<string>();
  const place: OwnersOffice = {
    store: {
      listNames: async () => [...ended].map((key) => ({ scope: 'any', key })),
      get: async () => ({ state: 'done' }) as never,
    },
    openLog: async () => log,
    chains: new Map([['anvil', { settings, chain }]]),
    nowMs: world.clock.nowMs,
  };
  const turns = createKeyLock();
  const { address } = world.funder;
  const owners = createOwnersDesk(place);
  const funder = await createFunder(createContractWalletSigner({ address, owners }));
  /** A run during which something happens, by seconds from now. */
  const run = (job: FakeJob, plan: Parameters<typeof runWith>[2] = []) =>
    runWith(world, job, plan, { funder, turns });
  const allow = (): void => {
    world.chain.allowance = 6_000n;
  };
  const store = (signature: Hex) => storeOwnersSignature(place, { signature }, 'loopback');
  return { world, place, contract, log, run, allow, store, ended };
}

it('waits for its owners and its own allowance, and asks for neither permit nor approval', async () => {
  const { world, run, allow, store, log, contract } = await setUp();
  const job = await world.accept();
  const events = await run(job, [
    [60, () => expect(store(second)).rejects.toMatchObject({ code: 'invalid_release' })],
    [120, () => store(first)],
    [180, () => store(first)],
    [600, allow],
  ]);
  expect(job.state()).toBe('done');
  expect(world.chain.funds).toBe(1);
  expect(events).toContainEqual({
    ...{ kind: 'retry', stage: 'approving-allowance', code: 'allowance_outside' },
  });
  const entries = await log.listSince();
  expect(entries.map(({ event }) => event)).toEqual(['owners-asked', 'owners-signed']);
  const [{ digest } = { digest: '' }] = contract.asked;
  expect(contract.asked.every((one) => one.digest === digest)).toBe(true);
});

it('does not use signatures that the contract no longer accepts, and waits for new ones', async () => {
  const { world, run, allow, store, contract } = await setUp();
  allow();
  const job = await world.accept();
  const changed = async (): Promise<void> => {
    await store(first);
    contract.accepts = [second];
  };
  const events = await run(job, [
    [60, changed],
    [3_600, () => expect(world.chain.funds).toBe(0)],
    [3_600, () => expect(store(first)).rejects.toMatchObject({ code: 'invalid_release' })],
    [3_700, () => store(second)],
  ]);
  expect(events).toContainEqual({
    ...{ kind: 'retry', stage: 'awaiting-approval', code: 'signature_rejected' },
  });
  expect(job.state()).toBe('done');
  expect(world.chain.funds).toBe(1);
});

it('asks for nothing more once the job has ended, which the log does not say without a policy', async () => {
  const { world, run, allow, store, place, ended } = await setUp();
  allow();
  const job = await world.accept();
  await run(job, [[60, () => store(first)]]);
  expect(job.state()).toBe('done');
  expect(await listOwnersRequests(place)).toMatchObject([{ state: 'signed' }]);
  expect(await listOwnersRequests(place, ['run-2', 'run-1'])).toHaveLength(1);
  ended.add('run-1');
  expect(await listOwnersRequests(place)).toEqual([]);
  await expect(store(first)).rejects.toThrow(/nothing waits for the owners/);
});

it('fails before it asks anybody if there is no contract at the address', async () => {
  const { world, run, contract, log } = await setUp();
  contract.exists = false;
  const job = await world.accept();
  await run(job);
  expect(job.record().error?.code).toBe('signature_rejected');
  expect(await log.listSince()).toEqual([]);
});

it('does not count signatures that come after the job was cancelled', async () => {
  const { world, run, allow, store, place } = await setUp();
  allow();
  const job = await world.accept();
  await run(job, [[60, () => cancel(job)]]);
  expect(job.record().error?.code).toBe('cancelled');
  expect(await listOwnersRequests(place)).toEqual([]);
  await expect(store(first)).rejects.toMatchObject({
    message: expect.stringContaining('nothing waits for the owners'),
  });
  expect(world.chain.funds).toBe(0);
});

it('does not count signatures that are imported while the job is cancelled', async () => {
  const { world, run, allow, store, place } = await setUp();
  allow();
  const job = await world.accept();
  const { chain } = place.chains.get('anvil') ?? {};
  const ask = chain?.checkContractSignature;
  await run(job, [
    [
      60,
      async () => {
        // The contract answers slowly, and the request is withdrawn meanwhile.
        Object.assign(chain ?? {}, {
          async checkContractSignature(subject: ContractSignature) {
            const [view] = await listOwnersRequests(place);
            if (view !== undefined) await createOwnersDesk(place).withdraw(view.request);
            return ask?.(subject);
          },
        });
        await expect(store(first)).rejects.toMatchObject({
          message: expect.stringContaining('has withdrawn the request'),
        });
      },
    ],
  ]);
  expect(job.record().error?.code).toBe('signer_refused');
  expect(world.chain.funds).toBe(0);
});

it('is not paid without the allowance of the wallet, and says which call is missing', async () => {
  const { world, run, store } = await setUp();
  const job = await world.accept();
  await run(job, [[60, () => store(first)]]).catch(() => undefined);
  expect(world.chain.funds).toBe(0);
  expect(job.record().error).toMatchObject({
    code: 'signer_expired',
    message: expect.stringMatching(/allowance_outside.*value 0, data 0x095ea7b3/),
  });
});

it('lets another batch pass while it waits for the allowance of the wallet', async () => {
  const { world, run, allow, place } = await setUp();
  world.chain.allowance = 1_000n;
  const [holder] = world.holders;
  const recipients = [{ recipientAddress: holder?.address ?? '', amount: '1000' }];
  const large = await world.accept('large');
  const small = await world.accept('small', { recipients });
  const signAll = async (): Promise<void> => {
    for (const { request } of await listOwnersRequests(place)) {
      const messageHash = computeSafeMessageHash(31337, request.wallet, request.digest);
      await storeOwnersSignature(place, { messageHash, signature: first }, 'loopback');
    }
  };
  const running = run(large, [
    [60, signAll],
    [4_000, allow],
  ]);
  await run(small, [[1_800, signAll]]);
  expect(small.state()).toBe('done');
  expect(large.state()).toBe('submitted');
  await running;
  expect(large.state()).toBe('done');
  expect(world.chain.funds).toBe(2);
});

it.each([
  ['the request', 'owners-asked', '"count":3', '"count":4'],
  ['its document', 'owners-asked', '"primaryType"', '"primary"'],
  ['the types of its document', 'owners-asked', '"type":"address"', '"type":"adress"'],
  ['the signatures', 'owners-signed', '"signature":"0x', '"signature":"'],
  ['the withdrawal', 'owners-withdrawn', '{', ''],
] as const)(
  'signs nothing while %s in the log is damaged, and goes on after that',
  async (...row) => {
    const [, damaged, from, to] = row;
    const { world, run, allow, store, place, log } = await setUp();
    allow();
    const job = await world.accept();
    const whole = { listOf: log.listOf, listSince: log.listSince };
    const damage = (entry: ReleaseEntry): ReleaseEntry =>
      entry.event === damaged
        ? { ...entry, statement: entry.statement?.replace(from, to) ?? '' }
        : entry;
    const breakLog = async (): Promise<void> => {
      const [view] = await listOwnersRequests(place);
      if (view !== undefined && damaged === 'owners-withdrawn') {
        await createOwnersDesk(place).withdraw(view.request);
      } else {
        await store(first);
      }
      Object.assign(log, {
        listOf: async (key: string) => (await whole.listOf(key)).map(damage),
        listSince: async () => (await whole.listSince()).map(damage),
      });
    };
    const look = async (): Promise<void> => {
      expect(world.chain.funds).toBe(0);
      for (const read of [listOwnersRequests(place), store(first)]) {
        await expect(read).rejects.toMatchObject({
          code: 'store_damaged',
          message: expect.stringMatching(
            /entry \d of the release log \(owners-[a-z]+, payment run-1\) is damaged.*restore the log/,
          ),
        });
      }
      // The page of another pay run is still shown.
      expect(await listOwnersRequests(place, ['run-2'])).toEqual([]);
      Object.assign(log, whole);
    };
    const events = await run(job, [
      [60, breakLog],
      [600, look],
    ]);
    const retry = { kind: 'retry', stage: 'awaiting-approval', code: 'store_damaged' };
    expect(events).toContainEqual(expect.objectContaining(retry));
    const isWithdrawn = damaged === 'owners-withdrawn';
    expect(job.record().error?.code).toBe(isWithdrawn ? 'signer_refused' : undefined);
    expect(world.chain.funds).toBe(isWithdrawn ? 0 : 1);
  },
);
