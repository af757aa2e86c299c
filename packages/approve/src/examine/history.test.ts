// How far the comparison of a ledger with the custodian's history reads, and what a history says. The source is a fake with prepared pages.
import { hex32Schema, parseWire } from '@pool/core';
import { openLedger, parsePolicy } from '@pool/policy';
import { expect, it } from 'vitest';
import { fundBody, permitBody } from '../fixtures/bodies.ts';
import { funder, fundFile, holder, policyJson } from '../fixtures/payroll.ts';
import { readTypedData } from '../preimage/typed-data.ts';
import { createHistoryCheck, type PastApproval } from './history.ts';

const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;
const wallets = { funderWallet: 'wa-funder', holderWallet: 'wa-holder', initiator: 'us-agent' };

/** @param atMs - when it was approved. @param createdAtMs - when it was asked for */
function spend(index: number, atMs: number, createdAtMs = atMs): PastApproval {
  const digest = parseWire(hex32Schema, `0x${String(index).padStart(64, '0')}`, 'a digest');
  const reading = { kind: 'hash', digest } as const;
  return { id: `spend-${index}`, wallet: 'wa-holder', reading, createdAtMs, atMs };
}

/** It has no guard in a history. */
function permit(atMs: number): PastApproval {
  const reading = readTypedData(permitBody(fundFile()));
  return { id: 'permit', wallet: 'wa-funder', reading, createdAtMs: atMs, atMs };
}

function openCheck(pages: readonly (readonly PastApproval[])[]) {
  const ledger = openLedger({ path: ':memory:', role: 'voter' });
  const policy = parsePolicy(policyJson(wallets));
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
  return { ledger, check: check(pages), checkOf: check };
}

/** A ledger that has these approvals, and a custodian that shows the pages. @returns what the ledger lacks */
async function compare(
  known: readonly PastApproval[],
  pages: readonly (readonly PastApproval[])[],
  voteMs: number,
): Promise<number> {
  const { ledger, check, checkOf } = openCheck(pages);
  try {
    const { history } = await checkOf([known]).readAll();
    ledger.importHistory(history, nowMs);
    const { missing } = await check.compare({ nowMs, voteMs });
    expect(ledger.status().isRestored).toBe(missing.length > 0);
    return missing.length;
  } finally {
    ledger.close();
  }
}

async function readAll(pages: readonly (readonly PastApproval[])[]) {
  const { ledger, check } = openCheck(pages);
  ledger.close();
  return await check.readAll();
}

it('reads on after a page without a guard', async () => {
  const pages = [[permit(nowMs - 1)], [spend(1, nowMs - 2)]];
  expect(await compare([], pages, 0)).toBe(1);
});

it('reads back for the time of a vote before the newest approval, though a page before is known', async () => {
  const known = [spend(1, nowMs - 1)];
  const pages = [known, [spend(2, nowMs - hourMs)]];
  expect(await compare(known, pages, 2 * hourMs)).toBe(1);
});

it('finds an approval of a request that is older than a page of known ones', async () => {
  const known = [spend(1, nowMs - 3 * hourMs)];
  // Asked for before, and approved after them.
  const pages = [known, [spend(2, nowMs - hourMs, nowMs - 4 * hourMs)]];
  expect(await compare(known, pages, 2 * hourMs)).toBe(1);
  const late = [spend(3, nowMs - 1, nowMs - hourMs), spend(1, nowMs - 3 * hourMs, nowMs - hourMs)];
  expect(await compare(late, [late, pages[1] ?? []], 2 * hourMs)).toBe(1);
});

it('ends at a known page that is old enough', async () => {
  const known = [spend(1, nowMs - hourMs), spend(2, nowMs - 2 * hourMs)];
  const pages = [known, [spend(3, nowMs - 3 * hourMs)]];
  expect(await compare(known, pages, hourMs)).toBe(0);
});

it('knows what was approved for a wallet that has left the policy', async () => {
  const reading = readTypedData(fundBody(fundFile()));
  const shown = { id: 'fund', wallet: 'wa-removed', reading, createdAtMs: nowMs, atMs: nowMs };
  const removed = { ...spend(1, nowMs), wallet: 'wa-removed' };
  const { history, unknown } = await readAll([[shown, removed, spend(2, nowMs)]]);
  expect(unknown).toEqual([]);
  expect(history.counts).toMatchObject([{ amount: 300n }]);
  expect(history.guards.map(({ id }) => id)).toEqual([
    expect.stringContaining(`/${funder}/`),
    expect.stringMatching(/^spend-digest\/0x0+1$/),
    expect.stringMatching(new RegExp(`^spend-digest/${holder}/0x0+2$`)),
  ]);
});

it('names each approval once that it cannot describe', async () => {
  const common = { createdAtMs: nowMs, atMs: nowMs };
  const other = {
    id: 'a change of policies',
    wallet: '',
    reading: { kind: 'foreign', message: 'no signature' },
    ...common,
  } as const;
  const unsignedTransaction = '0x02' as never;
  const preimage = { kind: 'transaction', unsignedTransaction } as const;
  const lost = {
    id: 'an approval of a removed wallet',
    wallet: 'wa-removed',
    reading: preimage,
    ...common,
  } as const;
  const text = {
    id: 'a text',
    wallet: 'wa-holder',
    reading: { kind: 'text', text: 'I agree.' },
    ...common,
  } as const;
  const { approvals, unknown } = await readAll([
    [other, lost],
    [lost, text, permit(nowMs)],
  ]);
  expect(approvals).toBe(4);
  expect(unknown).toEqual([
    { id: other.id, why: 'no signature' },
    { id: lost.id, why: 'the policy does not list the wallet wa-removed' },
    { id: text.id, why: 'the request is not a valid document of its kind' },
  ]);
});
