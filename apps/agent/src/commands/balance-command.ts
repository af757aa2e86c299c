/**
 * `disburse-agent balance` and `disburse-agent rescan`: ask the agent on this machine what its holder can spend, and make it read the
 * pool again. Both call the agent with `DISBURSE_BALANCE_TOKEN`.
 *
 * @module
 */
import type { Balance } from '@pool/api';
import { PoolError } from '@pool/core';
import { readAgentAddress, readConfig } from '../config/config.ts';
import { createHolderClient, type HolderClient } from '../services/holder-client.ts';
import { createTokenMissing } from '../services/served-notes.ts';
import type { Output } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createSyncView } from '../terminal/sync-view.ts';
import { urlOf } from './disburse-command.ts';

export type BalanceOptions = {
  readonly token?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type WatchOptions = BalanceOptions & { readonly watch?: boolean };

export type RescanOptions = BalanceOptions & { readonly from?: string };

const pollMs = 500;

/** @returns the exit code */
export async function runBalance(options: BalanceOptions, output: Output): Promise<number> {
  const { client, token } = openClient(options);
  return await showBalance(client, (at) => at.balance(token), options, output);
}

/** @returns the exit code */
export async function runRescan(options: RescanOptions, output: Output): Promise<number> {
  const fromBlock = parseFrom(options.from);
  const { client, token } = openClient(options);
  return await showBalance(client, (at) => at.rescan(token, fromBlock), options, output);
}

/** @param ask - the request */
export async function showBalance(
  client: HolderClient,
  ask: (client: HolderClient) => Promise<Balance>,
  { json }: Pick<BalanceOptions, 'json'>,
  { out, terminal }: Output,
): Promise<number> {
  const balance = await showSync(client, () => ask(client), terminal);
  out(json === true ? JSON.stringify(balance, null, 2) : formatBalance(balance));
  writeLocked(balance, terminal);
  return exitCodes.ok;
}

/** Beside the balance and the history, which say nothing of it. */
export function writeLocked(
  { locked, lockedUntil }: Pick<Balance, 'locked' | 'lockedUntil'>,
  terminal: Output['terminal'],
): void {
  if (locked !== undefined && lockedUntil !== undefined) {
    terminal.write(
      `${locked} base units are locked by spends that are underway, and count in the balance; they are free, or spent, once a block after ${lockedUntil} is final\n`,
    );
  }
}

/** Shows the progress of the agent's sync until the answer comes. */
export async function showSync<T>(
  client: Pick<HolderClient, 'progress'>,
  ask: () => Promise<T>,
  terminal: Output['terminal'],
): Promise<T> {
  const view = createSyncView(terminal, () => performance.now());
  const timer = terminal.isTty
    ? setInterval(() => {
        // The answer itself reports what is wrong.
        client.progress().then(view.show, () => undefined);
      }, pollMs)
    : undefined;
  try {
    return await ask();
  } finally {
    clearInterval(timer);
    view.end();
  }
}

/** The report of one line, amounts in base units. */
export function formatBalance({ total, symbol, notes, largestNote, chain }: Balance): string {
  return `${total} ${symbol} (${notes} note(s), largest ${largestNote}) on ${chain}`;
}

/** @throws PoolError `invalid_configuration`, `role_token_missing` */
export function openClient(options: Pick<BalanceOptions, 'token' | 'envFile'>): {
  readonly client: HolderClient;
  readonly token: string;
} {
  const { holder } = readConfig(options.envFile);
  if (holder.balanceToken === undefined) {
    throw createTokenMissing();
  }
  return {
    client: createHolderClient(urlOf(readAgentAddress(options.envFile)), holder.balanceToken),
    token: options.token ?? holder.tokenSymbol,
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
