// The history of custodian B is whole, or it is refused. The reader is a fake that answers with prepared bodies.
import { describe, expect, it } from 'vitest';
import { textBody } from '../fixtures/bodies.ts';
import { createPastTransactions } from './past-transactions.ts';

const common = { signerId: 'signer', findChainId: () => undefined };

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
  const isListed = (wallet: string): boolean => wallet === '0';
  for await (const page of createPastTransactions({ ...common, reader, isListed }).pages()) {
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
  ['a page without any createdAt', itemsOf(200, () => -1)],
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

it('reads on where more items have one millisecond than a page has', async () => {
  const items = [...itemsOf(300, () => 7), ...itemsOf(10, () => 5)];
  const { queries } = await readAll(({ before, limit }) =>
    items
      .filter(({ createdAt }) => before === undefined || createdAt < Number(before))
      .slice(0, Number(limit)),
  );
  expect(queries.map(({ limit }) => limit)).toEqual(['200', '200', '500']);
});

it('reads an item alone that cannot be read in the list, and passes over one of others', async () => {
  const whole = { id: 'a', status: 'COMPLETED', createdAt: 5, signedBy: ['signer'] };
  const list = [
    { ...whole, createdAt: 'x' },
    { id: 'b', signedBy: ['somebody'] },
    { id: 'c' },
    null,
    { ...whole, id: 'd' },
  ];
  const alone: Readonly<Record<string, unknown>> = { a: whole, b: list[1] };
  const reader = {
    get: async (path: string) =>
      await Promise.resolve(path.endsWith('/transactions') ? list : alone[path.slice(-1)]),
  };
  const found = [];
  const isListed = () => false;
  for await (const page of createPastTransactions({ ...common, reader, isListed }).pages()) {
    found.push(...page.map(({ id, createdAtMs }) => [id, createdAtMs]));
  }
  expect(found).toEqual([
    ['a', 5],
    ['c', Number.POSITIVE_INFINITY],
    ['an approval without an id', Number.POSITIVE_INFINITY],
    ['d', 5],
  ]);
});

describe('a completed text', () => {
  const { message } = textBody('a text that anybody in the workspace can have signed');
  const content = message.slice(2);
  const text = (vault: string, signers: object) => ({
    id: 'text',
    operation: 'TYPED_MESSAGE',
    status: 'COMPLETED',
    createdAt: 5,
    source: { type: 'VAULT_ACCOUNT', id: vault },
    extraParameters: { rawMessageData: { messages: [{ type: 'EIP191', content }] } },
    ...signers,
  });

  it.each([
    ['that another user signed, also with a listed vault', text('0', { signedBy: ['other'] }), 0],
    ['of an unlisted vault without signers', text('7', { signedBy: [] }), 0],
    ['of a listed vault without signers', text('0', {}), 1],
    ['of the paired user with an unlisted vault', text('7', { signedBy: ['signer'] }), 1],
  ])('%s', async (_title, item, approvals) => {
    expect(await readAll(() => [item])).toMatchObject({ approvals });
  });
});
