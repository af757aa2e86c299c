// The ledger of pay runs: private, durable, one change at a time; on PostgreSQL in Vitest's project `postgres`.
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { queryDatabase } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createJobDatabase, openTestLedger } from '../fixtures/test-ledger.ts';
import type { LedgerPlace } from '../ports.ts';
import { describeUse, findSent } from './pay-run-claim.ts';
import { computePayRunDigest } from './pay-run-key.ts';
import { openPayRunLedger, type PayRunRecord, payRunLedgerPath } from './pay-run-ledger.ts';
import { findSameRoster } from './same-roster.ts';
import { listAllPayRuns, openLedger, shareLabels, takeOver } from './shared-ledger.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const record: PayRunRecord = {
  digest: '0x01',
  parts: [{ attempt: 1, sent: 'sending', sinceMs: 5 }],
};

let home: string;
let place: LedgerPlace;
let isShared: boolean;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'ledger-'));
  const jobs = await createJobDatabase();
  isShared = jobs !== undefined;
  place = { home, jobs: jobs ?? { url: `sqlite:${join(home, 'jobs.sqlite')}` } };
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

async function open() {
  const ledger = await openLedger(place);
  onTestFinished(() => ledger.close().catch(() => undefined));
  return ledger;
}

describe('the ledger of pay runs', () => {
  it('keeps a record after it is reopened', async () => {
    const ledger = await open();
    expect(await ledger.read(name)).toBeUndefined();
    expect(await ledger.change(name, () => record)).toEqual(record);
    await ledger.close();
    expect(await listAllPayRuns(place)).toEqual([{ ...name, record }]);
    expect(await (await open()).read(name)).toEqual(record);
  });

  it('distinguishes labels, tokens and chains, and lists the newest first', async () => {
    const ledger = await open();
    await ledger.change(name, () => record);
    for (const other of [{ payRun: '2026-12' }, { token: 'EURC' }, { chain: 'base' }]) {
      expect(await ledger.read({ ...name, ...other })).toBeUndefined();
    }
    const later = { ...record, parts: [{ attempt: 1, sent: 'no' as const, sinceMs: 6 }] };
    await ledger.change({ ...name, payRun: 'z' }, () => later);
    const labels = (await ledger.listAll()).map(({ payRun }) => payRun);
    expect(labels).toEqual(['z', '2026-11']);
  });

  it('takes over what machines paid before they shared their job store', async () => {
    const path = payRunLedgerPath(home);
    async function keep(kept: PayRunRecord): Promise<void> {
      const file = openPayRunLedger(path);
      await file.change(name, () => kept);
      await file.close();
    }
    const part = { attempt: 1, sent: 'accepted' as const, sinceMs: 5 };
    const paid = { digest: 'a', parts: [part, part] };
    await keep(paid);
    expect(await listAllPayRuns(place)).toEqual([{ ...name, record: paid }]);
    expect(await (await open()).read(name)).toEqual(paid);
    if (!isShared) {
      return;
    }
    expect(existsSync(path)).toBe(false);
    // An agent that starts shares the labels before anybody pays.
    await keep({ digest: 'a', parts: [{ ...part, attempt: 2 }, part] });
    expect(await shareLabels(place)).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect((await (await open()).read(name))?.parts[0]?.attempt).toBe(2);
    // Another machine was further with one part, and had nothing sent of another roster.
    const second = { ...part, attempt: 3, sent: 'sending' as const };
    await keep({ digest: 'a', parts: [second, { ...part, sent: 'no' }] });
    expect(await (await open()).read(name)).toEqual({ digest: 'a', parts: [second, part] });
    await keep({ digest: 'b', parts: [{ ...part, sent: 'no' }] });
    expect((await (await open()).read(name))?.digest).toBe('a');
    for (const other of [
      { digest: 'b', parts: [part, part] },
      { digest: 'a', parts: [part] },
      // Other people were chosen to be paid.
      {
        ...{ digest: 'a', parts: [part, part] },
        invited: {
          until: '2027-01-15',
          rounds: 1,
          direct: [],
          payees: [{ person: 'p', line: 2, amount: '1' }],
        },
      },
    ]) {
      await keep(other);
      await expect(openLedger(place)).rejects.toMatchObject({ code: 'pay_run_conflict' });
      expect(existsSync(path)).toBe(true);
    }
    // Its other labels are shared, older ones too, before anybody moves the file away.
    const older = { digest: 'c', parts: [{ ...part, sinceMs: 1 }] };
    const file = openPayRunLedger(path);
    await file.change({ ...name, payRun: 'older' }, () => older);
    await file.close();
    expect(await shareLabels(place)).toBe(false);
    await expect(openLedger(place)).rejects.toThrow(`"${name.payRun}". Nothing is sent`);
    rmSync(path);
    expect(await (await open()).read({ ...name, payRun: 'older' })).toEqual(older);
  });

  it('writes nothing when the decision throws', async () => {
    const ledger = await open();
    await ledger.change(name, () => record);
    const refuse = (): never => {
      throw new Error('no');
    };
    await expect(ledger.change(name, refuse)).rejects.toThrow('no');
    expect(await ledger.read(name)).toEqual(record);
    await ledger.change(name, (current) => ({ ...record, digest: `${current?.digest}2` }));
    expect((await ledger.read(name))?.digest).toBe('0x012');
  });

  it('loses no change of many commands at once, of which one is the first', async () => {
    const ledgers = await Promise.all(Array.from({ length: 4 }, open));
    let firsts = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        let isFirst = false;
        await ledgers[index % 4]!.change(name, (current) => {
          isFirst = current === undefined;
          return { ...record, digest: `${current?.digest ?? ''}${index} ` };
        });
        firsts += Number(isFirst);
      }),
    );
    const digest = (await ledgers[0]!.read(name))?.digest.trim().split(' ').map(Number);
    expect(digest?.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(firsts).toBe(1);
  });

  it('refuses to guess when a record is damaged', async () => {
    const ledger = await open();
    await ledger.change(name, () => ({ digest: '0x01', parts: [] }));
    for (const read of [() => ledger.read(name), () => listAllPayRuns(place)]) {
      await expect(read()).rejects.toMatchObject({ code: 'store_damaged' });
    }
  });

  it('makes nothing when it is only read', async () => {
    expect(await listAllPayRuns(place)).toEqual([]);
    expect(existsSync(payRunLedgerPath(home))).toBe(false);
    if (isShared) {
      const url = new URL(place.jobs.url);
      url.password = place.jobs.password?.reveal() ?? '';
      const tables = "select 1 from pg_tables where schemaname = 'public'";
      expect(await queryDatabase(url.href, tables)).toEqual([]);
    }
  });
});

describe('the file of a ledger', () => {
  it('can be read only by its owner', async () => {
    await openPayRunLedger(payRunLedgerPath(home)).close();
    expect(statSync(payRunLedgerPath(home)).mode & 0o777).toBe(0o600);
  });

  it('takes over a label whose first payment was of nobody, and whose invited people were paid later', async () => {
    const invited = {
      ...{ until: '2027-01-15', direct: [], rounds: 2 },
      payees: [{ person: 'p', line: 2, amount: '1', round: 2, address: '0x02' }],
    };
    const paid: PayRunRecord = {
      ...{ digest: 'a', invited },
      parts: [{ attempt: 1, sent: 'no', sinceMs: 0 }],
    };
    const path = payRunLedgerPath(home);
    const keep = async (kept: PayRunRecord): Promise<void> => {
      const file = openPayRunLedger(path);
      await file.change(name, () => kept);
      await file.close();
    };
    const shared = openTestLedger();
    onTestFinished(() => shared.close());
    await keep(paid);
    await takeOver(path, shared);
    expect(await shared.read(name)).toEqual(paid);
    // What another machine knows of the same roster replaces nothing of it.
    await keep({ ...paid, parts: [{ attempt: 1, sent: 'accepted', sinceMs: 9 }], digest: 'b' });
    await expect(takeOver(path, shared)).rejects.toMatchObject({ code: 'pay_run_conflict' });
    expect(await shared.read(name)).toEqual(paid);
  });

  it('takes over a label under which nobody could be paid yet, and replaces nothing by it', async () => {
    const payees = [{ person: 'p', line: 2, amount: '1' }];
    const waiting: PayRunRecord = {
      digest: 'a',
      parts: [{ attempt: 1, sent: 'no', sinceMs: 0 }],
      invited: { until: '2027-01-15', direct: [], rounds: 1, payees },
    };
    const shared = openTestLedger();
    onTestFinished(() => shared.close());
    const path = payRunLedgerPath(home);
    for (const kept of [waiting, { ...waiting, digest: 'b' }]) {
      const file = openPayRunLedger(path);
      await file.change(name, () => kept);
      await file.close();
      await takeOver(path, shared);
      expect(await shared.read(name)).toEqual(waiting);
    }
  });

  it('counts a label whose invited people alone were paid as used', () => {
    const entries = [{ recipientAddress: 'invite:p', amount: '1' }];
    const plan = { ...name, entries };
    const digest = computePayRunDigest(plan);
    const paid: PayRunRecord = {
      digest,
      parts: [{ attempt: 1, sent: 'no', sinceMs: 0 }],
      invited: {
        ...{ until: '2027-01-15', direct: [], rounds: 2 },
        payees: [{ person: 'p', line: 2, amount: '1', round: 2, address: '0x02' }],
      },
    };
    const later = { ...name, payRun: `${name.payRun}#2` };
    const known = [
      { ...name, record: paid },
      { ...later, record: { ...record, digest: 'later' } },
    ];
    expect(findSent(paid, digest)).toBe(paid);
    expect(() => describeUse(paid, 'another', false)).toThrow('another roster');
    const other = { ...plan, payRun: 'other' };
    expect(findSameRoster(known, other, 6)).toEqual([{ label: name.payRun, atMs: 5 }]);
    expect(findSameRoster(known.slice(0, 1), other, 1e12)).toEqual([]);
  });

  it('takes the access of other users to an existing ledger away', async () => {
    const path = join(home, 'pay-runs.sqlite');
    await openPayRunLedger(path).close();
    chmodSync(path, 0o644);
    writeFileSync(`${path}-journal`, '', { mode: 0o644 });
    await openPayRunLedger(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    if (existsSync(`${path}-journal`)) {
      expect(statSync(`${path}-journal`).mode & 0o777).toBe(0o600);
    }
  });

  it('names its file if the disk is full, and keeps what it has', async () => {
    const path = payRunLedgerPath(home);
    const ledger = openPayRunLedger(path);
    await ledger.change(name, () => record);
    const { exec } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
      this: DatabaseSync,
      sql,
    ) {
      Reflect.apply(exec, this, ['PRAGMA max_page_count = 1']);
      Reflect.apply(exec, this, [sql]);
    });
    await expect(
      ledger.change(name, () => ({ ...record, digest: 'x'.repeat(100_000) })),
    ).rejects.toThrow(
      expect.objectContaining({
        code: 'disk_full',
        message: expect.stringMatching(new RegExp(`^${path} .*disk is full .*KiB`)),
      }),
    );
    spy.mockRestore();
    expect(await ledger.read(name)).toEqual(record);
    await ledger.close();
  });

  it('names the problem of a file that it cannot use', async () => {
    const path = payRunLedgerPath(home);
    writeFileSync(path, 'this is not a database'.repeat(100));
    expect(() => openPayRunLedger(path)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
    const unavailable = expect.objectContaining({ code: 'store_damaged' });
    expect(() => openPayRunLedger(home)).toThrow(unavailable);
    const ledger = openPayRunLedger(':memory:');
    await ledger.close();
    await expect(ledger.read(name)).rejects.toThrow(unavailable);
    await expect(ledger.change(name, () => record)).rejects.toThrow(unavailable);
  });
});
