// Sums over several batches: of one recipient, and of what may pass without people.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  makeBatch,
  makePayee,
  makeTokenPolicy,
  nowMs,
  releasePolicy,
} from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { payeeScopePrefix } from '../history/guard-id.ts';
import type { Ledger } from '../ledger/open-ledger.ts';
import type { RebuiltPayee } from '../rebuild/rebuild-manifest.ts';

const hourMs = 3_600_000;
const dayMs = 86_400_000;

let ledger: Ledger;
let jobs = 0;

beforeEach(() => {
  ledger = createTestLedger();
});

function pay(
  payees: readonly RebuiltPayee[],
  policy: ReturnType<typeof makeTokenPolicy>,
  atMs = nowMs,
) {
  jobs += 1;
  const batch = makeBatch({
    jobKey: `job ${jobs}`,
    payees,
    deadline: Math.floor(atMs / 1000) + 3_600,
  });
  storeBatch(ledger, batch, atMs);
  const decision = ask(ledger, {
    request: fundRequest(batch),
    manifest: batch,
    policy,
    nowMs: atMs,
  });
  return decision.kind === 'approve' ? 'approve' : decision.reason;
}

describe('what one recipient gets on a day', () => {
  const policy = makeTokenPolicy({ maxPerRecipientPerDay: '900' });

  it('is limited over all batches, and another recipient is paid', () => {
    expect(pay([makePayee(1, 500n), makePayee(2, 100n)], policy)).toBe('approve');
    expect(pay([makePayee(1, 401n)], policy)).toBe('recipient-day-limit');
    expect(pay([makePayee(1, 400n)], policy)).toBe('approve');
    expect(pay([makePayee(2, 800n)], policy)).toBe('approve');
    expect(pay([makePayee(2, 1n)], policy)).toBe('recipient-day-limit');
  });

  it('counts a recipient that is listed twice', () => {
    expect(pay([makePayee(1, 450n), makePayee(1, 451n)], policy)).toBe('recipient-day-limit');
  });

  it('is limited for 24 hours across midnight', () => {
    const evening = nowMs + 13 * hourMs;
    expect(pay([makePayee(1, 900n)], policy, evening)).toBe('approve');
    expect(pay([makePayee(1, 1n)], policy, evening + 3 * hourMs)).toBe('rolling-limit');
    expect(pay([makePayee(1, 1n)], policy, evening + dayMs + 1)).toBe('approve');
  });

  it('is kept only where the policy limits it, and erased when it limits nothing any more', () => {
    pay([makePayee(1, 500n)], makeTokenPolicy({}));
    expect(ledger.exportHistory().counts).toHaveLength(1);
    pay([makePayee(1, 100n)], policy);
    expect(ledger.exportHistory().counts).toHaveLength(3);
    ledger.eraseManifests(0, nowMs + dayMs);
    expect(ledger.exportHistory().counts).toHaveLength(3);
    pay([makePayee(1, 500n)], makeTokenPolicy({}), nowMs + 2 * dayMs + 1);
    ledger.eraseManifests(0, nowMs + 2 * dayMs + 1);
    expect(
      ledger
        .exportHistory()
        .counts.map(({ amount }) => amount)
        .toSorted(),
    ).toEqual([100n, 500n, 500n]);
    expect(ledger.verifyAudit().kind).toBe('intact');
  });

  it('is limited after the clock was ahead for a while and the ledger erased', () => {
    expect(pay([makePayee(1, 900n)], policy)).toBe('approve');
    ledger.eraseManifests(0, nowMs + 3 * dayMs);
    expect(pay([makePayee(1, 1n)], policy, nowMs + hourMs)).toBe('recipient-day-limit');
  });

  it.each([
    ['one day', 1],
    ['three days', 3],
  ])('leaves the audit log intact when another ledger imports it after %s', (_title, days) => {
    pay([makePayee(1, 900n)], policy);
    const history = ledger.exportHistory();
    ledger = createTestLedger();
    const importedMs = nowMs + days * dayMs;
    ledger.importHistory(history, importedMs);
    for (const afterMs of [0, dayMs + hourMs, 2 * dayMs + hourMs]) {
      expect(pay([makePayee(2, 1n)], policy, importedMs + afterMs)).toBe('approve');
      ledger.eraseManifests(0, importedMs + afterMs);
      expect(ledger.verifyAudit()).toMatchObject({ kind: 'intact' });
    }
    const erased = history.counts.filter(({ scope }) => scope.startsWith(payeeScopePrefix));
    expect(erased).toHaveLength(1);
    expect(ledger.exportHistory().counts).not.toContainEqual(erased[0]);
    ledger.importHistory(history, importedMs + 3 * dayMs);
    expect(ledger.exportHistory().counts).not.toContainEqual(erased[0]);
  });
});

describe('the threshold for people', () => {
  const policy = makeTokenPolicy({ holdAbove: '1000' }, { humanRelease: releasePolicy });

  it('is that of the last 24 hours, so batches below it do not add up to more', () => {
    expect(pay([makePayee(1, 600n)], policy)).toBe('approve');
    expect(pay([makePayee(2, 401n)], policy, nowMs + hourMs)).toBe('hold-amount');
    expect(pay([makePayee(2, 400n)], policy, nowMs + hourMs)).toBe('approve');
    expect(pay([makePayee(3, 1n)], policy, nowMs + 2 * hourMs)).toBe('hold-amount');
    expect(pay([makePayee(3, 600n)], policy, nowMs + dayMs + 1)).toBe('approve');
  });
});
