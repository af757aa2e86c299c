/**
 * `disburse-agent statement`: the account that pays, over a period, as a bank's statement (camt.053). Moves no money, and needs no
 * running agent.
 *
 * @module
 */
import {
  type EvmAddress,
  type EvmChainSettings,
  isEvmAddress,
  PoolError,
  parseHex32,
} from '@pool/core';
import { formatFiat, parseFiat, parseFiatRate } from '@pool/statements';
import { type Deposit, encodeCamt053, type PaidLine } from '@pool/statements/camt053';
import type { EvmRecords } from '@pool/wallet/evm';
import { addBlockTimes } from '../books/block-times.ts';
import { selectPayments } from '../books/select-payments.ts';
import { listStoredPayments, type PaymentState } from '../books/stored-payments.ts';
import { exitCodes } from '../exit-codes.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import type { Output, Payer } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';
import { listKnownLines } from './export.ts';

export type StatementCommand = {
  readonly chain: string;
  /** Symbol. */
  readonly token: string;
  /** Number or name of the account in the books. */
  readonly account: string;
  /** As {@link parseFiatRate} reads it: a token is no currency of ISO 4217. */
  readonly fiat: string;
  /** Balance before the period, in the currency. */
  readonly opening: string;
  /** Each `day=amount`. */
  readonly deposit: readonly string[];
  /** ISO 8601 in UTC, included. */
  readonly from: string;
  /** ISO 8601 in UTC, not included. */
  readonly to: string;
  /** Whose payments, where several accounts paid. */
  readonly funder?: string;
  readonly payees?: boolean;
  readonly out?: string;
};

export type StatementPorts = Pick<Payer, 'ledger' | 'readChains'> & {
  openRecords(
    settings: EvmChainSettings,
  ): Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime' | 'fetchFunder' | 'close'>;
  nowMs(): number;
};

/**
 * A statement that may lack a payment is refused.
 * @returns the exit code
 * @throws PoolError `invalid_request`, `statement_incomplete`, `chain_unreachable`, `file_not_written`
 */
export async function writeStatement(
  command: StatementCommand,
  ports: StatementPorts,
  { out, terminal }: Output,
): Promise<number> {
  const fiat = parseFiatRate(command.fiat);
  const [fromMs, toMs, nowMs] = [Date.parse(command.from), Date.parse(command.to), ports.nowMs()];
  if (toMs > nowMs) {
    throw refuse('--to', 'the period has not ended; give a day before today, or an instant');
  }
  if (!/^[\x20-\x7e]{1,34}$/.test(command.account)) {
    throw refuse('--account', 'an account has 1 to 34 ASCII characters');
  }
  if (command.funder !== undefined && !isEvmAddress(command.funder)) {
    throw refuse('--funder', 'give the address of the account that paid: 0x and 40 hex digits');
  }
  const opening = parseFiat(command.opening, fiat.currency);
  const deposits = command.deposit.map((text) => parseDeposit(text, fiat.currency, fromMs, toMs));
  const { lines, funder } = await collectAccount(command, ports, terminal);
  const { text, closing, entries } = encodeCamt053({
    ...{ fiat, opening, deposits, fromMs, toMs, nowMs, lines },
    account: command.account,
    accountName: `${funder ?? ''} ${command.token} on ${command.chain}`.trim().slice(0, 70),
    servicer: command.chain.slice(0, 35),
    withPayees: command.payees === true,
  });
  if (command.out === undefined) {
    out(text.trimEnd());
  } else {
    writeNewFile(command.out, text);
    out(
      `${command.out}: ${entries} entries, closing balance ${formatFiat(closing, fiat.currency)} ${fiat.currency}`,
    );
  }
  return exitCodes.ok;
}

/** What one account paid in the period. */
async function collectAccount(
  { chain, token, from, to, funder }: StatementCommand,
  ports: StatementPorts,
  terminal: Output['terminal'],
): Promise<{ readonly lines: readonly PaidLine[]; readonly funder: string | undefined }> {
  const settings = ports.readChains()[chain];
  const address = settings?.tokens[token]?.address;
  if (settings === undefined || address === undefined) {
    throw refuse('--token', `the settings have no token ${token} on ${chain}`);
  }
  const stored = await listStoredPayments(ports.ledger.jobs, await listAllPayRuns(ports.ledger));
  const before = selectPayments(stored, { to }).filter(
    ({ record }) =>
      record === undefined || (record.chain === chain && record.tokenSymbol === token),
  );
  const ended: readonly PaymentState[] = ['paid', 'reverted', 'failed'];
  const open = before.find(({ state }) => !ended.includes(state));
  if (open !== undefined) {
    throw new PoolError(
      'statement_incomplete',
      open.state === 'running'
        ? `payment ${open.key} is running and may be in the period; write the statement when it has ended`
        : `payment ${open.key} was stored by another version of the agent, and nobody knows if it is in the period; use that version`,
    );
  }
  const known = listKnownLines(undefined, before, ports, { state: 'paid' });
  const paid = await addBlockTimes(known.lines, ports, terminal);
  const lines = paid.filter(({ state }) => state === 'paid').map(requireWhole);
  const chosen = lines.filter(
    ({ timeMs }) => timeMs >= Date.parse(from) && timeMs < Date.parse(to),
  );
  const funders = await fetchFunders(chosen, settings, address, ports);
  const names = [...new Set(funders.values())];
  if (funder === undefined && names.length > 1) {
    throw refuse('--funder', `several accounts paid in the period: ${names.join(', ')}; name one`);
  }
  const name = funder ?? names[0];
  return {
    funder: name,
    lines: chosen.filter(
      ({ txHash }) => funders.get(txHash)?.toLowerCase() === name?.toLowerCase(),
    ),
  };
}

function requireWhole(line: Awaited<ReturnType<typeof addBlockTimes>>[number]): PaidLine {
  const { amount, decimals, txHash, timeMs } = line;
  if (
    amount === undefined ||
    decimals === undefined ||
    txHash === undefined ||
    timeMs === undefined
  ) {
    throw new PoolError(
      'statement_incomplete',
      `nobody knows when ${line.reference} was paid, so the statement could lack it; correct the RPC of ${line.chain}, and run this again`,
    );
  }
  return { ...line, amount, decimals, txHash, timeMs };
}

async function fetchFunders(
  lines: readonly PaidLine[],
  settings: EvmChainSettings,
  token: EvmAddress,
  { openRecords }: Pick<StatementPorts, 'openRecords'>,
): Promise<ReadonlyMap<string, string>> {
  const funders = new Map<string, string>();
  const records = openRecords(settings);
  try {
    for (const txHash of new Set(lines.map((line) => line.txHash))) {
      const funder = await records.fetchFunder(parseHex32(txHash), token);
      if (funder === undefined) {
        throw new PoolError(
          'statement_incomplete',
          `the RPC does not say which account paid transaction ${txHash}; use another RPC`,
        );
      }
      funders.set(txHash, funder);
    }
  } finally {
    records.close();
  }
  return funders;
}

function parseDeposit(text: string, currency: string, fromMs: number, toMs: number): Deposit {
  const [, day = '', amount = ''] = /^(\d{4}-\d{2}-\d{2})=(.+)$/.exec(text) ?? [];
  const timeMs = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(timeMs) || new Date(timeMs).toISOString().slice(0, 10) !== day) {
    throw refuse('--deposit', 'give a day and an amount, for example 2026-11-03=5000.00');
  }
  if (timeMs < fromMs || timeMs >= toMs) {
    throw refuse('--deposit', `${day} is not in the period`);
  }
  return { day, amount: parseFiat(amount, currency) };
}

function refuse(option: string, what: string): PoolError {
  return new PoolError('invalid_request', `${option}: ${what}`);
}
