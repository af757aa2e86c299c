// The ledger of pay runs: private, durable, one change at a time.
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  listAllPayRuns,
  openPayRunLedger,
  type PayRunRecord,
  payRunLedgerPath,
} from './pay-run-ledger.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const record: PayRunRecord = {
  digest: '0x01',
  parts: [{ attempt: 1, sent: 'sending', sinceMs: 5 }],
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ledger-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

describe('the ledger of pay runs', () => {
  it('keeps a record after it is reopened, in a file that only its owner can read', () => {
    const ledger = openPayRunLedger(payRunLedgerPath(home));
    expect(ledger.read(name)).toBeUndefined();
    expect(ledger.change(name, () => record)).toEqual(record);
    ledger.close();
    expect(statSync(payRunLedgerPath(home)).mode & 0o777).toBe(0o600);
    expect(listAllPayRuns(home)).toEqual([{ ...name, record }]);
  });

  it('takes the access of other users to an existing ledger away', () => {
    const path = join(home, 'pay-runs.sqlite');
    openPayRunLedger(path).close();
    chmodSync(path, 0o644);
    writeFileSync(`${path}-journal`, '', { mode: 0o644 });
    openPayRunLedger(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    if (existsSync(`${path}-journal`)) {
      expect(statSync(`${path}-journal`).mode & 0o777).toBe(0o600);
    }
  });

  it('distinguishes labels, tokens and chains', () => {
    const ledger = openPayRunLedger(':memory:');
    ledger.change(name, () => record);
    for (const other of [{ payRun: '2026-12' }, { token: 'EURC' }, { chain: 'base' }]) {
      expect(ledger.read({ ...name, ...other })).toBeUndefined();
    }
    ledger.close();
  });

  it('writes nothing when the decision throws', () => {
    const ledger = openPayRunLedger(':memory:');
    ledger.change(name, () => record);
    expect(() =>
      ledger.change(name, () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(ledger.read(name)).toEqual(record);
    ledger.change(name, (current) => ({ ...record, digest: `${current?.digest}2` }));
    expect(ledger.read(name)?.digest).toBe('0x012');
    ledger.close();
  });

  it('refuses to guess when a record is damaged', () => {
    openPayRunLedger(payRunLedgerPath(home)).close();
    const database = new DatabaseSync(payRunLedgerPath(home));
    database.exec(`INSERT INTO pay_run VALUES ('anvil', 'USDC', '2026-11', '{"digest":"0x01"}')`);
    database.close();
    expect(() => listAllPayRuns(home)).toThrow(expect.objectContaining({ code: 'store_damaged' }));
  });

  it('names its file if the disk is full, and keeps what it has', () => {
    const path = payRunLedgerPath(home);
    const ledger = openPayRunLedger(path);
    ledger.change(name, () => record);
    const { exec } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
      this: DatabaseSync,
      sql,
    ) {
      Reflect.apply(exec, this, ['PRAGMA max_page_count = 1']);
      Reflect.apply(exec, this, [sql]);
    });
    expect(() => ledger.change(name, () => ({ ...record, digest: 'x'.repeat(100_000) }))).toThrow(
      expect.objectContaining({
        code: 'disk_full',
        message: expect.stringMatching(new RegExp(`^${path} .*disk is full .*KiB`)),
      }),
    );
    spy.mockRestore();
    expect(ledger.read(name)).toEqual(record);
    ledger.close();
  });

  it('creates no file when it is only read', () => {
    expect(listAllPayRuns(home)).toEqual([]);
    expect(existsSync(payRunLedgerPath(home))).toBe(false);
  });

  it('names the problem of a file that it cannot use', () => {
    const path = payRunLedgerPath(home);
    writeFileSync(path, 'this is not a database'.repeat(100));
    expect(() => openPayRunLedger(path)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
    const unavailable = expect.objectContaining({ code: 'store_damaged' });
    expect(() => openPayRunLedger(home)).toThrow(unavailable);
    const ledger = openPayRunLedger(':memory:');
    ledger.close();
    expect(() => ledger.read(name)).toThrow(unavailable);
    expect(() => ledger.change(name, () => record)).toThrow(unavailable);
  });
});
