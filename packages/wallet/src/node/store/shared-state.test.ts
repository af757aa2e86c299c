// What agents share in the database of their job store, on a real PostgreSQL server.

import { Secret } from '@pool/core';
import { type PostgresSettings, parsePostgresUrl } from '@pool/storage/postgres';
import {
  createDatabase,
  createFakeHolder,
  type PostgresServer,
  startPostgres,
} from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openingsOf } from '../../fixtures/openings.ts';
import { findSharedState, openSharedState, type SharedState } from './shared-state.ts';

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

function settingsOf(text: string): PostgresSettings {
  const settings = parsePostgresUrl(text);
  if (typeof settings === 'string') throw new Error(settings);
  return settings;
}

async function open(): Promise<SharedState> {
  const state = await openSharedState({ settings: settingsOf(url), mustBeDurable: false });
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
    await expect.poll(() => one.turns.tryAcquire('turn')).toBeInstanceOf(Function);
  });

  it('is waited for while the server is away, which is told once, until the run is stopped', async () => {
    const { turns } = await open();
    await server.kill();
    const outages: unknown[] = [];
    const stop = new AbortController();
    const stopped = turns.acquire('turn', stop.signal);
    const waiting = turns.acquire('other turn', never, (error) => outages.push(error));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await server.start();
    (await waiting)();
    expect(outages).toEqual([expect.objectContaining({ code: 'database_unavailable' })]);
  });
});

describe('openings that agents share', () => {
  const key = new Secret(`0x${'5'.repeat(64)}`);

  it('are kept once and sealed, and read by another agent, the oldest first', async () => {
    const [one, two] = [await open(), await open()];
    const kept = Array.from({ length: 60 }, (_, index) => openingsOf(BigInt(index + 1), index));
    for (const openings of [...kept].reverse()) {
      await one.openOpenings(key).keep(openings);
    }
    await two.openOpenings(key).keep(kept[0]!);
    expect(await two.openOpenings(key).readAll()).toEqual(kept);
    const rows = await server.query(
      "select encode(sealed, 'escape') as text from opening",
      new URL(url).pathname.slice(1),
    );
    expect(rows).toHaveLength(60);
    expect(JSON.stringify(rows)).not.toMatch(/salary|31337|may-1/);
  });

  it('are erased by age, and not read under another key', async () => {
    const [one, two] = [await open(), await open()];
    const store = one.openOpenings(key);
    await store.keep(openingsOf(1n, 5));
    await store.keep(openingsOf(2n, 6));
    const strange = two.openOpenings(new Secret(`0x${'6'.repeat(64)}`));
    await expect(strange.readAll()).rejects.toMatchObject({ code: 'store_damaged' });
    expect(await store.eraseBefore(6)).toBe(1);
    expect(await store.readAll()).toEqual([openingsOf(2n, 6)]);
  });
});

describe('a command beside the agents', () => {
  it('changes no table, and with read access no row', async () => {
    const settings = settingsOf(url);
    const options = { settings, mustBeDurable: false };
    expect(await findSharedState(options, 'write')).toBeUndefined();
    expect(
      await server.query(
        "select 1 from pg_tables where schemaname = 'public'",
        new URL(url).pathname.slice(1),
      ),
    ).toEqual([]);
    const one = await open();
    const writer = await findSharedState(options, 'write');
    const reader = await findSharedState(options, 'read');
    onTestFinished(async () => {
      await writer?.close();
      await reader?.close();
    });
    expect(await writer?.pins.pinAll([pinOf(first, 10)])).toEqual([true]);
    await expect(reader?.pins.pinAll([pinOf(first, 11, other)])).rejects.toThrow();
    expect(await one.pins.pinAll([pinOf(first, 10)])).toEqual([true]);
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
