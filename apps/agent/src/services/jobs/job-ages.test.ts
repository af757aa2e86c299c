import { createMemoryStore } from '@pool/idempotency';
import { expect, it } from 'vitest';
import { readOldestJobs } from './job-ages.ts';

it('gives the oldest job of each stage, and nothing while the store does not answer', async () => {
  const store = createMemoryStore();
  for (const [key, stage, movedAtMs] of [
    ['a', 'settling', 9_000],
    ['b', 'settling', 4_000],
    ['c', 'awaiting-release', 1_000],
  ] as const) {
    const payload = JSON.stringify({ stage, movedAtMs });
    const job = { scope: 's', key, fingerprint: 'f', state: 'submitted', payload, nowMs: 500 };
    await store.claim(job);
  }
  const fresh = { scope: 's', key: 'd', fingerprint: 'f', state: 'accepted', payload: '{}' };
  await store.claim({ ...fresh, nowMs: 8_000 });
  expect(await readOldestJobs(store, 10_000)).toEqual({
    settling: 6,
    'awaiting-release': 9,
    'not-started': 2,
  });
  await store.close();
  expect(await readOldestJobs(store, 10_000)).toEqual({});
});
