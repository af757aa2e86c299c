// The history of custodian B is whole, or it is refused. The reader is a fake that answers with prepared bodies.
import { expect, it } from 'vitest';
import { createPastTransactions } from './past-transactions.ts';

type Query = Readonly<Record<string, string>>;

/** @returns how many approvals the list shows, and the queries that were read */
async function readAll(answer: (query: Query) => unknown) {
  const queries: Query[] = [];
  const reader = {
    async get(_path: string, query: Query = {}) {
      queries.push(query);
      return await Promise.resolve(answer(query));
    },
  };
  let approvals = 0;
  for await (const page of createPastTransactions(reader, 'signer', () => undefined).pages()) {
    approvals += page.length;
  }
  return { approvals, queries };
}

function itemsOf(length: number, createdAt: (index: number) => number) {
  return Array.from({ length }, (_, index) => ({
    status: 'REJECTED',
    signedBy: [],
    createdAt: createdAt(index),
  }));
}

it.each([
  ['a 404', undefined],
  ['an object', { transactions: [] }],
  ['an item without createdAt', [{ status: 'COMPLETED' }]],
  ['an item that is null', [null]],
  ['a list that never goes back', itemsOf(200, () => 7)],
])('refuses %s', async (_title, body) => {
  await expect(readAll(() => body)).rejects.toMatchObject({ code: 'custodian_invalid_response' });
});

it('takes an empty list', async () => {
  expect(await readAll(() => [])).toMatchObject({ approvals: 0 });
});

it('reads on from the millisecond of the last item, which others may share', async () => {
  const { queries } = await readAll(({ before }) =>
    before === undefined ? itemsOf(200, (index) => 1000 - index) : [],
  );
  expect(queries).toEqual([{ limit: '200' }, { limit: '200', before: '802' }]);
});
