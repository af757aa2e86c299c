// The message for a file that is not CSV in UTF-8 names its actual format (docs/decisions/0008).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRosterText } from '../../../../packages/pay-run/src/roster/roster-file.ts';
import { runCli } from '../../src/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'roster-'));
afterAll(() => rmSync(folder, { recursive: true }));

const roster = 'address,amount\n0x8EF31ED37e5320931Bf85677De447824a66c9991,5\n';
const bigEndian = Buffer.from(`\ufeff${roster}`, 'utf16le').swap16();

function save(content: string | Uint8Array): string {
  const path = join(folder, 'pay.csv');
  writeFileSync(path, content);
  return path;
}

function refusalOf(file: string, readStandardInput?: () => Uint8Array): string {
  try {
    readRosterText(file, readStandardInput);
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_roster' });
    return error instanceof Error ? error.message : '';
  }
  return 'read';
}

describe('readRosterText', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['UTF-16 as Excel writes it', Buffer.from(`\ufeff${roster}`, 'utf16le'), 'is text in UTF-16'],
    ['UTF-16, big end first', bigEndian, 'is text in UTF-16'],
    ['UTF-16 without a mark', Buffer.from(roster, 'utf16le'), 'is text in UTF-16'],
    ['Latin-1', Buffer.from(`${roster}0x1,1,Gr\xfc\xdfe\n`, 'latin1'), 'is not UTF-8: line 3 has'],
    ['xlsx', Buffer.from([0x50, 0x4b, 3, 4, 0x14, 0, 6, 0]), 'is a spreadsheet or another ZIP'],
    ['xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), 'is a spreadsheet of an old Excel'],
    ['PDF', '%PDF-1.7\n', 'is a PDF document'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8]), 'is compressed'],
    ['nothing', '', 'is empty'],
    ['zeros', new Uint8Array(100), 'is'],
  ])('names %s', (_what, content, words) => {
    const path = save(content);
    expect(refusalOf(path)).toContain(`"${path}" ${words}`);
  });

  it('gives advice about an encoding', () => {
    expect(refusalOf(save(Buffer.from(`\ufeff${roster}`, 'utf16le')))).toContain(
      'save it as "CSV UTF-8"',
    );
  });

  it('names a file that is missing, a directory, and a path through a file', () => {
    const missing = join(folder, 'missing.csv');
    expect(refusalOf(missing)).toBe(`there is no file "${missing}"; check the path after --file`);
    mkdirSync(join(folder, 'inside'));
    expect(refusalOf(join(folder, 'inside'))).toContain('is a directory');
    expect(refusalOf(join(save(roster), 'x.csv'))).toContain('there is no file');
  });

  it('reads UTF-8 with and without a mark, and NUL in a memo', () => {
    expect(readRosterText(save(roster))).toBe(roster);
    expect(readRosterText(save(`\ufeff${roster}`))).toContain(roster);
    expect(readRosterText(save(`${roster}0x1,1,a\0b\n`))).toContain('a\0b');
  });

  it('reads standard input for -, with the same checks', () => {
    expect(readRosterText('-', () => Buffer.from(roster))).toBe(roster);
    expect(refusalOf('-', () => new Uint8Array())).toContain('standard input is empty');
  });
});

describe('disburse --file', () => {
  it('is accepted once', async () => {
    const errors: string[] = [];
    const argv = ['disburse', '--file', 'a.csv', '--file', 'b.csv', '--pay-run', 'p'];
    const code = await runCli(argv, {
      out: () => undefined,
      err: (text) => errors.push(text),
      terminal: { isTty: false, write: () => undefined },
    });
    expect(code).toBe(1);
    expect(errors.join('')).toContain('once');
    expect(errors.join('')).toContain('--file');
  });
});
