/**
 * `disburse-agent balance --watch`: prints the balance, then a line for each arrival and the new balance, until it is interrupted. It asks
 * the agent on this machine with `DISBURSE_BALANCE_TOKEN`, and waits out an outage of the agent, the platform or the chain.
 *
 * @module
 */

import type { Balance } from '@pool/api';
import { formatTokenAmount, isPoolError, quote } from '@pool/core';
import {
  type ArrivalsAnswer,
  exitCodes,
  type HolderClient,
  type Output,
  passesByItself,
  withInterruption,
} from '@pool/pay-run';
import { systemClock } from '@pool/wallet/node';
import {
  formatBalance,
  formatInTokens,
  openClient,
  showSync,
  type WatchOptions,
} from './balance-command.ts';

/** Pause between two questions, milliseconds. Each makes the agent ask its RPC for new blocks. */
const watchMs = 5_000;

/** @returns the exit code: 0 when it was interrupted */
export async function runWatch(options: WatchOptions, output: Output): Promise<number> {
  const { client, token } = openClient(options);
  await withInterruption((signal) =>
    watchBalance({ client, token, json: options.json === true, output, signal }),
  );
  return exitCodes.ok;
}

export type Watch = {
  readonly client: Pick<HolderClient, 'arrivals' | 'progress'>;
  /** Symbol. */
  readonly token: string;
  /** One JSON document for each line. */
  readonly json: boolean;
  readonly output: Output;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly nowMs?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
};

/** @throws PoolError if the first question fails; later, an error that does not pass by itself */
export async function watchBalance(watch: Watch): Promise<void> {
  const { client, token, signal, output } = watch;
  const { sleep = (ms) => systemClock.sleep(ms, signal) } = watch;
  const ask = (after: string | undefined) => client.arrivals(token, after, signal);
  let last: ArrivalsAnswer;
  try {
    last = await showSync(client, () => ask(undefined), output.terminal);
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    throw error;
  }
  printBalance(last, watch);
  const outage = createOutageNotes(watch);
  while (!signal.aborted) {
    await sleep(watchMs).catch(() => undefined);
    if (signal.aborted) {
      return;
    }
    let next: ArrivalsAnswer;
    try {
      next = await ask(last.cursor);
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      outage.begin(error);
      continue;
    }
    outage.end();
    for (const arrival of next.arrivals) {
      printArrival(arrival, next, watch);
    }
    // Spends of the holder change it without an arrival.
    if (next.arrivals.length > 0 || !isSameBalance(next.balance, last.balance)) {
      printBalance(next, watch);
    }
    last = next;
  }
}

/** Each error of an outage is reported once, and its end once. */
function createOutageNotes({ output, nowMs = systemClock.nowMs }: Watch): {
  /** @throws the error if it does not pass by itself */
  begin(error: unknown): void;
  end(): void;
} {
  const reported = new Set<string>();
  const note = (text: string): void =>
    output.terminal.write(`${formatTime(new Date(nowMs()).toISOString())}  ${text}\n`);
  return {
    begin(error) {
      if (!isPoolError(error) || !passesByItself(error)) {
        throw error;
      }
      if (!reported.has(error.code)) {
        reported.add(error.code);
        note(`${error.code}: ${error.message}; the watch goes on`);
      }
    },
    end() {
      if (reported.size > 0) {
        note('the balance can be read again');
      }
      reported.clear();
    },
  };
}

function printBalance({ balance, decimals }: ArrivalsAnswer, { json, output }: Watch): void {
  output.out(json ? { kind: 'balance', ...balance, decimals } : formatInTokens(balance, decimals));
}

function printArrival(
  arrival: ArrivalsAnswer['arrivals'][number],
  { balance, decimals }: ArrivalsAnswer,
  { json, output }: Watch,
): void {
  const { time, amount, memo, txHash } = arrival;
  const { symbol, chain } = balance;
  if (json) {
    output.out({ kind: 'arrival', ...arrival, symbol, decimals, chain });
    return;
  }
  const text = memo === undefined ? [] : [quote(memo)];
  output.out(
    [
      formatTime(time),
      `+${formatTokenAmount(BigInt(amount), { symbol, decimals })}`,
      ...text,
      txHash,
    ].join('  '),
  );
}

/** @param time - ISO 8601 in UTC */
function formatTime(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

function isSameBalance(one: Balance, other: Balance): boolean {
  return formatBalance(one) === formatBalance(other);
}
