/** Two gates on one database: one publishes, the other one follows, and they change places. */
import { fieldToHex, PoolError } from '@pool/core';
import type { Leaders, OpenDatabase } from '@pool/database';
import { computeWalletId } from '@pool/notes';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { createFakeRegistry } from '../test/fake-registry.ts';
import { noReaders } from '../test/test-gate.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import { createGateApp } from './gate-app.ts';
import type { GateTables } from './gate-tables.ts';
import { createLeaves, unwantWallet, wantWallet } from './leaves.ts';
import { type Publisher, type PublisherDeps, startPublisher } from './publisher.ts';
import { passEverybody } from './screening.ts';

type Name = 'first' | 'second';

describe('two gates on one database', () => {
  let database: OpenDatabase<GateTables>;
  let wallets: TestHolder[];
  let fake: ReturnType<typeof createFakeRegistry>;
  let seat: { leader: Name; epoch: number };
  let first: Publisher;
  let second: Publisher;
  let stopping: AbortController;

  beforeAll(async () => {
    database = await openTestGateDatabase();
    wallets = await Promise.all(['a', 'b', 'c'].map(createTestHolder));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.deleteFrom('publications').execute();
    await database.db.deleteFrom('wallets').execute();
    await database.db.deleteFrom('free_leaves').execute();
    fake = createFakeRegistry();
    seat = { leader: 'first', epoch: 1 };
    stopping = new AbortController();
    [first, second] = [await start('first'), await start('second')];
    return async () => {
      stopping.abort();
      await Promise.all([first.idle(), second.idle()]);
    };
  });

  /** As the database says who leads. */
  function leadersOf(name: Name): Leaders {
    return {
      isAnswering: () => true,
      term() {
        const { leader, epoch } = seat;
        return leader !== name
          ? undefined
          : {
              epoch,
              assertLeader: () =>
                seat.epoch === epoch
                  ? Promise.resolve()
                  : Promise.reject(new PoolError('database_lock_lost', 'another one leads')),
            };
      },
      leave: () => undefined,
    };
  }
  function start(name: Name, other: Partial<PublisherDeps> = {}): Promise<Publisher> {
    return startPublisher({
      db: database.db,
      chain: fake.chain,
      log: createLog('silent', 'test'),
      nowMs: Date.now,
      pollIntervalMs: 5,
      replaceAfterMs: 120_000,
      quietMs: 5,
      leaders: leadersOf(name),
      signal: stopping.signal,
      ...other,
    });
  }
  const changePlaces = () => {
    seat = { leader: seat.leader === 'first' ? 'second' : 'first', epoch: seat.epoch + 1 };
  };
  const idOf = (place: number) => fieldToHex(computeWalletId(holderAt(place).walletPub));
  const holderAt = (place: number) => {
    const holder = wallets[place];
    if (holder === undefined) throw new Error('no such wallet');
    return holder;
  };
  const want = (place: number) =>
    wantWallet(database.db, idOf(place), holderAt(place).walletPub, 1_000);
  const publications = () =>
    database.db.selectFrom('publications').select(['nonce', 'state']).orderBy('id').execute();
  /** What a gate answers a reader. */
  async function ask(publisher: Publisher, path: string, body?: object): Promise<unknown> {
    const { db } = database;
    const log = createLog('silent', 'test');
    const app = createGateApp({
      ...{ db, log, publisher, readers: noReaders, leaves: createLeaves(db, log) },
      screening: passEverybody,
      allowedHosts: [],
      tokens: {
        grant: () => Promise.reject(new Error('no tokens here')),
        assertScope: () => Promise.resolve(),
      },
    });
    const answer = await app.request(path, {
      headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return await answer.json();
  }
  /** As the loop of a service does it. */
  async function keepUp(gate: Publisher): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      await gate.keepUp().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  it('publish what the follower stores, and both serve the same list', async () => {
    void keepUp(first);
    await want(0);
    await second.publishWanted();
    expect(second.tree.size).toBe(1);
    expect(fieldToHex(second.tree.root)).toBe(fake.state.current);
    await want(1);
    await first.publishWanted();
    await second.follow();
    expect(second.tree.root).toBe(first.tree.root);
    await unwantWallet(database.db, idOf(0));
    await second.publishWanted();
    expect(second.tree.size).toBe(1);
    expect((await publications()).map(({ state }) => state)).toEqual(['final', 'final', 'final']);
  });

  it('store and send nothing for a leader whose term is over, and publish once at the next one', async () => {
    await want(0);
    const { fetchNonce } = fake.chain;
    // Between the decision to publish and the bytes.
    fake.chain.fetchNonce = () => {
      changePlaces();
      fake.chain.fetchNonce = fetchNonce;
      return fetchNonce();
    };
    const waiting = first.publishWanted();
    await expect.poll(() => seat.leader).toBe('second');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await publications()).toEqual([]);
    expect(fake.state.broadcasts).toEqual([]);
    void keepUp(second);
    await waiting;
    expect(await publications()).toEqual([{ nonce: 0, state: 'final' }]);
    expect(first.tree.root).toBe(second.tree.root);
  });

  it('finish what the leader before has sent, at the same nonce', async () => {
    fake.state.instant = false;
    await want(0);
    const waiting = first.publishWanted();
    await expect.poll(publications).toEqual([{ nonce: 0, state: 'open' }]);
    changePlaces();
    await want(1);
    void keepUp(second);
    fake.state.instant = true;
    await waiting;
    await expect.poll(() => second.tree.size).toBe(2);
    const sent = await publications();
    expect(sent).toEqual(sent.map((_, nonce) => ({ nonce, state: 'final' })));
    expect(fake.state.nonce).toBe(sent.length);
    await first.follow();
    expect(first.tree.root).toBe(second.tree.root);
  });

  it('replace what the leader before has signed with a key that this one was given since', async () => {
    fake.state.instant = false;
    await want(0);
    const waiting = first.publishWanted();
    await expect.poll(publications).toEqual([{ nonce: 0, state: 'open' }]);
    changePlaces();
    const sent_at = new Date(Date.now() - 300_000).toISOString();
    await database.db.updateTable('publications').set({ sender: '0x2', sent_at }).execute();
    let publisherAddress = '0x1';
    const late = await start('second', {
      chain: {
        ...fake.chain,
        get publisherAddress() {
          return publisherAddress;
        },
      },
      beforeSigning: () => {
        publisherAddress = '0x2';
      },
    });
    await expect.poll(() => fake.state.signed.size).toBe(2);
    fake.state.instant = true;
    await waiting;
    await late.idle();
    expect(await publications()).toEqual([{ nonce: 0, state: 'final' }]);
  });

  it('wait on where a follower takes over and loses its term at once', async () => {
    await want(0);
    const waiting = second.publishWanted();
    const { fetchNonce } = fake.chain;
    fake.chain.fetchNonce = () => {
      changePlaces();
      fake.chain.fetchNonce = fetchNonce;
      return fetchNonce();
    };
    changePlaces();
    await expect.poll(() => seat.epoch).toBe(3);
    void keepUp(first);
    await waiting;
    expect(await publications()).toEqual([{ nonce: 0, state: 'final' }]);
  });

  it('serve what the other one has published since', async () => {
    await want(0);
    await first.publishWanted();
    const root = fake.state.current;
    const asked = { walletIds: [idOf(0)] };
    expect(await ask(second, '/v1/paths', asked)).toMatchObject({ root, missing: [] });
    await want(1);
    await first.publishWanted();
    expect(await ask(second, '/v1/root')).toMatchObject({ root: fake.state.current, wallets: 2 });
    // A root that is given is answered as it was.
    expect(await ask(second, '/v1/paths', { walletIds: [idOf(1)], root })).toMatchObject({
      root,
      missing: [idOf(1)],
    });
  });

  it('tell the caller of a follower that the publication of the leader failed', async () => {
    void keepUp(first);
    fake.state.reverting = true;
    await want(0);
    await expect(second.publishWanted()).rejects.toMatchObject({ code: 'publication_failed' });
  });
});
