/**
 * `disburse-agent receipts <key or label>`: a payslip for each payee, with the signed disclosure of this one payment. Signs in this process.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { PoolError } from '@pool/core';
import { type Books, collectLines, exitCodes, type Output, writeReceipts } from '@pool/pay-run';
import { parseFiatRate } from '@pool/statements';
import { loadDefaultFont, parseFont } from '@pool/statements/pdf';
import { createEvmRecords } from '@pool/wallet/evm';
import { readConfig } from '../../config/config.ts';
import { openDisclosures } from '../../services/payslip-disclosures.ts';
import { openLedgerOwner } from './payer-commands.ts';

export type ReceiptsOptions = {
  readonly out: string;
  readonly roster?: string;
  readonly fiat?: string;
  readonly font?: string;
  readonly days: string;
  readonly memos?: boolean;
  readonly chain?: string;
  readonly token?: string;
  readonly envFile?: string;
};

/** @returns the exit code: an error if a payee has no payslip. @throws PoolError `not_found` if nobody was paid */
export async function runReceipts(
  name: string,
  options: ReceiptsOptions,
  output: Output,
  createRecords: typeof createEvmRecords = createEvmRecords,
): Promise<number> {
  const config = readConfig(options.envFile);
  const fiat = options.fiat === undefined ? undefined : parseFiatRate(options.fiat);
  const font =
    options.font === undefined
      ? loadDefaultFont()
      : parseFont(readFont(options.font), options.font);
  const books: Books = { ...openLedgerOwner(options, output), openRecords: createRecords };
  const { lines } = await collectLines(name, books, options, output);
  const paid = lines.filter(({ state }) => state === 'paid');
  const [first] = paid;
  if (first === undefined) {
    throw new PoolError('not_found', `nobody was paid by ${name}, so there is no receipt`);
  }
  const disclosures = await openDisclosures(
    config,
    paid,
    { days: options.days, withMemos: options.memos === true },
    createRecords,
  );
  try {
    const title = `Receipts of ${first.payRun ?? name}`;
    const { payer, disclose } = disclosures;
    const { written, kept, refused } = await writeReceipts(
      { title, lines, payer, font, fiat, disclose },
      options.out,
    );
    for (const { line, reason } of refused) {
      output.terminal.write(`no payslip for ${line.reference}: ${reason}\n`);
    }
    output.out(
      `${options.out}: ${written} file(s) written${kept === 0 ? '' : `, ${kept} were there`}${refused.length === 0 ? '' : `, ${refused.length} payee(s) without a payslip`}`,
    );
    return refused.length === 0 ? exitCodes.ok : exitCodes.error;
  } finally {
    disclosures.close();
  }
}

function readFont(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new PoolError('invalid_request', `--font: ${path} cannot be read`, { cause });
  }
}
