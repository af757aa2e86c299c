/**
 * `disburse-agent receipts <key or label>`: a payslip for each payee, with the signed disclosure of this one payment. Signs in this process.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { PoolError } from '@pool/core';
import {
  type Books,
  collectLines,
  exitCodes,
  listPaidInsertions,
  type Output,
  writeReceipts,
} from '@pool/pay-run';
import { parseFiatRate, type StatementLine } from '@pool/statements';
import { loadDefaultFont, parseFont } from '@pool/statements/pdf';
import { createDisclosureContent, serializeDisclosure } from '@pool/wallet';
import { createEvmRecords } from '@pool/wallet/evm';
import { systemClock } from '@pool/wallet/node';
import { readConfig } from '../../config/config.ts';
import { findChain, findToken } from '../../services/holder/spend-place.ts';
import { readPurpose, signDisclosure } from '../keeping/disclose-command.ts';
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
  const { chain, token: symbol } = first;
  const { settings } = findChain(config, chain);
  const { chainId, pool } = settings;
  const token = findToken(symbol, settings);
  const records = createRecords(settings);
  try {
    const { payer, insertions } = await listPaidInsertions(
      config,
      {
        ...{ transactions: [], commitments: [], range: { from: undefined, to: undefined } },
        ...{ jobs: [...new Set(paid.flatMap(({ jobKey }) => jobKey ?? []))], payRun: undefined },
        withMemos: options.memos === true,
      },
      { chain, chainId, pool, symbol, token },
      records,
    );
    const disclose = async ({ commitment, reference }: StatementLine): Promise<string> => {
      const shown = insertions.flatMap((insertion) => {
        const payments = insertion.payments.filter((payment) => payment.commitment === commitment);
        return payments.length === 0 ? [] : [{ ...insertion, payments }];
      });
      const purpose = readPurpose({
        purpose: `payslip ${reference}`.slice(0, 111),
        days: options.days,
      });
      const parties = { settings, token, role: 'payer', discloser: payer } as const;
      const content = createDisclosureContent(purpose, parties, shown, systemClock.nowMs());
      return serializeDisclosure({
        ...content,
        signature: await signDisclosure(content, config, chain),
      });
    };
    const title = `Receipts of ${first.payRun ?? name}`;
    const { written, kept, refused } = await writeReceipts({
      ...{ title, folder: options.out, lines, payer, font, fiat, disclose },
    });
    for (const { line, reason } of refused) {
      output.terminal.write(`no payslip for ${line.reference}: ${reason}\n`);
    }
    output.out(
      `${options.out}: ${written} file(s) written${kept === 0 ? '' : `, ${kept} were there`}${refused.length === 0 ? '' : `, ${refused.length} payee(s) without a payslip`}`,
    );
    return refused.length === 0 ? exitCodes.ok : exitCodes.error;
  } finally {
    records.close();
  }
}

function readFont(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new PoolError('invalid_request', `--font: ${path} cannot be read`, { cause });
  }
}
