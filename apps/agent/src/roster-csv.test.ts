// Rosters (docs/decisions/0009): every mistake at once, by line and column.
import { describe, expect, it } from 'vitest';
import { createRosterError, parseRoster } from './roster-csv.ts';

const alice = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
const bob = '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0';

function mistakesOf(text: string, decimals?: number): string[] {
  const roster = parseRoster(text, decimals === undefined ? {} : { decimals });
  return roster.kind === 'mistakes'
    ? roster.mistakes.map(({ line, column }) => `${line} ${column}`)
    : [];
}

describe('parseRoster', () => {
  it('reads base units, with and without memo', () => {
    const text = `address,amount,memo\n${alice},100,November\n${bob},7,\n`;
    expect(parseRoster(text)).toEqual({
      kind: 'roster',
      entries: [
        { recipientAddress: alice, amount: '100', memo: 'November' },
        { recipientAddress: bob, amount: '7' },
      ],
    });
  });

  it('takes what spreadsheets write: BOM, CRLF, blank lines, quotes, spaces, lower case', () => {
    const text = `\ufeffAddress,Amount,Memo\r\n\r\n"${alice.toLowerCase()}", "100" ,"a, ""b"""\r\n,,\r\n${bob},7,x\r\n`;
    expect(parseRoster(text)).toEqual({
      kind: 'roster',
      entries: [
        { recipientAddress: alice, amount: '100', memo: 'a, "b"' },
        { recipientAddress: bob, amount: '7', memo: 'x' },
      ],
    });
  });

  it('reads token units exactly, and refuses more digits than the token has', () => {
    const roster = parseRoster(`address,amount\n${alice},1.5\n${bob},0.000001\n`, { decimals: 6 });
    expect(roster).toMatchObject({ entries: [{ amount: '1500000' }, { amount: '1' }] });
    expect(mistakesOf(`address,amount\n${alice},0.0000001\n`, 6)).toEqual(['2 amount']);
    expect(mistakesOf(`address,amount\n${alice},1e3\n`, 6)).toEqual(['2 amount']);
    expect(mistakesOf(`address,amount\n${alice},1.5\n`)).toEqual(['2 amount']);
  });

  it('finds every mistake, where it is', () => {
    const text = [
      'address,amount,memo',
      `${alice},100`,
      'nobody,0',
      '',
      `${alice.toLowerCase()},5`,
      `${bob},5,${'m'.repeat(112)}`,
      `0x751Ca7928deBE9e5DBE56adC2A366E5F61bed0B0,5`,
      `${bob},5,x,y`,
    ].join('\n');
    expect(mistakesOf(text)).toEqual([
      '3 address',
      '3 amount',
      '5 address',
      '6 memo',
      '7 address',
      '8 row',
      '8 address',
    ]);
  });

  it('refuses a missing header, an empty roster and an open quote', () => {
    expect(mistakesOf(`${alice},100\n`)).toEqual(['1 header']);
    expect(mistakesOf('')).toEqual(['1 header']);
    expect(mistakesOf('address,amount\n')).toEqual(['1 row']);
    expect(mistakesOf(`address,amount\n"${alice},1\n`)).toHaveLength(1);
  });

  it('prints mistakes as file:line: column: what to do', () => {
    const roster = parseRoster('address,amount\nnobody,1\n');
    const mistakes = roster.kind === 'mistakes' ? roster.mistakes : [];
    expect(createRosterError('pay.csv', mistakes).message).toMatch(/^pay\.csv:2: address: not an/);
  });

  it('refuses a memo over two lines: an open quote may have swallowed a payee', () => {
    expect(mistakesOf(`address,amount,memo\n${alice},1,"Nov\n${bob},2,ember"\n`)).toEqual([
      '3 memo',
    ]);
    expect(mistakesOf(`address,amount,memo\n${alice},1,"a\rb"\n`)).toEqual(['3 memo']);
  });
});
