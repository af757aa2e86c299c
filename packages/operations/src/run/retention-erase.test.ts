// Retention over a real SQLite file: a job that cannot be erased does not keep the data of other jobs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bigintToHex32 } from '@pool/core';
import { type JobStore, openJobStore } from '@pool/idempotency';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWorld } from '../fixtures/fake-world.ts';
import { readView } from '../fixtures/view-record.ts';
import { serializeRecord } from './job/record.ts';
import { eraseExpired } from './retention.ts';

const dayMs = 86_400_000;
const scope = 'employer';

let folder: string;
let path: string;
let store: JobStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pool-retention-'));
  path = join(folder, 'jobs.sqlite');
  store = await openJobStore({ url: `sqlite:${path}` });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Jobs that failed long ago, oldest first. */
async function fill(count: number): Promise<readonly string[]> {
  const keys = Array.from({ length: count }, (_, index) => `job-${index}`);
  for (const [index, key] of keys.entries()) {
    const payload = serializeRecord({
      employerId: scope,
      key,
      chain: 'anvil',
      tokenSymbol: 'USDC',
      requestDigest: bigintToHex32(1n),
      recipients: [],
      skipped: [
        { requestIndex: 0, recipientAddress: 'salary-of-alice', code: 'skipped', message: '' },
      ],
      stageSeconds: {},
      requestId: undefined,
      stage: undefined,
      allowanceState: undefined,
      foreign: [],
      blocked: undefined,
      phase: { kind: 'failed', error: { code: 'prover_failed', message: '' } },
    });
    await store.claim({ scope, key, fingerprint: key, state: 'failed', payload, nowMs: index });
  }
  return keys;
}

/** Damage as from a defective disk or another program. */
function damage(keys: readonly string[], payload: string): void {
  const database = new DatabaseSync(path);
  const write = database.prepare('UPDATE job SET payload = ? WHERE key = ?');
  for (const key of keys) {
    write.run(payload, key);
  }
  database.close();
}

async function listKept(keys: readonly string[]): Promise<readonly string[]> {
  const jobs = await Promise.all(keys.map((key) => store.get(scope, key)));
  return jobs.flatMap((job) =>
    job?.payload.includes('salary-of-alice') === true ? [job.key] : [],
  );
}

it.each([
  ['a permit', true],
  ['an approval', false],
])('erases recipients, proof and signatures of a job that was paid with %s', async (_, permit) => {
  const world = await createWorld({ permit });
  const job = await world.accept();
  await world.run(job);
  const before = job.record();
  await store.claim({
    scope,
    key: 'paid',
    fingerprint: 'paid',
    state: 'done',
    payload: job.payload(),
    nowMs: 0,
  });
  expect(await eraseExpired(store, 30, 31 * dayMs)).toEqual({ erased: 1, failed: [] });
  const payload = (await store.get(scope, 'paid'))?.payload ?? '';
  const after: unknown = readView(payload);
  expect(after).toMatchObject({ recipients: [], skipped: [], approvals: [] });
  expect(after).toMatchObject({ key: before.key, result: before.result });
  for (const name of ['proved', 'signature', 'permit']) {
    expect(after).not.toHaveProperty(name);
  }
  expect(before.proved).toBeDefined();
  expect(before.signature).toBeDefined();
  expect(before.permit !== undefined).toBe(permit);
  expect(before.approvals.length > 0).toBe(!permit);
});

it('erases 299 of 300 jobs when the oldest is damaged, and names that one', async () => {
  const keys = await fill(300);
  damage(['job-0'], '{"recipients": ["salary-of-alice"');
  expect(await eraseExpired(store, 30, 31 * dayMs)).toEqual({
    erased: 299,
    failed: [{ scope, key: 'job-0', code: 'job_unreadable' }],
  });
  expect(await listKept(keys)).toEqual(['job-0']);
});

it('skips more damaged jobs than one read returns, tries each once, and tries again at the next run', async () => {
  const keys = await fill(300);
  const damaged = keys.slice(0, 150);
  damage(damaged, '{"version": 2, "of": "salary-of-alice"}');
  const first = await eraseExpired(store, 30, 31 * dayMs);
  expect(first.erased).toBe(150);
  expect(first.failed.map(({ key }) => key)).toEqual(damaged);
  expect(await listKept(keys)).toEqual(damaged);
  const second = await eraseExpired(store, 30, 31 * dayMs);
  expect([second.erased, second.failed.length]).toEqual([0, 150]);
});

it('ends with the error of a busy store, and reports no job as damaged', async () => {
  await fill(3);
  const busy = Object.assign(new Error('busy'), {
    code: 'store_busy',
    retryable: true,
    status: 503,
  });
  const failing: JobStore = { ...store, erase: () => Promise.reject(busy) };
  await expect(eraseExpired(failing, 30, 31 * dayMs)).rejects.toBe(busy);
});
