/**
 * `disburse-agent history`: asks the agent on this machine what happened to its holder's notes, with `DISBURSE_BALANCE_TOKEN`, as a table,
 * CSV or JSON. With `--follow` it goes on and reports arrivals and outgoings as they become final.
 *
 * @module
 */

import type { History, HistoryEntry } from '@pool/api';
import { PoolError } from '@pool/core';
import {
  exitCodes,
  type HistoryRange,
  type HolderClient,
  type Output,
  passesByItself,
  withInterruption,
} from '@pool/pay-run';
import { formatHistoryCsvHead, formatHistoryCsvRows, type HistoryLabels } from '@pool/wallet';
import { readLabels, systemClock } from '@pool/wallet/node';
import { readAgentAddress } from '../../config/config.ts';
import { openClient, writeLocked } from './balance-command.ts';
import { parseRange } from './history-range.ts';
import { feeNote, formatTableHead, formatTableRow, missingNote } from './history-view.ts';

export type HistoryOptions = {
  readonly token?: string;
  readonly from?: string;
  readonly to?: string;
  readonly year?: string;
  readonly csv?: boolean;
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly envFile?: string;
};

/** Pause between two questions of `--follow`, milliseconds. */
const followMs = 5_000;

/** @returns the exit code */
export async function runHistory(options: HistoryOptions, output: Output): Promise<number> {
  const { csv, json, follow } = options;
  if (csv === true && json === true) {
    throw new PoolError('invalid_request', 'give --csv or --json, not both');
  }
  const range = parseRange(options);
  if (follow === true && range.to !== undefined) {
    throw new PoolError(
      'invalid_request',
      '--follow goes on without end: leave out --to and --year',
    );
  }
  const { client, token } = openClient(options);
  const labels: HistoryLabels = readLabels(readAgentAddress(options.envFile).home);
  await withInterruption((signal) =>
    showHistory(client, token, range, { ...options, labels }, output, signal),
  );
  return exitCodes.ok;
}

type View = Pick<HistoryOptions, 'csv' | 'json' | 'follow'> & { readonly labels: HistoryLabels };

/** Shows all pages, and with `follow` whatever comes later, until the signal. */
export async function showHistory(
  client: Pick<HolderClient, 'history'>,
  token: string,
  range: HistoryRange,
  view: View,
  { out, terminal }: Output,
  signal: AbortSignal,
  sleep: (ms: number) => Promise<void> = (ms) => systemClock.sleep(ms, signal),
): Promise<void> {
  let after: string | undefined;
  let head: History | undefined;
  const entries: HistoryEntry[] = [];
  for (;;) {
    const page = await askPatiently(
      client,
      token,
      { ...range, after },
      head !== undefined,
      signal,
      sleep,
    );
    if (page === undefined || signal.aborted) {
      if (view.follow === true) {
        return;
      }
      throw new PoolError(
        'interrupted',
        'a signal ended the command before the end of the history',
      );
    }
    if (head === undefined) {
      printHead(page, view, out);
    }
    head ??= page;
    for (const entry of page.entries) {
      if (view.json === true && view.follow !== true) {
        entries.push(entry);
      } else {
        printEntry(entry, page, view, out);
      }
    }
    after = page.entries.at(-1)?.id ?? after;
    if (page.more) {
      continue;
    }
    if (view.follow !== true) {
      break;
    }
    await sleep(followMs).catch(() => undefined);
  }
  if (view.json === true) {
    const { chain, symbol, decimals, walletPub, locked, lockedUntil } = head;
    const labelled = entries.map((entry) => addLabels(entry, view.labels));
    const held = locked === undefined ? {} : { locked, lockedUntil };
    out({ chain, symbol, decimals, walletPub, ...held, entries: labelled });
  } else if (view.csv !== true) {
    terminal.write(`${feeNote}\n`);
  }
  writeLocked(head, head.decimals, terminal);
}

/** While following, an outage is waited out. @returns undefined: interrupted */
async function askPatiently(
  client: Pick<HolderClient, 'history'>,
  token: string,
  range: HistoryRange,
  isFollowing: boolean,
  signal: AbortSignal,
  sleep: (ms: number) => Promise<void>,
): Promise<History | undefined> {
  while (!signal.aborted) {
    try {
      return await client.history(token, range);
    } catch (error) {
      if (!isFollowing || !passesByItself(error)) {
        throw error;
      }
      await sleep(followMs).catch(() => undefined);
    }
  }
  return undefined;
}

function printHead(page: History, { csv, json }: View, out: Output['out']): void {
  if (csv === true) {
    out(formatHistoryCsvHead());
  } else if (json !== true) {
    out(formatTableHead(page));
  }
}

function printEntry(
  entry: HistoryEntry,
  page: History,
  { csv, json, labels }: View,
  out: Output['out'],
): void {
  if (json === true) {
    const { chain, symbol, decimals } = page;
    out({ chain, symbol, decimals, ...addLabels(entry, labels) });
  } else if (csv === true) {
    for (const row of formatHistoryCsvRows(entry, page, labels, missingNote)) {
      out(row);
    }
  } else {
    out(formatTableRow(entry, page, labels));
  }
}

function addLabels(entry: HistoryEntry, labels: HistoryLabels): object {
  if (entry.kind !== 'transfer' || entry.payees === undefined) {
    return entry;
  }
  const payees = entry.payees.map((payee) => {
    const label = labels.get(payee.walletPub);
    return label === undefined ? payee : { ...payee, label };
  });
  return { ...entry, payees };
}
