/** A list of people to invite: what it may look like, and every mistake by its line. */
import { isPoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { parsePeople } from './people-csv.ts';

function mistakesOf(text: string): readonly string[] {
  try {
    parsePeople(text);
    return [];
  } catch (error) {
    return isPoolError(error) && error.code === 'invalid_roster' ? error.message.split('\n') : [];
  }
}

it.each([
  ['commas', 'name,email\nAda,ada@example.org\n', [{ name: 'Ada', email: 'ada@example.org' }]],
  [
    'semicolons and further columns',
    'team;E-Mail;Email;Name\nx;y;ada@example.org;"Lovelace; Ada"\n',
    [{ name: 'Lovelace; Ada', email: 'ada@example.org' }],
  ],
  [
    'names only, blank lines and a byte order mark',
    '\ufeffname\r\nAda\r\n\r\nBen\r\n',
    [{ name: 'Ada' }, { name: 'Ben' }],
  ],
  ['a person without a name', 'email\tname\nada@example.org\t\n', [{ email: 'ada@example.org' }]],
])('reads %s', (_name, text, people) => {
  expect(parsePeople(text)).toEqual(people);
});

it('lists every mistake by line and column', () => {
  const text = [
    'name,email',
    'Ada,ada@example.org',
    'Ben,ben.example.org',
    ',',
    'Cleo',
    '"Dora,dora@example.org',
    'Ev\u200ba,eva@example.org',
    'Ada again,ADA@example.org',
  ].join('\n');
  expect(mistakesOf(text)).toEqual([
    'line 3, email: "ben.example.org" is not an e-mail address',
    'line 5: has 1 fields, but the header names 2; write every field of the line, also an empty one',
    expect.stringMatching(/^line 6: a quote is not closed/),
    expect.stringMatching(/^line 7, name: /),
    'line 8: the same e-mail address is on line 2; list each person once',
  ]);
});

it.each([
  ['no header', 'Ada,ada@example.org\n', /^line 1: the first line is .* must name the columns/],
  ['a column twice', 'name,name\nAda,Ada\n', /^line 1: /],
  ['nobody', 'name\n\n', /^line 1: there is no person/],
  ['nothing', '\n', /^line 1: the file has only blank lines/],
])('refuses a file with %s', (_name, text, message) => {
  expect(mistakesOf(text)).toEqual([expect.stringMatching(message)]);
});

it('counts the mistakes that it does not show, and lists all for a program', () => {
  const rows = Array.from({ length: 25 }, (_, index) => `no address ${index}`);
  expect(() => parsePeople(['email', ...rows].join('\n'))).toThrow(
    expect.objectContaining({ problems: rows.map(() => ({ message: expect.any(String) })) }),
  );
  expect(mistakesOf(['email', ...rows].join('\n')).at(-1)).toMatch(/^and \d+ more mistakes$/);
});
