// `disburse-agent history`: table, CSV and JSON, the range, and following.
import type { History, HistoryEntry } from '@pool/api';
import { bigintToHex32, PoolError } from '@pool/core';
import { textOf } from '@pool/testkit';
import { formatHistoryCsvRows } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { showHistory } from './history-command.ts';
import { parseRange } from './history-range.ts';

const ben = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const eva = '0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
const hash = bigintToHex32(0xabcdn);
function place(id: string) {
  return {
    ...{ id, index: Number(id.split('.')[0]), txHash: hash },
    time: '2026-05-29T09:30:00Z',
  };
}
const sums = { spent: '7000000', change: '4500000', fee: '0' as const };

function received(id: string, memo?: string): HistoryEntry {
  const text = memo === undefined ? {} : { memo };
  const rest = { slot: 1, commitment: hash, isChange: false, balance: '7000000' };
  return { kind: 'received', ...place(id), amount: '7000000', ...text, ...rest };
}
const transfer: HistoryEntry = {
  kind: 'transfer',
  ...place('2'),
  ...sums,
  amount: '2500000',
  balance: '4500000',
  payees: [
    { walletPub: ben, amount: '2000000', memo: '@rent' },
    { walletPub: eva, amount: '500000' },
  ],
};
const erased: HistoryEntry = {
  ...{ kind: 'transfer', ...place('3'), ...sums },
  ...{ amount: '2500000', balance: '2000000' },
};
/** Of a spend one of whose notes this agent does not have. */
const missing: HistoryEntry = {
  ...{ kind: 'transfer', ...place('6'), spent: '1', change: '4500000', fee: '0' },
  balance: '4500000',
};
const send: HistoryEntry = {
  ...{ kind: 'send', ...place('4'), ...sums, amount: '2500000', balance: '1' },
  address: '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0',
};
const merge: HistoryEntry = { kind: 'merge', ...place('5'), ...sums, balance: '1' };
const all = [received('1.1', 'May'), transfer, erased, send, merge];
const labels = new Map([[ben, 'ben']]);

type View = Parameters<typeof showHistory>[3];

/** Serves the pages in turn; the last one stays. */
async function show(
  pages: readonly (readonly HistoryEntry[] | PoolError)[],
  view: Partial<View> = {},
  stopAfter = Number.POSITIVE_INFINITY,
  held: Pick<History, 'locked' | 'lockedUntil'> = {},
) {
  const printed: string[] = [];
  const asked: unknown[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  const client = {
    async history(token: string, range: object): Promise<History> {
      const page = pages[Math.min(asked.length, pages.length - 1)] ?? [];
      asked.push({ token, ...range });
      if (asked.length >= stopAfter) {
        stop.abort();
      }
      if (page instanceof PoolError) {
        throw page;
      }
      const more = asked.length < pages.length && view.follow !== true;
      return {
        chain: 'base',
        symbol: 'USDC',
        decimals: 6,
        walletPub: eva,
        ...held,
        entries: [...page],
        more,
      };
    },
  };
  const output = {
    out: (outcome: string | object) => void printed.push(textOf(outcome)),
    terminal: { isTty: false, write: (text: string) => void notes.push(text) },
  };
  const range = { from: '2026-01-01T00:00:00Z', to: undefined };
  await showHistory(
    client,
    'USDC',
    range,
    { labels, ...view },
    output,
    stop.signal,
    async () => undefined,
  );
  return { printed, asked, written: notes.join('') };
}

it('is not taken for the whole when a signal ends it', async () => {
  await expect(show([[], []], { json: true }, 1)).rejects.toMatchObject({ code: 'interrupted' });
});

describe('a history while spends are underway', () => {
  const held = { locked: '4000000', lockedUntil: '2026-09-21T14:13:20Z' };

  it.each<[string, Partial<View>]>([
    ['the table', {}],
    ['CSV', { csv: true }],
    ['JSON', { json: true }],
  ])('says beside %s what they lock, and until when', async (_, view) => {
    const { printed, written } = await show([[send]], view, Number.POSITIVE_INFINITY, held);
    expect(written).toMatch(/^4 USDC is locked by spends that are underway.*2026-09-21T14:13:20Z/m);
    expect(printed.join('\n')).not.toContain('is locked');
    if (view.json === true) {
      expect(JSON.parse(printed.join(''))).toMatchObject(held);
    }
  });

  it('says nothing of locks if there are none', async () => {
    expect((await show([[send]])).written).not.toContain('locked');
    expect(JSON.parse((await show([[send]], { json: true })).printed.join(''))).not.toHaveProperty(
      'locked',
    );
  });
});

describe('the table of a history', () => {
  it('has UTC times, amounts in token units, change, balance, payees with their contact, and the fee', async () => {
    const { printed, written } = await show([all]);
    const lines = printed.map((line) => line.replace(/ {2,}/g, ' | '));
    expect(lines).toEqual([
      'TIME (UTC) | WHAT | AMOUNT (USDC) | CHANGE | BALANCE | TRANSACTION | DETAILS',
      `2026-05-29 09:30:00 | received | +7 | 7 | ${hash} | "May"`,
      `2026-05-29 09:30:00 | transfer | -2.5 | 4.5 | 4.5 | ${hash} | 2 to @ben (${ben}) "@rent", 0.5 to ${eva}`,
      `2026-05-29 09:30:00 | transfer | -2.5 | 4.5 | 2 | ${hash} | to unknown payees: this agent does not have the spend, or has erased its payees`,
      `2026-05-29 09:30:00 | send | -2.5 | 4.5 | 0.000001 | ${hash} | to 0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0`,
      `2026-05-29 09:30:00 | merge | 0 | 4.5 | 0.000001 | ${hash}`,
    ]);
    expect(written).toContain('The relayer pays the gas');
  });

  it('shows a memo on one line, whatever is in it', async () => {
    const { printed } = await show([[received('1.1', 'a\u001b[2J\nb\u202e')]]);
    expect(printed[1]).toMatch(/"a\\u\{1b\}\[2J\\u\{a\}b\\u\{202e\}"$/);
  });

  it('reads every page, each after the last entry of the one before', async () => {
    const { printed, asked } = await show([[received('1.1'), received('1.3')], [received('2.0')]]);
    expect(printed).toHaveLength(4);
    expect(asked).toEqual([
      { token: 'USDC', from: '2026-01-01T00:00:00Z', to: undefined, after: undefined },
      { token: 'USDC', from: '2026-01-01T00:00:00Z', to: undefined, after: '1.3' },
    ]);
  });
});

describe('the CSV of a history', () => {
  it('has the columns of tax programs, one row for each payee, and no row for a merge', async () => {
    const { printed } = await show([all], { csv: true });
    const date = '2026-05-29 09:30:00 UTC';
    expect(printed).toEqual([
      'Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Label,Description,TxHash,Recipient,Contact,Change Amount,Balance',
      `${date},,,7,USDC,,,,May,${hash},,,,7`,
      `${date},2,USDC,,,,,,'@rent,${hash},${ben},ben,,`,
      `${date},0.5,USDC,,,,,,,${hash},${eva},,4.5,4.5`,
      `${date},2.5,USDC,,,,,,,${hash},unknown,,4.5,2`,
      `${date},2.5,USDC,,,,,,,${hash},0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0,,4.5,0.000001`,
    ]);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '＝1', '"=1'])(
    'has no field that a spreadsheet executes for the memo %j',
    (memo) => {
      const units = { chain: 'base', symbol: 'USDC', decimals: 6 };
      const [row = ''] = formatHistoryCsvRows(received('1.1', memo), units, labels, '');
      const field = /,USDC,,,,("(?:[^"]|"")*"|[^,]*),/.exec(row)?.[1] ?? '';
      const text = field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
      expect(text).toMatch(/^(?:'|")/);
      expect(text.replace(/^'/, '')).toBe(memo);
    },
  );
});

describe('a withdrawal that the holder submitted itself', () => {
  it('has the gas that its gas key paid, once, in the coin of the chain', async () => {
    const paid = { ...send, gasWei: '481000000000000' };
    const table = await show([[paid]]);
    expect(table.printed[1]).toMatch(/ {2}to 0x9fe46736.*; gas 0\.000481 coin of base$/);
    const { printed } = await show([[paid, send]], { csv: true });
    expect(printed[1]).toContain(',2.5,USDC,,,0.000481,coin of base,,');
    expect(printed[2]).toContain(',2.5,USDC,,,,,,');
  });
});

describe('a spend one of whose notes is missing', () => {
  it('has an unknown amount and says what to do, and the rest of the history is shown', async () => {
    const hint =
      'amount unknown: a note that this spend used up is missing; take it with "disburse-agent notes import"';
    const table = await show([[missing, received('7.1')]]);
    expect(table.printed[1]?.replace(/ {2,}/g, ' | ')).toBe(
      `2026-05-29 09:30:00 | transfer | unknown | 4.5 | 4.5 | ${hash} | ${hint}`,
    );
    expect(table.printed).toHaveLength(3);
    const { printed } = await show([[missing]], { csv: true });
    const text = `"${hint.replaceAll('"', '""')}"`;
    expect(printed[1]).toBe(`2026-05-29 09:30:00 UTC,,,,,,,,${text},${hash},unknown,,4.5,4.5`);
  });
});

describe('the JSON of a history', () => {
  it('is one document with base units and contacts', async () => {
    const { printed } = await show([[received('1.1')], [transfer]], { json: true });
    expect(printed).toHaveLength(1);
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({
      chain: 'base',
      entries: [{ amount: '7000000' }, { payees: [{ label: 'ben' }, { walletPub: eva }] }],
    });
  });
});

describe('history --follow', () => {
  it('reports what becomes final later, each entry once, and waits an outage out', async () => {
    const outage = new PoolError('agent_unreachable', 'no agent answers');
    const { printed, asked } = await show(
      [[received('1.1')], [], outage, [transfer], []],
      { follow: true, json: true },
      5,
    );
    expect(printed.map((line) => JSON.parse(line).id)).toEqual(['1.1', '2']);
    expect(asked.map((question) => (question as { after?: string }).after)).toEqual([
      undefined,
      '1.1',
      '1.1',
      '1.1',
      '2',
    ]);
  });

  it('ends with an error that does not pass', async () => {
    const refusal = new PoolError('forbidden', 'another wallet');
    await expect(show([[received('1.1')], refusal], { follow: true })).rejects.toBe(refusal);
    const outage = new PoolError('agent_unreachable', 'no agent answers');
    await expect(show([outage], { follow: true })).rejects.toBe(outage);
  });
});

describe('the range of a history', () => {
  it.each([
    [{}, undefined, undefined],
    [{ from: '2026-05-31' }, '2026-05-31T00:00:00Z', undefined],
    [{ to: '2026-12-31' }, undefined, '2027-01-01T00:00:00Z'],
    [
      { from: '2026-05-31T12:00:00Z', to: '2026-06-01T00:00:00Z' },
      '2026-05-31T12:00:00Z',
      '2026-06-01T00:00:00Z',
    ],
    [{ from: '2026-02-28', to: '2026-02-28' }, '2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z'],
    [{ year: '2026' }, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ])('%j', (options, from, to) => {
    expect(parseRange(options)).toEqual({ from, to });
  });

  it.each([
    [{ from: '31.05.2026' }, '--from'],
    [{ from: '2026-02-30' }, '--from'],
    [{ to: '2026-05-31T12:00:00' }, '--to'],
    [{ to: '2026-05-31T12:00:00+02:00' }, '--to'],
    [{ from: '2026-06-01', to: '2026-05-31' }, '--to'],
    [{ year: '26' }, '--year'],
    [{ year: '2026', from: '2026-01-01' }, '--year'],
  ])('refuses %j', (options, named) => {
    expect(() => parseRange(options)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(named) }),
    );
  });

  it('is refused before the agent is asked, with options that exclude each other', async () => {
    for (const args of [
      ['--csv', '--json'],
      ['--follow', '--year', '2026'],
    ]) {
      const errors: string[] = [];
      const code = await runCli(['history', ...args], {
        out: () => undefined,
        err: (text) => void errors.push(text),
        terminal: { isTty: false, write: () => undefined },
      });
      expect([code, errors]).toEqual([2, [expect.stringMatching(/^invalid_request/)]]);
    }
  });
});
