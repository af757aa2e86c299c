// How far the comparison of a ledger with the custodian's history reads. The source is a fake with prepared pages.
import { hex32Schema, parseWire } from '@pool/core';
import { openLedger, parsePolicy } from '@pool/policy';
import { expect, it } from 'vitest';
import { policyJson } from '../fixtures/payroll.ts';
import { createHistoryCheck, type PastApproval } from './history.ts';

const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;

function spend(index: number, atMs: number): PastApproval {
  const digest = parseWire(hex32Schema, `0x${String(index).padStart(64, '0')}`, 'a digest');
  return { wallet: 'wa-holder', preimage: { kind: 'hash', digest }, atMs };
}

/** As a permit, it has no guard in a history. */
function unguarded(atMs: number): PastApproval {
  return { wallet: 'wa-funder', preimage: { kind: 'text', text: 'no known message' }, atMs };
}

/** A ledger that has these approvals, and a custodian that shows the pages. @returns what the ledger lacks */
async function compare(
  known: readonly PastApproval[],
  pages: readonly (readonly PastApproval[])[],
  backToMs: number,
): Promise<number> {
  const ledger = openLedger({ path: ':memory:', role: 'voter' });
  const policy = parsePolicy(policyJson({ funderWallet: 'wa-funder', initiator: 'us-agent' }));
  const check = (shown: readonly (readonly PastApproval[])[]) =>
    createHistoryCheck({
      source: {
        async *pages() {
          yield* await Promise.resolve(shown);
        },
      },
      ledger,
      policy: () => policy,
    });
  try {
    const { history } = await check([known]).readAll();
    ledger.importHistory(history, nowMs);
    const { missing } = await check(pages).compare({ nowMs, backToMs });
    expect(ledger.status().isRestored).toBe(missing.length > 0);
    return missing.length;
  } finally {
    ledger.close();
  }
}

it('reads on after a page without a guard', async () => {
  const pages = [[unguarded(nowMs - 1)], [spend(1, nowMs - 2)]];
  expect(await compare([], pages, nowMs)).toBe(1);
});

it('reads back for the whole time that it is told, though a page before is known', async () => {
  const known = [spend(1, nowMs - 1)];
  const pages = [known, [spend(2, nowMs - hourMs)]];
  expect(await compare(known, pages, nowMs - 2 * hourMs)).toBe(1);
});

it('ends at a known page that is old enough', async () => {
  const known = [spend(1, nowMs - hourMs)];
  const pages = [known, [spend(2, nowMs - 2 * hourMs)]];
  expect(await compare(known, pages, nowMs - hourMs)).toBe(0);
});
