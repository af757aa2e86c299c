// Rosters (docs/decisions/0008): every mistake at once, by line and column.
import type { AmountUnit } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { parseRoster } from './roster-csv.ts';

const alice = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
const bob = '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0';

const usdc: AmountUnit = { decimals: 6, symbol: 'USDC', format: 'decimal' };

function mistakesOf(text: string, unit?: AmountUnit): string[] {
  return parseRoster(text, unit).mistakes.map(({ line, column }) => `${line} ${column}`);
}

function messagesOf(text: string, unit?: AmountUnit): string[] {
  return parseRoster(text, unit).mistakes.map(({ message }) => message);
}

describe('parseRoster', () => {
  it('reads base units, with and without memo', () => {
    const text = `address,amount,memo\n${alice},100,November\n${bob},7,\n`;
    expect(parseRoster(text)).toEqual({
      kind: 'roster',
      entries: [
        { recipientAddress: alice, amount: '100', memo: 'November', line: 2 },
        { recipientAddress: bob, amount: '7', line: 3 },
      ],
      mistakes: [],
      unread: [],
    });
  });

  it('accepts the output of spreadsheets: BOM, CRLF, blank lines, quotes, spaces, lower case', () => {
    const text = `\ufeffAddress,Amount,Memo\r\n\r\n"${alice.toLowerCase()}", "100" ,"a, ""b"""\r\n,,\r\n${bob},7,x\r\n`;
    expect(parseRoster(text)).toEqual({
      kind: 'roster',
      entries: [
        { recipientAddress: alice, amount: '100', memo: 'a, "b"', line: 3 },
        { recipientAddress: bob, amount: '7', memo: 'x', line: 5 },
      ],
      mistakes: [],
      unread: [],
    });
  });

  it('reads token units exactly, and refuses more digits than the token has', () => {
    const roster = parseRoster(`address,amount\n${alice},1.5\n${bob},0.000001\n`, usdc);
    expect(roster).toMatchObject({ entries: [{ amount: '1500000' }, { amount: '1' }] });
    expect(mistakesOf(`address,amount\n${alice},0.0000001\n`, usdc)).toEqual(['2 amount']);
    expect(mistakesOf(`address,amount\n${alice},1e3\n`, usdc)).toEqual(['2 amount']);
    expect(mistakesOf(`address,amount\n${alice},1.5\n`)).toEqual(['2 amount']);
  });

  it('reports every mistake with its line and column', () => {
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

  it.each([
    ['a memo', 'address,amount,memo', '1,500', 'comma-point'],
    ['a memo', 'address,amount,memo', '12,500.00', 'comma-point'],
    ['a column that is not read', 'address,amount,currency', '1,500', 'plain'],
    ['cents', 'address,amount,memo', '1,50', 'point-comma'],
  ] as const)('refuses an amount whose end would be %s', (_what, head, written, format) => {
    const unit = { ...usdc, format };
    expect(messagesOf(`${head}\n${alice},${written}\n`, unit)).toEqual([
      expect.stringContaining(`"${written}" can be one amount or two fields`),
    ]);
    const [amount, next] = written.split(',');
    expect(mistakesOf(`${head}\n${alice},${amount},"${next}"\n`, unit)).toEqual([]);
  });

  it('refuses a missing header, an empty roster and an open quote', () => {
    expect(mistakesOf(`${alice},100\n`)).toEqual(['1 header']);
    expect(mistakesOf('')).toEqual(['1 header']);
    expect(mistakesOf('address,amount\n')).toEqual(['1 header']);
    expect(mistakesOf(`address,amount\n"${alice},1\n`)).toEqual(['2 row']);
  });

  it('refuses a memo over two lines, because an open quote could hide a recipient', () => {
    expect(mistakesOf(`address,amount,memo\n${alice},1,"Nov\n${bob},2,ember"\n`)).toEqual([
      '2 row',
      '3 row',
    ]);
    expect(mistakesOf(`address,amount,memo\n${alice},1,"a\rb"\n`)).toEqual(['2 row', '3 row']);
  });

  it('finds the mistakes after an open quote', () => {
    const text = `address,amount,memo\r\n${alice},1,"Nov\r\n${bob},0,x\r\nme,1,"5" pipe\r\n`;
    expect(mistakesOf(text)).toEqual(['2 row', '3 amount', '4 row']);
  });

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('accepts %s as separator if the header uses them', (_what, delimiter) => {
    const lines = [
      ['Address', ' amount', 'memo'],
      [alice, '100', 'a, b'],
      [bob, '7', ''],
    ];
    const text = lines.map((fields) => fields.join(delimiter)).join('\r\n');
    const entries = [
      { recipientAddress: alice, amount: '100', memo: 'a, b', line: 2 },
      { recipientAddress: bob, amount: '7', line: 3 },
    ];
    expect(parseRoster(text)).toEqual({ kind: 'roster', entries, mistakes: [], unread: [] });
    const quoted = text.replace(/[^;\t\r\n]+/g, '"$&"');
    expect(parseRoster(quoted)).toEqual({ kind: 'roster', entries, mistakes: [], unread: [] });
  });

  it('reads the line in which Excel names the separator', () => {
    const text = `sep=;\r\naddress;amount\r\n${alice};5\r\n`;
    expect(parseRoster(text)).toMatchObject({ entries: [{ amount: '5', line: 3 }], mistakes: [] });
    expect(messagesOf(`sep=;\naddress,amount\n${alice},5\n`)[0]).toContain(
      'the header has commas, but the line before it names semicolons',
    );
  });

  it('reads columns by their names, in any order and among others', () => {
    const unit: AmountUnit = { ...usdc, format: 'point-comma' };
    const text = [
      'Name;Memo;Amount;Department;Address',
      `Ann;May;1.234,50 USDC;Sales;${alice}`,
      `Bob;;7;;${bob}`,
    ].join('\n');
    expect(parseRoster(text, unit)).toEqual({
      kind: 'roster',
      entries: [
        { recipientAddress: alice, amount: '1234500000', memo: 'May', line: 2 },
        { recipientAddress: bob, amount: '7000000', line: 3 },
      ],
      mistakes: [],
      unread: ['name', 'department'],
    });
  });

  it('refuses a shorter line among further columns, because its amount may be shifted', () => {
    const text = `address,amount,memo,team\n${alice},1,200.50,x,y\n${bob},1,200.50\n`;
    expect(mistakesOf(text)).toEqual(['2 row', '3 row']);
    expect(messagesOf(text)[1]).toContain('has 3 fields, but the header names 4');
  });

  it('refuses a column that is named twice', () => {
    expect(messagesOf(`address,amount,Amount\n${alice},1,2\n`)).toEqual([
      'the header names the column amount twice; remove one of them',
    ]);
  });

  it('quotes a first line that is not a header, and describes it', () => {
    expect(messagesOf('Name;Betrag\n')).toEqual([
      'the first line is "Name;Betrag"; the header must name the columns address and amount, and memo if there is one; further columns are not read, separated by commas, semicolons or tabs',
    ]);
    expect(messagesOf(`${bob},100\n`)[0]).toContain(`"${bob},100", which is a recipient`);
    expect(messagesOf('address,amount;memo\n')[0]).toContain(
      'ambiguous: it has commas and semicolons',
    );
    expect(messagesOf('\u001b[31mhi\u202e\n')[0]).toContain('"\\u{1b}[31mhi\\u{202e}"');
    expect(messagesOf('x'.repeat(9_999))[0]!.length).toBeLessThan(300);
    expect(messagesOf('\n \r\n')).toEqual(['the file has only blank lines']);
  });

  it('reports a line with another separator than the header', () => {
    expect(messagesOf(`address,amount\n${alice};5\n${bob},5\n`)).toEqual([
      `"${alice};5" has semicolons, but the header has commas; use one of them in the whole file`,
    ]);
    expect(messagesOf(`address;amount\n${alice}\n`)[0]).toContain('has one field');
  });

  it.each([
    ['NUL', 'a\0b', 'U+0000'],
    ['an escape sequence', 'a\u001b[2Jb', 'U+001B'],
    ['an override of direction', 'a\u202eb', 'U+202E, which changes the direction'],
    ['an isolate', 'a\u2066b', 'U+2066, which changes the direction'],
    ['a mark of direction', 'a\u200fb', 'U+200F, which changes the direction'],
    ['a line separator', 'a\u2028b', 'U+2028'],
  ])('refuses %s in a memo, and shows it without its effect', (_what, memo, words) => {
    const text = `address,amount,memo\n${alice},1,${memo}\n`;
    expect(mistakesOf(text)).toEqual(['2 memo']);
    expect(messagesOf(text)[0]).toContain(words);
    expect(messagesOf(text)[0]).not.toContain(memo);
  });

  it('accepts memos in any script', () => {
    for (const memo of ['給与 👩‍👩‍👧', 'راتب نوفمبر', 'Grüße']) {
      expect(mistakesOf(`address,amount,memo\n${alice},1,${memo}\n`)).toEqual([]);
    }
  });

  it('reports the problem of an invalid address', () => {
    const wrong = bob.replace('CA', 'ca');
    const text = ['me', alice.slice(0, -1), wrong, `0x${'0'.repeat(40)}`, '']
      .map((address) => `${address},1`)
      .join('\n');
    expect(messagesOf(`address,amount\n${text}\n`)).toEqual([
      '"me" is not an address: an address is 0x and 40 hex digits',
      `"${alice.slice(0, -1)}" has 39 digits after 0x; an address has 40`,
      expect.stringContaining('wrong checksum'),
      expect.stringContaining('zero address'),
      'the address is missing',
    ]);
  });
});
