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
  readonly lines: readonly StatementLine[];
  readonly payer: string;
  readonly font: DocumentFont;
  /** Signs the disclosure of one payment. @returns the file */
  disclose(line: StatementLine): Promise<string>;
};

/** Payees who have no payslip, with the reason. */
type Refused = { readonly line: StatementLine; readonly reason: string };

export type Receipts = {
  readonly written: number;
  /** They were there. */
  readonly kept: number;
  readonly refused: readonly Refused[];
};

export type ReceiptFile =
  | { readonly kind: 'file'; readonly name: string; readonly content: string | Buffer }
  | { readonly kind: 'kept' }
  | ({ readonly kind: 'refused' } & Refused);

/**
 * One file after the other, so that a large run needs little memory.
 * @param isThere - a payslip of this name is not made again
 * @throws the errors of `disclose` except a text that the font cannot show
 */
export async function* renderReceipts(
  input: ReceiptsInput,
  isThere: (name: string) => boolean = () => false,
): AsyncGenerator<ReceiptFile> {
  const { lines, title, disclose, ...options } = input;
  for (const line of lines.filter(({ state }) => state === 'paid')) {
    const name = nameReceipt(line);
    if (isThere(name)) {
      yield { kind: 'kept' };
      continue;
    }
    const disclosure = await disclose(line);
    try {
      yield { kind: 'file', name, content: await renderPayslip(line, disclosure, options) };
    } catch (error) {
      if (!isPoolError(error) || error.code !== 'invalid_request') {
        throw error;
      }
      yield { kind: 'refused', line, reason: error.message };
    }
  }
  yield { kind: 'file', name: 'summary.csv', content: encodeStatementCsv(lines, options) };
  const content = await renderSummary(title, lines, options);
  yield { kind: 'file', name: 'summary.pdf', content };
}

/** @param folder - path. Made if it does not exist. @throws PoolError `file_not_written`, and those of {@link renderReceipts} */
export async function writeReceipts(input: ReceiptsInput, folder: string): Promise<Receipts> {
  makeFolder(folder);
  let written = 0;
  let kept = 0;
  const refused: Refused[] = [];
  for await (const file of renderReceipts(input, (name) => existsSync(join(folder, name)))) {
    if (file.kind === 'refused') {
      refused.push(file);
    } else if (file.kind === 'file' && createDurableFile(join(folder, file.name), file.content)) {
      written += 1;
    } else {
      kept += 1;
    }
  }
  return { written, kept, refused };
}

/** The commitment makes it unique. */
export function nameReceipt({ reference = 'payslip', commitment = '' }: StatementLine): string {
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
