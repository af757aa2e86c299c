/**
 * The folder of a run's receipts: a payslip for each payee, then a table and a summary. Nothing in it is overwritten, so a run that was
 * interrupted is continued by the same command.
 *
 * @module
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPoolError, PoolError } from '@pool/core';
import { encodeStatementCsv, type StatementLine, type StatementOptions } from '@pool/statements';
import { type DocumentFont, renderPayslip, renderSummary } from '@pool/statements/pdf';
import { createDurableFile } from '@pool/storage';

export type ReceiptsInput = StatementOptions & {
  /** Of the run, for people. */
  readonly title: string;
  /** Path. Made if it does not exist. */
  readonly folder: string;
  readonly lines: readonly StatementLine[];
  readonly payer: string;
  readonly font: DocumentFont;
  /** Signs the disclosure of one payment. @returns the file */
  disclose(line: StatementLine): Promise<string>;
};

export type Receipts = {
  readonly written: number;
  /** They were there. */
  readonly kept: number;
  /** Payees who have no payslip, with the reason. */
  readonly refused: readonly { readonly line: StatementLine; readonly reason: string }[];
};

/** @throws PoolError `file_not_written`, and those of `disclose` except a text that the font cannot show */
export async function writeReceipts(input: ReceiptsInput): Promise<Receipts> {
  const { folder, lines, title, disclose, ...options } = input;
  makeFolder(folder);
  let written = 0;
  let kept = 0;
  const refused: { line: StatementLine; reason: string }[] = [];
  const write = (name: string, content: string | Buffer): void => {
    if (createDurableFile(join(folder, name), content)) {
      written += 1;
    } else {
      kept += 1;
    }
  };
  for (const line of lines.filter(({ state }) => state === 'paid')) {
    const name = nameFile(line);
    if (existsSync(join(folder, name))) {
      kept += 1;
      continue;
    }
    const disclosure = await disclose(line);
    try {
      write(name, await renderPayslip(line, disclosure, options));
    } catch (error) {
      if (!isPoolError(error) || error.code !== 'invalid_request') {
        throw error;
      }
      refused.push({ line, reason: error.message });
    }
  }
  write('summary.csv', encodeStatementCsv(lines, options));
  write('summary.pdf', await renderSummary(title, lines, options));
  return { written, kept, refused };
}

/** The commitment makes it unique. */
function nameFile({ reference = 'payslip', commitment = '' }: StatementLine): string {
  const words = reference.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-60);
  return `${words.replace(/^\.+/, '')}-${commitment.slice(2, 18)}.pdf`;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700, recursive: true });
  } catch (cause) {
    throw new PoolError('file_not_written', `the folder ${folder} cannot be made`, { cause });
  }
}
