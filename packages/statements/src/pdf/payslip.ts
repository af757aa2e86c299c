/**
 * A payslip for each payee, and the summary of a run.
 *
 * @module
 */
import { formatTokenAmount } from '@pool/core';
import { convertAmount, type FiatRate, formatFiat } from '../fiat.ts';
import { formatTime, type StatementLine } from '../statement.ts';
import { type DocumentFont, renderDocument } from './document.ts';

export type PayslipOptions = {
  readonly font: DocumentFont;
  readonly fiat?: FiatRate | undefined;
  /** Address of who paid. */
  readonly payer: string;
};

/** The file in a payslip that proves the payment. */
const disclosureName = 'disclosure.json';

/**
 * @param line - that was paid, with its time
 * @param disclosure - the signed file of this payment alone
 * @throws PoolError `invalid_request` naming characters that the font cannot show
 */
export async function renderPayslip(
  line: StatementLine,
  disclosure: string,
  { font, fiat, payer }: PayslipOptions,
): Promise<Buffer> {
  const { name, wallet, reference, payRun, memo, txHash, commitment, chain, timeMs = 0 } = line;
  const shown = (
    label: string,
    text: string | undefined,
  ): readonly (readonly [string, string])[] =>
    text === undefined || text === '' ? [] : [[label, text]];
  return await renderDocument(
    {
      title: 'Payslip',
      rows: [
        ...shown('Paid to', name),
        ...shown('Wallet', wallet),
        ...shown('Amount', formatAmount(line)),
        ...shown('In currency', describeFiat(line, fiat)),
        ...shown('Memo', memo),
        ...shown('Paid by', payer),
        ...shown('Pay run', payRun),
        ...shown('Reference', reference),
        ...shown('Time (UTC)', formatTime(timeMs)),
        ...shown('Chain', chain),
        ...shown('Transaction', txHash),
        ...shown('Note', commitment),
        ...Object.entries(line.further ?? {}).flatMap(([label, text]) => shown(label, text)),
        `The attached file ${disclosureName} proves amount, payer and payee of this payment to whoever verifies it, and nothing about other payments. "disburse-agent disclose verify" verifies it. It is confidential.`,
      ],
      attachment: {
        ...{ name: disclosureName, type: 'application/json' },
        bytes: Buffer.from(disclosure),
      },
      timeMs,
    },
    font,
  );
}

/** Names nobody: wallets, amounts and states. The table beside it has the names. */
export async function renderSummary(
  title: string,
  lines: readonly StatementLine[],
  { font, fiat, payer }: PayslipOptions,
): Promise<Buffer> {
  const totals = [...Map.groupBy(lines, ({ state }) => state)].flatMap(([state, some]) => {
    const known = some.filter(({ amount }) => amount !== undefined);
    const amount = known.reduce((sum, line) => sum + BigInt(line.amount ?? 0), 0n);
    const [first] = some;
    const lacking = known.length === some.length ? '' : `, ${some.length - known.length} unknown`;
    return first === undefined
      ? []
      : [
          [
            state,
            `${some.length}: ${formatAmount({ ...first, amount: String(amount) })}${lacking}`,
          ] as const,
        ];
  });
  return await renderDocument(
    {
      title,
      rows: [
        ['Paid by', payer],
        ...totals,
        ...lines.map((line) => {
          const texts = [line.wallet, formatAmount(line), describeFiat(line, fiat), line.state];
          const text = texts.filter((one) => one !== undefined).join(', ');
          return [line.reference ?? '-', text] as const;
        }),
      ],
      timeMs: Math.max(0, ...lines.map(({ timeMs = 0 }) => timeMs)),
    },
    font,
  );
}

function formatAmount({ amount, token: symbol, decimals }: StatementLine): string | undefined {
  if (amount === undefined) {
    return undefined;
  }
  return decimals === undefined
    ? `${amount} base units of ${symbol}`
    : formatTokenAmount(BigInt(amount), { symbol, decimals });
}

function describeFiat(
  { amount, decimals }: StatementLine,
  fiat: FiatRate | undefined,
): string | undefined {
  return amount === undefined || decimals === undefined || fiat === undefined
    ? undefined
    : `${formatFiat(convertAmount(BigInt(amount), decimals, fiat), fiat.currency)} ${fiat.currency}, at ${fiat.rate} for one token`;
}
