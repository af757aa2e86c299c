// What the clock is compared with, and the sums of a day and of 24 hours.
import { describe, expect, it, onTestFinished } from 'vitest';
import { decideIntake } from '../decide/decide-intake.ts';
import { makeBatch, makePayee, makeTokenPolicy, nowMs } from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const policy = makeTokenPolicy({ maxPerRecipient: '1500', maxPerBatch: '1500', maxPerDay: '1500' });

function openLedgerForTest() {
  const ledger = createTestLedger();
  onTestFinished(() => ledger.close());
  let jobs = 0;
  return {
    ledger,
    /** Asks for another batch of this amount. */
    askFor(amount: bigint, atMs: number, facts?: Asked['facts']) {
      jobs += 1;
      const deadline = Math.floor(atMs / 1000) + 7_200;
      const batch = makeBatch({ jobKey: `job ${jobs}`, deadline, payees: [makePayee(1, amount)] });
      storeBatch(ledger, batch, atMs);
      const asked = { request: fundRequest(batch), manifest: batch, policy, nowMs: atMs };
      return ask(ledger, { ...asked, ...(facts === undefined ? {} : { facts }) });
    },
  };
}

describe('the clock', () => {
  it('must not lie behind the newest approval of the ledger by more than five minutes', () => {
    const { askFor } = openLedgerForTest();
    expect(askFor(1n, nowMs).kind).toBe('approve');
    expect(askFor(1n, nowMs - 299_000).kind).toBe('approve');
    const behind = askFor(1n, nowMs - 301_000);
    expect(behind).toMatchObject({ kind: 'later', reason: 'clock-behind-ledger' });
    expect(behind.rules[0]).toMatchObject({ rule: 'clock', verdict: 'wait' });
  });

  it.each([
    [300, 'approve'],
    [-300, 'approve'],
    [302, 'later'],
    [-302, 'later'],
  ])('may differ from a newest block by five minutes: %i seconds', (seconds, kind) => {
    const { askFor } = openLedgerForTest();
    const blockSeconds = Math.floor(nowMs / 1000) + seconds;
    const right = { blockSeconds: Math.floor(nowMs / 1000), maxDifferenceSeconds: 300 };
    const clock = [right, { blockSeconds, maxDifferenceSeconds: 300 }];
    expect(askFor(1n, nowMs, { batch: 'open', clock }).kind).toBe(kind);
  });

  it('refuses nothing for good while it is wrong, or while no node answers', () => {
    const { askFor, ledger } = openLedgerForTest();
    const clock = [{ blockSeconds: nowMs / 1000 - dayMs / 1000, maxDifferenceSeconds: 300 }];
    expect(askFor(9_999n, nowMs, { batch: 'open', clock })).toMatchObject({
      kind: 'later',
      reason: 'clock-differs',
    });
    expect(askFor(9_999n, nowMs, { batch: 'open', clock: undefined })).toMatchObject({
      kind: 'later',
      reason: 'facts-unavailable',
    });
    expect(ledger.status().votes).toBe(0);
  });

  it('must be right for a manifest to be stored', () => {
    const { ledger } = openLedgerForTest();
    const manifest = makeBatch({ payees: [makePayee(1, 1n)] });
    const take = (facts: Asked['facts'] = {}) =>
      ledger.read((view) => decideIntake({ manifest, policy, ledger: view, facts, nowMs }).kind);
    const blockSeconds = Math.floor(nowMs / 1000) - 3_600;
    expect(take()).toBe('store');
    expect(take({ clock: [{ blockSeconds, maxDifferenceSeconds: 300 }] })).toBe('later');
  });
});

describe('the limit of a day', () => {
  it('holds for every 24 hours, also around midnight', () => {
    const { askFor } = openLedgerForTest();
    const lateMs = Date.parse('2026-11-23T23:30:00Z');
    expect(askFor(1_500n, lateMs).kind).toBe('approve');
    expect(askFor(1n, lateMs + hourMs)).toMatchObject({ kind: 'later', reason: 'rolling-limit' });
    expect(askFor(1_500n, lateMs + dayMs).kind).toBe('approve');
  });

  it('counts what is dated ahead', () => {
    const { askFor, ledger } = openLedgerForTest();
    expect(askFor(1_500n, nowMs).kind).toBe('approve');
    const { counts } = ledger.exportHistory();
    const other = createTestLedger();
    onTestFinished(() => other.close());
    other.importHistory(
      { guards: [], counts, pins: [], payees: [], rosters: [], nullifiers: [], releases: [] },
      nowMs,
    );
    const scope = counts[0]?.scope ?? '';
    expect(other.read((view) => view.sumSince(scope, nowMs - 3 * dayMs))).toBe(1_500n);
    expect(other.read((view) => view.sumSince(scope, nowMs))).toBe(0n);
  });
});
