// Retention in the agent: the log and the count of jobs that cannot be erased.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveTraceId } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import type { Log } from '@pool/wallet/node';
import { expect, it } from 'vitest';
import { startRetention } from './retention.ts';

it('names a damaged job by trace id and code, counts it, and erases the others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pool-retention-'));
  const store = await openJobStore({ url: `sqlite:${join(folder, 'jobs.sqlite')}` });
  const payload = JSON.stringify({
    recipients: ['salary-of-alice'],
    phase: { kind: 'failed', error: { code: 'prover_failed', message: '' } },
  });
  const jobs = { 'pay-bob': 'salary-of-bob, damaged', 'pay-alice': payload };
  for (const [key, text] of Object.entries(jobs)) {
    const job = { scope: 's', key, fingerprint: 'f', state: 'failed', payload: text, nowMs: 1 };
    await store.claim(job);
  }
  const lines: { fields: Parameters<Log['info']>[0]; message: string }[] = [];
  const write = (fields: Parameters<Log['info']>[0], message: string): void =>
    void lines.push({ fields, message });
  const retention = startRetention({
    store,
    days: 30,
    openings: { keep: async () => undefined, eraseBefore: async () => 0 },
    disclosureYears: 7,
    nowMs: () => 31 * 86_400_000,
    log: { debug: write, info: write, warn: write, error: write },
  });
  // When a second pass has ended, the pass of the start has ended too.
  await retention.erase();
  expect(retention.failedJobs()).toBe(1);
  const traces = lines.flatMap(({ fields }) => (fields['code'] === undefined ? [] : [fields]));
  expect(traces[0]).toEqual({ trace: deriveTraceId('pay-bob'), code: 'job_unreadable' });
  expect(JSON.stringify(lines)).not.toMatch(/salary|pay-/);
  expect((await store.get('s', 'pay-alice'))?.payload).not.toContain('salary-of-alice');
  retention.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});
