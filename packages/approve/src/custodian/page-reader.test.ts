// Pages that are too large are asked for again with fewer items, at custodian A's list of approvals too.
import { PoolError } from '@pool/core';
import type { CustodianAClient } from '@pool/signers';
import { expect, it } from 'vitest';
import { createApprovals } from '../custodian-a/approvals.ts';
import { createPastTransactions } from '../custodian-b/past-transactions.ts';

const tooLarge = new PoolError('custodian_invalid_response', 'the custodian answered with more');

/** The answers of at most this many items fit. */
function listOf(count: number, fitting: number) {
  const limits: number[] = [];
  const take = (limit: number, start: number) => {
    limits.push(limit);
    if (limit > fitting) {
      throw tooLarge;
    }
    return Array.from({ length: Math.min(limit, count - start) }, (_, index) => start + index);
  };
  return { limits, take };
}

it('reads the whole list of custodian A, whatever the size of its items', async () => {
  const { limits, take } = listOf(12, 5);
  const client = {
    async get(_path: string, { query = {} }: { readonly query?: Record<string, string> } = {}) {
      const start = Number(query['paginationToken'] ?? 0);
      const taken = await Promise.resolve(take(Number(query['limit']), start));
      const items = taken.map((index) => ({ id: `a-${index}`, status: 'Pending' }));
      const end = start + items.length;
      const body = { items, ...(end < 12 ? { nextPageToken: String(end) } : {}) };
      return { status: 200, headers: new Headers(), body };
    },
  } as unknown as CustodianAClient;
  const approvals = createApprovals(client);
  const seen: string[] = [];
  for await (const page of approvals.pages({}, 100)) {
    seen.push(...page.map((one) => (one.kind === 'approval' ? one.approval.id : 'unreadable')));
  }
  expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => `a-${index}`));
  expect(limits).toEqual([100, 20, 5, 5, 5]);
});

const common = { signerId: 'us', findChainId: () => undefined, isListed: () => false };

it('reads the whole list of custodian B, and gives up where one item is too large', async () => {
  const { limits, take } = listOf(12, 10);
  const reader = {
    async get(_path: string, query: Readonly<Record<string, string>> = {}) {
      const start = query['before'] === undefined ? 0 : 1000 - Number(query['before']) + 1;
      return await Promise.resolve(
        take(Number(query['limit']), start).map((index) => ({
          status: 'REJECTED',
          createdAt: 1000 - index,
        })),
      );
    },
  };
  const read = async () => {
    for await (const _ of createPastTransactions({ ...common, reader }).pages()) {
      // Only the queries are looked at.
    }
  };
  await read();
  expect(limits).toEqual([200, 50, 10, 10]);
  const blocked = { get: async () => await Promise.reject(tooLarge) };
  const pages = createPastTransactions({ ...common, reader: blocked }).pages();
  await expect(pages[Symbol.asyncIterator]().next()).rejects.toBe(tooLarge);
});
