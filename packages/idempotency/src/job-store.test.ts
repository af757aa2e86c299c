// The contract of every job store, run for each implementation: on PostgreSQL in Vitest's project `postgres`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openTestStore } from './fixtures/postgres.ts';
import type { JobStore } from './job-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { createSqliteStore } from './sqlite-store.ts';

const name = { scope: 'employer-1', key: 'june' };
const claim = { ...name, fingerprint: 'f1', state: 'accepted', payload: '{"n":1}', nowMs: 1_000 };
const lease = { workerId: 'w1', states: ['accepted', 'submitted'], ttlMs: 100, nowMs: 2_000 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-jobs-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const server = inject('postgresUrl');
const stores: readonly [string, () => JobStore | Promise<JobStore>][] =
  server === undefined
    ? [
        ['memory', createMemoryStore],
        ['sqlite', () => createSqliteStore({ path: join(folder, 'jobs.db') })],
      ]
    : [['postgres', () => openTestStore(server)]];

describe.each(stores)('the job store %s', (_, open) => {
  let store: JobStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(async () => {
    await store.close();
  });

  it('creates a job at the first claim and returns it at the next', async () => {
    const job = {
      ...name,
      fingerprint: 'f1',
      state: 'accepted',
      payload: '{"n":1}',
      fence: 0,
      createdAtMs: 1_000,
      updatedAtMs: 1_000,
    };
    expect(await store.claim(claim)).toEqual({ outcome: 'created', job });
    const again = await store.claim({ ...claim, payload: '{"n":2}', nowMs: 9_000 });
    expect(again).toEqual({ outcome: 'existing', job });
    expect(await store.get(name.scope, name.key)).toEqual(job);
  });

  it('returns conflict for another fingerprint and changes nothing', async () => {
    await store.claim(claim);
    const answer = await store.claim({ ...claim, fingerprint: 'f2', payload: 'other' });
    expect(answer.outcome).toBe('conflict');
    expect((await store.get(name.scope, name.key))?.payload).toBe('{"n":1}');
  });

  it('lists the names of all jobs, oldest first', async () => {
    expect(await store.listNames()).toEqual([]);
    await store.claim({ ...claim, key: 'july', nowMs: 2_000 });
    await store.claim(claim);
    await store.claim({ ...claim, scope: 'employer-2', nowMs: 3_000 });
    expect(await store.listNames()).toEqual([
      { scope: 'employer-1', key: 'june' },
      { scope: 'employer-1', key: 'july' },
      { scope: 'employer-2', key: 'june' },
    ]);
  });

  it('lists what changed in one scope since a time, without payloads', async () => {
    await store.claim(claim);
    await store.claim({ ...claim, key: 'july', nowMs: 1_500 });
    await store.claim({ ...claim, scope: 'employer-2', nowMs: 5_000 });
    const held = await store.lease({ ...lease, key: 'june' });
    const done = { ...name, fence: held?.fence ?? 0, state: 'done', payload: '{}', nowMs: 4_000 };
    await store.update(done);
    const listed = await store.listChanged({ scope: name.scope, sinceMs: 1_500 });
    expect(listed.map(({ key, state, updatedAtMs }) => [key, state, updatedAtMs])).toEqual([
      ['july', 'accepted', 1_500],
      ['june', 'done', 4_000],
    ]);
    expect(listed.every((job) => !('payload' in job))).toBe(true);
    expect(await store.listChanged({ scope: name.scope, sinceMs: 4_001 })).toEqual([]);
  });

  it("does not list the agent's own scopes among the jobs of callers", async () => {
    await store.claim(claim);
    await store.claim({ ...claim, scope: ':own' });
    expect(await store.listNames()).toEqual([name]);
    expect(await store.listChanged({ scope: ':own', sinceMs: 0 })).toHaveLength(1);
  });

  it('keeps scopes apart, also if the end of a scope could be read as the start of a key', async () => {
    await store.claim({ ...claim, scope: 'a', key: 'b"c' });
    expect((await store.claim({ ...claim, scope: 'a"b', key: 'c' })).outcome).toBe('created');
    expect((await store.claim({ ...claim, scope: 'other', key: 'b"c' })).outcome).toBe('created');
    expect(await store.get('a', 'c')).toBeUndefined();
  });

  it('creates one job for any number of concurrent claims', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => (await store.claim(claim)).outcome),
    );
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'existing')).toHaveLength(19);
  });

  it('leases the oldest free job in the requested states, each to one worker', async () => {
    await store.claim({ ...claim, key: 'new', nowMs: 1_500 });
    await store.claim({ ...claim, key: 'old', nowMs: 500 });
    await store.claim({ ...claim, key: 'finished', state: 'done', nowMs: 100 });
    const first = await store.lease(lease);
    expect(first?.job.key).toBe('old');
    expect(first?.fence).toBe(1);
    expect(first?.job.fence).toBe(1);
    expect((await store.lease({ ...lease, workerId: 'w2' }))?.job.key).toBe('new');
    expect(await store.lease({ ...lease, workerId: 'w3' })).toBeUndefined();
    expect(await store.lease({ ...lease, states: [] })).toBeUndefined();
  });

  it('leases only jobs of the requested scope', async () => {
    await store.claim({ ...claim, scope: 'other', key: 'older', nowMs: 1 });
    await store.claim({ ...claim, key: 'newer' });
    expect((await store.lease({ ...lease, scope: claim.scope }))?.job.key).toBe('newer');
    expect(await store.lease({ ...lease, scope: claim.scope })).toBeUndefined();
    expect((await store.lease({ ...lease, scope: 'other' }))?.job.key).toBe('older');
  });

  it('leases jobs of the same millisecond in the order of creation', async () => {
    await store.claim({ ...claim, key: 'z-first' });
    await store.claim({ ...claim, key: 'a-second' });
    expect((await store.lease(lease))?.job.key).toBe('z-first');
  });

  it('leases an expired job to the next worker and refuses writes of the previous one', async () => {
    await store.claim(claim);
    const late = await store.lease(lease);
    expect(await store.lease({ ...lease, nowMs: 2_099 })).toBeUndefined();
    const next = await store.lease({ ...lease, workerId: 'w2', nowMs: 2_100 });
    expect(next?.fence).toBe(2);

    const old = { ...name, fence: late?.fence ?? -1 };
    const refused = { code: 'stale_fence', retryable: false };
    await expect(
      store.update({ ...old, state: 'done', payload: 'late', nowMs: 2_200 }),
    ).rejects.toMatchObject(refused);
    await expect(store.putOnce({ ...old, name: 'm', value: 'late' })).rejects.toMatchObject(
      refused,
    );
    expect(await store.renew({ ...old, ttlMs: 100, nowMs: 2_150 })).toBe(false);
    await store.release(old);
    expect(await store.lease({ ...lease, workerId: 'w3', nowMs: 2_150 })).toBeUndefined();
    expect(await store.getValue(name.scope, name.key, 'm')).toBeUndefined();
    expect((await store.get(name.scope, name.key))?.payload).toBe('{"n":1}');
  });

  it('keeps a renewed lease', async () => {
    await store.claim(claim);
    await store.lease(lease);
    expect(await store.renew({ ...name, fence: 1, ttlMs: 500, nowMs: 2_050 })).toBe(true);
    expect(await store.lease({ ...lease, nowMs: 2_549 })).toBeUndefined();
    expect((await store.lease({ ...lease, nowMs: 2_550 }))?.fence).toBe(2);
  });

  it('leases a released job immediately and refuses writes of its former worker', async () => {
    await store.claim(claim);
    await store.lease(lease);
    await store.release({ ...name, fence: 1 });
    expect(await store.renew({ ...name, fence: 1, ttlMs: 1, nowMs: 2_001 })).toBe(false);
    await expect(
      store.update({ ...name, fence: 1, state: 'done', payload: '', nowMs: 2_001 }),
    ).rejects.toMatchObject({ code: 'stale_fence' });
    const next = await store.lease({ ...lease, workerId: 'w2' });
    expect(next?.job.key).toBe('june');
    expect(next?.fence).toBeGreaterThan(1);
  });

  it('updates state and payload, and keeps the lease', async () => {
    await store.claim(claim);
    await store.lease(lease);
    const job = await store.update({
      ...name,
      fence: 1,
      state: 'submitted',
      payload: '{"stage":"proving"}',
      nowMs: 2_010,
    });
    expect(job).toMatchObject({
      state: 'submitted',
      payload: '{"stage":"proving"}',
      fence: 1,
      createdAtMs: 1_000,
      updatedAtMs: 2_010,
    });
    expect(await store.get(name.scope, name.key)).toEqual(job);
    expect(await store.lease({ ...lease, nowMs: 2_050 })).toBeUndefined();
  });

  it('keeps the first value of a name, also for later workers', async () => {
    await store.claim(claim);
    await store.lease(lease);
    const put = { ...name, fence: 1, name: 'manifest/1' };
    expect(await store.putOnce({ ...put, value: 'first' })).toBe('first');
    expect(await store.putOnce({ ...put, value: 'second' })).toBe('first');
    expect(await store.putOnce({ ...put, name: 'manifest/2', value: 'other' })).toBe('other');
    await store.lease({ ...lease, nowMs: 5_000 });
    expect(await store.putOnce({ ...put, fence: 2, value: 'third' })).toBe('first');
    expect(await store.getValue(name.scope, name.key, 'manifest/1')).toBe('first');
    expect(await store.getValue(name.scope, name.key, 'absent')).toBeUndefined();
    expect(await store.getValue(name.scope, 'absent', 'manifest/1')).toBeUndefined();
  });

  it('never leases a job that the worker excludes, whatever the clock shows', async () => {
    await store.claim({ ...claim, key: 'mine', nowMs: 1 });
    await store.lease(lease);
    const stepped = { ...lease, nowMs: 9_000_000 };
    expect(await store.lease({ ...stepped, except: ['mine'] })).toBeUndefined();
    await store.claim({ ...claim, key: 'free', nowMs: 2 });
    expect((await store.lease({ ...stepped, except: ['mine', "o'other"] }))?.job.key).toBe('free');
    // No other worker took it over, so its holder still has it.
    expect(await store.renew({ ...name, key: 'mine', fence: 1, ttlMs: 1, nowMs: 9_000_000 })).toBe(
      true,
    );
    expect((await store.lease({ ...stepped, nowMs: 9_999_999 }))?.job.key).toBe('mine');
  });

  it('leases only the job of the requested key', async () => {
    await store.claim({ ...claim, key: 'older', nowMs: 1 });
    await store.claim({ ...claim, key: 'newer' });
    expect((await store.lease({ ...lease, key: 'newer' }))?.job.key).toBe('newer');
    expect(await store.lease({ ...lease, key: 'newer' })).toBeUndefined();
    expect((await store.lease(lease))?.job.key).toBe('older');
  });

  it('stores a request on a leased job once, and does not disturb the worker', async () => {
    await store.claim(claim);
    const held = await store.lease(lease);
    const wish = { ...name, name: 'wish' };
    expect(await store.ask({ ...wish, value: 'first' })).toBe('first');
    expect(await store.ask({ ...wish, value: 'second' })).toBe('first');
    expect(await store.getValue(name.scope, name.key, 'wish')).toBe('first');
    const { job, fence } = held!;
    const write = { ...name, fence, state: job.state, payload: '{}', nowMs: 2_000 };
    expect((await store.update(write)).payload).toBe('{}');
  });

  it('fails with unknown_job for writes to a job that does not exist', async () => {
    const unknown = { code: 'unknown_job' };
    const write = { ...name, fence: 0 };
    await expect(
      store.update({ ...write, state: 'done', payload: '', nowMs: 1 }),
    ).rejects.toMatchObject(unknown);
    await expect(store.putOnce({ ...write, name: 'm', value: '' })).rejects.toMatchObject(unknown);
    await expect(store.ask({ ...name, name: 'm', value: '' })).rejects.toMatchObject(unknown);
    await expect(store.erase({ ...name, names: [], payload: '' })).rejects.toMatchObject(unknown);
    expect(await store.renew({ ...write, ttlMs: 1, nowMs: 1 })).toBe(false);
    await store.release(write);
  });

  it('erases values and payload and keeps fingerprint and state', async () => {
    await store.claim(claim);
    await store.lease(lease);
    await store.putOnce({ ...name, fence: 1, name: 'manifest/1', value: 'salaries' });
    await store.putOnce({ ...name, fence: 1, name: 'result', value: 'kept' });
    await store.update({ ...name, fence: 1, state: 'done', payload: 'salaries', nowMs: 2_010 });

    const query = { states: ['done', 'failed'], limit: 10 };
    expect(await store.listErasable({ ...query, updatedBeforeMs: 2_010 })).toEqual([]);
    const [due] = await store.listErasable({ ...query, updatedBeforeMs: 2_011 });
    expect(due?.key).toBe('june');

    await store.erase({ ...name, names: ['manifest/1', 'absent'], payload: '{}' });
    expect(await store.get(name.scope, name.key)).toMatchObject({
      fingerprint: 'f1',
      state: 'done',
      payload: '{}',
    });
    expect(await store.getValue(name.scope, name.key, 'manifest/1')).toBeUndefined();
    expect(await store.getValue(name.scope, name.key, 'result')).toBe('kept');
    expect(await store.listErasable({ ...query, updatedBeforeMs: 9_999 })).toEqual([]);
    expect((await store.claim(claim)).outcome).toBe('existing');
  });

  it('lists stage and time of jobs of callers that have not ended, whatever their texts say', async () => {
    const memo = '"stage":"proving" "movedAtMs":7';
    for (const [key, state, payload] of [
      ['new', 'accepted', '{"stageSeconds":{}}'],
      ['moved', 'submitted', JSON.stringify({ memo, stage: 'settling', movedAtMs: 1_700 })],
      ['damaged', 'submitted', '{"stage":"sign'],
      ['over', 'done', '{"stage":"settling"}'],
    ] as const) {
      await store.claim({ ...claim, key, state, payload });
    }
    await store.claim({ ...claim, scope: ':own', payload: '{"stage":"x"}' });
    const found = await store.listUnfinished(['accepted', 'submitted']);
    expect(found.toSorted((one, other) => one.sinceMs - other.sinceMs)).toEqual([
      { stage: undefined, sinceMs: 1_000 },
      { stage: undefined, sinceMs: 1_000 },
      { stage: 'settling', sinceMs: 1_700 },
    ]);
  });

  it('deletes old jobs of its own scopes up to the limit, and never a leased one or one of a caller', async () => {
    const own = { ...claim, scope: ':own' };
    for (const [key, state, nowMs] of [
      ['b', 'failed', 20],
      ['a', 'failed', 10],
      ['leased', 'failed', 5],
      ['c', 'failed', 30],
      ['young', 'failed', 100],
      ['open', 'pending', 10],
    ] as const) {
      await store.claim({ ...own, key, state, nowMs });
    }
    await store.ask({ scope: ':own', key: 'a', name: 'n', value: 'v' });
    await store.lease({ ...lease, scope: ':own', states: ['failed'], key: 'leased', nowMs: 150 });
    const input = { scope: ':own', states: ['failed'], updatedBeforeMs: 100, nowMs: 200, limit: 2 };
    expect(await store.deleteOwn(input)).toBe(2);
    const keys = async () =>
      (await store.listChanged({ scope: ':own', sinceMs: 0 })).map(({ key }) => key).toSorted();
    expect(await keys()).toEqual(['c', 'leased', 'open', 'young']);
    expect(await store.deleteOwn(input)).toBe(1);
    expect(await store.deleteOwn(input)).toBe(0);
    expect(await store.deleteOwn({ ...input, nowMs: 250 })).toBe(1);
    expect((await store.claim({ ...own, key: 'a', state: 'failed' })).outcome).toBe('created');
    expect(await store.getValue(':own', 'a', 'n')).toBeUndefined();
    await expect(store.deleteOwn({ ...input, scope: name.scope })).rejects.toThrow('only what');
    const erasable = { states: ['failed'], updatedBeforeMs: 999, limit: 9 };
    expect(await store.listErasable(erasable)).toEqual([]);
  });

  it('lists jobs of callers, the newest first, by state, key, time and text, page by page', async () => {
    for (const [scope, key, state, nowMs] of [
      ['s', 'a', 'done', 10],
      ['s', 'b', 'failed', 20],
      ['s', 'c', 'done', 20],
      ['t', 'c', 'done', 20],
      ['s', 'd', 'submitted', 30],
      [':own', 'x', 'done', 40],
    ] as const) {
      await store.claim({ ...claim, scope, key, state, payload: `{"k":"${key}"}`, nowMs });
    }
    type Input = Parameters<JobStore['listNewest']>[0];
    const list = async (input: Partial<Input>): Promise<readonly string[]> =>
      (await store.listNewest({ limit: 9, ...input })).map((job) => `${job.scope}${job.key}`);
    expect(await list({})).toEqual(['sd', 'tc', 'sc', 'sb', 'sa']);
    expect(await list({ limit: 2 })).toEqual(['sd', 'tc']);
    expect(await list({ limit: 2, after: { scope: 't', key: 'c' } })).toEqual(['sc', 'sb']);
    expect(await list({ after: { scope: 's', key: 'a' } })).toEqual([]);
    expect(await list({ states: ['done'] })).toEqual(['tc', 'sc', 'sa']);
    expect(await list({ states: [] })).toEqual([]);
    expect(await list({ keys: ['c', 'x'] })).toEqual(['tc', 'sc']);
    expect(await list({ createdFromMs: 20, createdBeforeMs: 30 })).toEqual(['tc', 'sc', 'sb']);
    expect(await list({ contains: ['"k":"', '"a"'] })).toEqual(['sa']);
    expect(await list({ contains: ['"%"'] })).toEqual([]);
    expect((await store.listNewest({ keys: ['a'], limit: 1 }))[0]?.payload).toBe('{"k":"a"}');
  });

  it('lists the jobs due for erasure, least recently updated first, up to the limit', async () => {
    for (const [key, nowMs] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
    ] as const) {
      await store.claim({ ...claim, key, state: 'done', nowMs });
    }
    const due = await store.listErasable({ states: ['done'], updatedBeforeMs: 99, limit: 2 });
    expect(due.map((job) => job.key)).toEqual(['a', 'b']);
    const rest = { states: ['done'], updatedBeforeMs: 99, skip: 2, limit: 2 };
    expect((await store.listErasable(rest)).map((job) => job.key)).toEqual(['c']);
  });

  it('refuses calls after close, and can be closed twice', async () => {
    await store.close();
    await store.close();
    const closed = { code: 'store_closed' };
    await expect(store.claim(claim)).rejects.toMatchObject(closed);
    await expect(store.get('a', 'b')).rejects.toMatchObject(closed);
    await expect(store.lease(lease)).rejects.toMatchObject(closed);
    await expect(
      store.listErasable({ states: ['done'], updatedBeforeMs: 1, limit: 1 }),
    ).rejects.toMatchObject(closed);
  });
});
