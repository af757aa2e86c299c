/**
 * `disburse-agent balance` and `disburse-agent rescan`: ask the agent on this machine what its holder can spend, and make it read the
 * pool again. Both call the agent with `DISBURSE_BALANCE_TOKEN`.
 *
 * @module
 */
import type { Balance } from '@pool/api';
import { formatTokenAmount, isPoolError, PoolError } from '@pool/core';
import {
  createHolderClient,
  createProvenFetch,
  createSyncView,
  exitCodes,
  type HolderClient,
  type Output,
  urlOf,
  withProgress,
} from '@pool/pay-run';
import { readAgentAddress, readConfig } from '../../config/config.ts';
import { createTokenMissing } from '../../services/holder/served-notes.ts';
import { findDecimals } from '../../services/holder/spend-place.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { inTokens } from './spend-echo.ts';

export type BalanceOptions = {
  readonly token?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type WatchOptions = BalanceOptions & { readonly watch?: boolean };

export type RescanOptions = BalanceOptions & { readonly from?: string };

/** @returns the exit code */
export async function runBalance(options: BalanceOptions, output: Output): Promise<number> {
  const { client, token, findDecimals } = openClient(options);
  const view = { ...options, findDecimals };
  return await showBalance(client, (at) => at.balance(token), view, output);
}

/** @returns the exit code */
export async function runRescan(options: RescanOptions, output: Output): Promise<number> {
  const fromBlock = parseFrom(options.from);
  const { client, token, findDecimals } = openClient(options);
  const view = { ...options, findDecimals };
  return await showBalance(client, (at) => at.rescan(token, fromBlock), view, output);
}

/** @param ask - the request */
export async function showBalance(
  client: HolderClient,
  ask: (client: HolderClient) => Promise<Balance>,
  { json, findDecimals }: Pick<BalanceOptions, 'json'> & Pick<OpenClient, 'findDecimals'>,
  { out, terminal }: Output,
): Promise<number> {
  const balance = await showSync(client, () => ask(client), terminal);
  out(json === true ? balance : formatBalance(balance));
  const decimals = findDecimals(balance);
  if (decimals !== undefined) {
    terminal.write(`= ${formatInTokens(balance, decimals)}\n`);
  }
  writeLocked(balance, decimals, terminal);
  return exitCodes.ok;
}

/** Beside the balance and the history, which say nothing of it. */
export function writeLocked(
  { locked, lockedUntil, symbol }: Pick<Balance, 'locked' | 'lockedUntil' | 'symbol'>,
  decimals: number | undefined,
  terminal: Output['terminal'],
): void {
  if (locked !== undefined && lockedUntil !== undefined) {
    terminal.write(
      `${inTokens(locked, symbol, { decimals })} is locked by spends that are underway, and counts in the balance; it is free, or spent, once a block after ${lockedUntil} is final\n`,
    );
  }
}

/** Shows the progress of the agent's sync until the answer comes. */
export async function showSync<T>(
  client: Pick<HolderClient, 'progress'>,
  ask: () => Promise<T>,
  terminal: Output['terminal'],
): Promise<T> {
  return terminal.isTty
    ? await withProgress(createSyncView(terminal), () => client.progress(), ask)
    : await ask();
}

/** For people: amounts in tokens. */
export function formatInTokens(
  { total, symbol, notes, largestNote, chain }: Balance,
  decimals: number,
): string {
  const format = (amount: string): string =>
    formatTokenAmount(BigInt(amount), { symbol, decimals });
  return `${format(total)} (${notes} note(s), largest ${format(largestNote)}) on ${chain}`;
}

/** The report of one line on standard output, amounts in base units: the form that programs read. */
export function formatBalance({ total, symbol, notes, largestNote, chain }: Balance): string {
  return `${total} ${symbol} (${notes} note(s), largest ${largestNote}) on ${chain}`;
}

type OpenClient = {
  readonly client: HolderClient;
  readonly token: string;
  /** Of the token. Undefined: chains.json does not list it. */
  readonly findDecimals: (balance: Pick<Balance, 'chain' | 'symbol'>) => number | undefined;
};

/** @throws PoolError `invalid_configuration`, `holder_unavailable` */
export function openClient(options: Pick<BalanceOptions, 'token' | 'envFile'>): OpenClient {
  const config = readConfig(options.envFile);
  const { holder } = config;
  if (holder.balanceToken === undefined) {
    throw createTokenMissing();
  }
  const address = readAgentAddress(options.envFile);
  return {
    client: createHolderClient(
      urlOf(address),
      holder.balanceToken,
      createProvenFetch(() => readLoopbackToken(address.home)),
    ),
    token: options.token ?? holder.tokenSymbol,
    findDecimals({ chain, symbol }) {
      try {
        return findDecimals(chain, symbol, config);
      } catch (error) {
        // The balance itself was answered.
        if (isPoolError(error)) {
          return undefined;
        }
        throw error;
      }
    },
  };
}

function parseFrom(from: string | undefined): number | undefined {
  if (from === undefined) {
    return undefined;
  }
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(from)) {
    throw new PoolError('invalid_request', '--from: give the number of a block');
  }
  return Number(from);
}
