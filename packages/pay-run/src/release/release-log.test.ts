// The release log of one machine, and in Vitest's project `postgres` that of several agents: one chain, whoever writes.
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReleaseLog } from '@pool/operations';
import { type NewReleaseEntry, verifyReleaseLog } from '@pool/policy';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createJobDatabase } from '../fixtures/test-ledger.ts';
import type { LedgerPlace } from '../ports.ts';

const entry: Omit<NewReleaseEntry, 'key'> = {
  ...{ at: '2026-11-23T09:00:00.000Z', event: 'prepare', by: 'loopback' },
  ...{ chain: 'base', token: 'USDC', total: '500', count: 2, policy: 'ab'.repeat(32) },
};

let place: LedgerPlace;
let isShared: boolean;
beforeEach(async () => {
  const home = mkdtempSync(join(tmpdir(), 'release-log-'));
  const jobs = await createJobDatabase();
  isShared = jobs !== undefined;
  place = { home, jobs: jobs ?? { url: `sqlite:${join(home, 'jobs.sqlite')}` } };
});

async function open() {
  const log = await openReleaseLog(place);
  onTestFinished(() => log.close());
  return log;
}

describe('a release log', () => {
  it('is one chain, although two processes write it at once', async () => {
    const logs = [await open(), await open()] as const;
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        logs[index % 2 === 0 ? 0 : 1].append({ ...entry, key: `run-${index}` }, `id ${index}`),
      ),
    );
    const entries = await logs[0].listSince();
    expect(entries).toHaveLength(12);
    expect(verifyReleaseLog(entries).kind).toBe('intact');
  });

  it('has an entry once, whoever appends it again, also after it is reopened', async () => {
    const first = await open();
    const stored = await first.append({ ...entry, key: 'run' }, 'prepare run');
    const second = await open();
    expect(await second.append({ ...entry, by: 'other', key: 'run' }, 'prepare run')).toEqual(
      stored,
    );
    expect(await second.listOf('run')).toEqual([stored]);
    expect(await second.listOf('other')).toEqual([]);
    const atMs = Date.parse(entry.at);
    expect(await second.listSince(atMs)).toHaveLength(1);
    expect(await second.listSince(atMs + 1)).toHaveLength(0);
  });

  it('is a file that only its owner can read, unless it is on a server', async () => {
    await open();
    const mode = isShared ? 0o600 : statSync(join(place.home, 'release-log.sqlite')).mode;
    expect(mode & 0o777).toBe(0o600);
  });
});
