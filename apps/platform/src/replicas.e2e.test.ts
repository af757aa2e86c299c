/**
 * Two platforms and two gates as real processes on one PostgreSQL server. The leaders are killed in the middle of a publication and of a
 * settlement, while the chain stands still: the others finish, and the chain counts one transaction for each nonce.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createEdgeClient, type SessionClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder, waitUntilReady } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBalancer } from './fixtures/balancer.ts';
import {
  openPostgresServices,
  type PostgresServices,
  type RunningService,
} from './fixtures/postgres-services.ts';

type Role = 'publisher' | 'relayer' | 'indexer';

/** The terms that a process has begun to lead. */
function termsOf({ process }: RunningService): { role: string | undefined; epoch: number }[] {
  const found = process.output().matchAll(/"role":"(\w+)[^"]*","epoch":([0-9]+)/g);
  return [...found].map(([, role, epoch]) => ({ role, epoch: Number(epoch) }));
}

/** Who has begun the newest term of a role. A process that stands still for seconds loses its roles, and may get them again. */
function leaderOf(role: Role, services: readonly RunningService[]): RunningService | undefined {
  const newest = (service: RunningService): number =>
    Math.max(0, ...termsOf(service).map((term) => (term.role === role ? term.epoch : 0)));
  return services.filter(newest).toSorted((a, b) => newest(b) - newest(a))[0];
}

async function leads(service: RunningService, roles: number): Promise<RunningService> {
  await waitUntilReady(service.process, () =>
    Promise.resolve(termsOf(service).length >= roles || undefined),
  );
  return service;
}

/** Fifty requests of an address may come at once. */
const limited = { PLATFORM_RATE_ADDRESS: '5' };

describe('two platforms and two gates on one database', () => {
  let services: PostgresServices;
  let gates: RunningService[];
  let platforms: RunningService[];
  let holders: TestHolder[];
  let session: SessionClient;
  let requests = 0;

  beforeAll(async () => {
    services = await openPostgresServices();
    const first = await leads(await services.startGate('gate-1'), 1);
    gates = [first, await services.startGate('gate-2')];
    // The gate that follows, so that what it stores is published by the other one.
    const url = at(gates, 1).url;
    platforms = [await leads(await services.startPlatform(url, 'platform-1', limited), 2)];
    platforms.push(await services.startPlatform(url, 'platform-2', limited));
    holders = await Promise.all(['a', 'b'].map(createTestHolder));
  });
  afterAll(() => services.stop());

  /** Every request goes to the other platform than the one before. */
  const nextUrl = () => {
    requests += 1;
    return at(platforms, requests % platforms.length).url;
  };
  const stopMining = () => services.chain.provider.send('evm_setIntervalMining', [0]);
  const mineAgain = () => services.chain.provider.send('evm_setIntervalMining', [1]);
  /** Of the two platforms. */
  const rolesNow = (role: Role) => {
    const leader = leaderOf(role, platforms);
    const follower = platforms.find((platform) => platform !== leader);
    if (leader === undefined || follower === undefined) throw new Error('nobody leads');
    return { leader, follower };
  };
  /** How many transactions of an account the chain has executed. */
  const countSent = (role: 'relayer' | 'gate') =>
    services.chain.provider.getTransactionCount(services.chain.wallet(role).address);

  it('finish a publication whose gate is killed before its transaction is mined, and send nothing twice', async () => {
    await stopMining();
    const enrolling = Promise.all(holders.map((holder) => services.enrol(holder, nextUrl)));
    const select = 'select nonce, state from publications order by id';
    await expect.poll(() => services.askGate(select)).toEqual([{ nonce: 0, state: 'open' }]);
    const findLeader = () => leaderOf('publisher', gates)?.process.name;
    expect(findLeader()).toBe('gate-1');
    await at(gates, 0).process.kill();
    await expect.poll(findLeader).toBe('gate-2');
    await mineAgain();
    const [opened] = await enrolling;
    if (opened === undefined) throw new Error('no session');
    session = opened;
    const stored = await services.askGate(select);
    expect(stored).toEqual(stored.map((_, nonce) => ({ nonce, state: 'final' })));
    expect(await countSent('gate')).toBe(stored.length);
    expect((await services.readerAt(at(gates, 1).url).root()).wallets).toBe(2);
  });

  it('share sessions and keys: what one answers, the other one knows', async () => {
    const minted = await session.mintKey('disburse', 'agent');
    expect((await session.listKeys()).map(({ id }) => id)).toEqual([minted.id]);
    await session.revokeKey(minted.id);
    expect((await session.listKeys()).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  it('answer a holder from an index that has the newest final block, though another process makes it', async () => {
    const { provider } = services.chain;
    const { apiKey } = await session.mintKey('holder.read', 'agent');
    const [token] = Object.keys(services.chain.settings.tokens);
    /** Asks the follower while the leader stands still. */
    async function ask() {
      const { leader, follower } = rolesNow('indexer');
      process.kill(leader.process.identity.pid, 'SIGSTOP');
      const before = (await provider.getBlock('finalized'))?.number ?? 0;
      await services.chain.mine(3);
      await expect
        .poll(async () => (await provider.getBlock('finalized'))?.number)
        .toBeGreaterThan(before + 1);
      const askedMs = performance.now();
      const asked = fetch(`${follower.url}/agent-edge/notes?chain=anvil&token=${token}`, {
        headers: { authorization: `Bearer ${apiKey.reveal()}` },
      }).then(async ({ status }) => ({
        ...{ status, before, ms: performance.now() - askedMs },
        cursors: await services.askPlatform('select block_number from indexer_cursors'),
      }));
      await delay(500);
      process.kill(leader.process.identity.pid, 'SIGCONT');
      return await asked;
    }
    let answer = await ask();
    // A follower waits for three seconds. Then it answers from what there is.
    while (answer.ms >= 3_000) answer = await ask();
    expect(answer.status).toBe(200);
    expect(Number(answer.cursors[0]?.['block_number'])).toBeGreaterThan(answer.before);
  });

  it('finish a settlement whose platform is killed before its transaction is mined, and pay once', async () => {
    const [payer] = holders;
    if (payer === undefined) throw new Error('no payer');
    const token = await services.mintEdgeToken(payer.address, 'platform-2');
    const request = await services.prove(holders, services.readerAt(at(gates, 1).url));
    const { leader, follower } = rolesNow('relayer');
    const edge = createEdgeClient({ url: `${follower.url}/agent-edge`, token });
    await stopMining();
    expect((await edge.postSettlement('job-1', request)).state).toBe('accepted');
    await expect
      .poll(() => services.askPlatform('select state from relayer_transactions'))
      .toEqual([{ state: 'open' }]);
    // The relayer alone stores transactions.
    expect(rolesNow('relayer').leader).toBe(leader);
    await leader.process.kill();
    await expect.poll(() => rolesNow('relayer').leader).toBe(follower);
    await expect.poll(() => rolesNow('indexer').leader).toBe(follower);
    await delay(1_000);
    await mineAgain();
    await expect
      .poll(() => edge.getSettlement('job-1'), { interval: 200 })
      .toMatchObject({ state: 'settled', sealedNotes: request.sealedNotes });
    await expect
      .poll(() => services.askPlatform('select nonce, attempt, state from relayer_transactions'))
      .toEqual([{ nonce: 0, attempt: 0, state: 'succeeded' }]);
    expect(await countSent('relayer')).toBe(1);
    expect(await services.chain.pool().batchCount()).toBe(1n);
    expect(await services.chain.poolBalance()).toBe(300n);
  });

  it('answer every request while each of them is replaced in turn', async () => {
    const draining = { PLATFORM_DRAIN_SECONDS: '1', GATE_DRAIN_SECONDS: '1' };
    let urls = { gates: [] as string[], platforms: [] as string[] };
    const gateProxy = await startBalancer(() => urls.gates);
    const proxy = await startBalancer(() => urls.platforms);
    const start = {
      gates: (name: string) => services.startGate(name, draining),
      platforms: (name: string) =>
        services.startPlatform(gateProxy.url, name, { ...limited, ...draining }),
    };
    /** Starts one more, and stops the first one as an operator does. */
    async function replace(kind: 'gates' | 'platforms', name: string): Promise<void> {
      const [old, ...others] = kind === 'gates' ? gates : platforms;
      const next = await start[kind](name);
      const all = [...others, next];
      if (kind === 'gates') gates = all;
      else platforms = all;
      urls = { ...urls, [kind]: [...urls[kind], next.url] };
      await (kind === 'gates' ? gateProxy : proxy).untilReady(next.url);
      if (old !== undefined && !old.process.hasExited()) {
        process.kill(old.process.identity.pid, 'SIGTERM');
        expect((await old.process.exited).code).toBe(0);
      }
      urls = { ...urls, [kind]: all.map(({ url }) => url) };
    }
    // From here on both of each drain when they stop, and are behind their proxy.
    for (const kind of ['gates', 'platforms'] as const) {
      await replace(kind, `${kind}-a`);
      await replace(kind, `${kind}-b`);
    }
    const payees = await Promise.all(['c', 'd', 'e'].map(createTestHolder));
    const reader = services.readerAt(gateProxy.url);
    const last = await services.enrol(await createTestHolder('f'), () => proxy.url);
    let isOver = false;
    let answered = 0;
    const ask = async (work: () => Promise<unknown>) => {
      while (!isOver) {
        await work();
        answered += 1;
        await delay(10);
      }
    };
    const asking = Promise.all([
      ask(() => last.listKeys()),
      ask(() => reader.root()),
      (async () => {
        for (const payee of payees) await services.enrol(payee, () => proxy.url);
      })(),
    ]);
    await replace('gates', 'gates-c');
    await replace('platforms', 'platforms-c');
    await replace('gates', 'gates-d');
    await replace('platforms', 'platforms-d');
    isOver = true;
    await asking;
    expect(answered).toBeGreaterThan(100);
    expect((await reader.root()).wallets).toBe(6);
    await Promise.all([proxy.close(), gateProxy.close()]);
  });

  it('accept the access tokens of each other, and count the requests of an address together', async () => {
    const granted = await fetch(`${at(gates, 0).url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'reader',
        client_secret: 'read',
      }),
    });
    const { access_token } = (await granted.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const roots = await Promise.all(
      gates.map(async ({ url }) => await (await fetch(`${url}/v1/root`, { headers })).json()),
    );
    expect(roots[0]).toMatchObject({ wallets: 6 });
    expect(roots[1]).toEqual(roots[0]);

    const startedMs = performance.now();
    const statuses: number[] = [];
    const ask = async () =>
      (await fetch(`${nextUrl()}/api/auth/logout`, { method: 'POST' })).status;
    // Ten at once: they come faster than the limit refills, however slow one of them is.
    while (statuses.length < 80 || !statuses.includes(429)) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, ask))));
    }
    const refilled = 5 * Math.ceil((performance.now() - startedMs) / 1_000);
    const taken = statuses.filter((status) => status === 200).length;
    expect(taken).toBeGreaterThanOrEqual(45);
    expect(taken).toBeLessThanOrEqual(50 + refilled);
  });
});

function at<T>(list: readonly T[], place: number): T {
  const found = list[place];
  if (found === undefined) throw new Error(`nothing at ${place}`);
  return found;
}
