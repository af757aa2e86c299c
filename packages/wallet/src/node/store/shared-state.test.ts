// What agents share in the database of their job store, on a real PostgreSQL server.

import { parsePostgresUrl } from '@pool/storage/postgres';
import {
  createDatabase,
  createFakeHolder,
  type PostgresServer,
  startPostgres,
} from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openSharedState, type SharedState } from './shared-state.ts';

const [first, second] = [createFakeHolder(1), createFakeHolder(2)];
const other = second.encryptionPublicKey;
const never = new AbortController().signal;

function pinOf(holder: typeof first, issuedAtMs: number, key = holder.encryptionPublicKey) {
  return { walletPub: holder.walletPub, encryptionPublicKey: key, issuedAtMs };
}

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await createDatabase(server.url('postgres'));
});

async function open(): Promise<SharedState> {
  const settings = parsePostgresUrl(url);
  if (typeof settings === 'string') throw new Error(settings);
  const state = await openSharedState({ settings, mustBeDurable: false });
  onTestFinished(() => state.close());
  return state;
}

/** Ends the session that has a turn, as the end of its process does. */
async function endHolder(): Promise<void> {
  await server.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and objsubid = 2",
  );
}

describe('evidence that agents share', () => {
  it('is accepted if it is newer, or of the same key', async () => {
    const [one, two] = [await open(), await open()];
    expect(await one.pins.pinAll([pinOf(first, 10), pinOf(second, 10)])).toEqual([true, true]);
    expect(await two.pins.pinAll([pinOf(first, 9), pinOf(second, 11)])).toEqual([true, true]);
    expect(await two.pins.pinAll([pinOf(first, 10, other)])).toEqual([false]);
    expect(await two.pins.pinAll([pinOf(first, 11, other)])).toEqual([true]);
    expect(await one.pins.pinAll([pinOf(first, 10)])).toEqual([false]);
    expect(await one.pins.pinAll([])).toEqual([]);
  });

  it('is of one key, if two agents pin two keys of the same instant at once', async () => {
    const agents = [await open(), await open()];
    const verdicts = await Promise.all(
      agents.map((agent, index) =>
        agent.pins.pinAll([pinOf(first, 10, index === 0 ? first.encryptionPublicKey : other)]),
      ),
    );
    expect(verdicts.flat().sort()).toEqual([false, true]);
  });
});

describe('paid keys that agents share', () => {
  it('are those of the last payment', async () => {
    const [one, two] = [await open(), await open()];
    await one.paidKeys.record([pinOf(first, 0)], 10);
    await two.paidKeys.record([pinOf(first, 0, other)], 9);
    expect(await two.paidKeys.findAll([first.walletPub, second.walletPub])).toEqual([
      { encryptionPublicKey: first.encryptionPublicKey, atMs: 10 },
      undefined,
    ]);
  });
});

describe('a turn that agents share', () => {
  it('is of one run at a time, in either agent', async () => {
    const [one, two] = [await open(), await open()];
    let inside = 0;
    let most = 0;
    let runs = 0;
    await Promise.all(
      [one, two, one, two].map(async ({ turns }) => {
        const release = await turns.acquire('chain token funder', never);
        inside += 1;
        most = Math.max(most, inside);
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 30));
        inside -= 1;
        release();
      }),
    );
    expect([runs, most]).toEqual([4, 1]);
    const release = await one.turns.acquire('one', never);
    (await two.turns.acquire('another', never))();
    release();
  });

  it('is free as soon as the process that held it is gone', async () => {
    const [one, two] = [await open(), await open()];
    await one.turns.acquire('turn', never);
    const waiting = two.turns.acquire('turn', never);
    await endHolder();
    (await waiting)();
  });

  it('is not taken by a run that does not wait for it, while another agent has it', async () => {
    const [one, two] = [await open(), await open()];
    const release = await one.turns.acquire('turn', never);
    expect(await two.turns.tryAcquire('turn')).toBeUndefined();
    release();
    await expect.poll(() => two.turns.tryAcquire('turn')).toBeInstanceOf(Function);
    expect(await one.turns.tryAcquire('turn')).toBeUndefined();
  });

  it('is left by a run that is stopped while it waits', async () => {
    const [one, two] = [await open(), await open()];
    const release = await one.turns.acquire('turn', never);
    const stop = new AbortController();
    const stopped = two.turns.acquire('turn', stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 100));
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    release();
    await expect
      .poll(() => one.turns.tryAcquire('turn'), { timeout: 10_000 })
      .toBeInstanceOf(Function);
  });

  it('is waited for while the server is away, until the run is stopped', async () => {
    const { turns } = await open();
    await server.kill();
    const stop = new AbortController();
    const stopped = turns.acquire('turn', stop.signal);
    const waiting = turns.acquire('other turn', never);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await server.start();
    (await waiting)();
  });
});

describe('a setting that agents must share', () => {
  it('is what the first agent stored', async () => {
    const [one, two] = [await open(), await open()];
    await one.assertShared('KEY', 'a');
    await two.assertShared('KEY', 'a');
    await expect(two.assertShared('KEY', 'b')).rejects.toMatchObject({
      code: 'invalid_configuration',
    });
  });
});
