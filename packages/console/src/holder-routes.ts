/**
 * The page about the agent's own holder: what it can spend, and what happened to its notes.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import type { ConsoleApp, ConsoleDeps } from './access/ports.ts';
import { type HolderReport, renderHolder, renderReading } from './pages/holder.ts';

/** How long a page waits for an agent that still reads the pool, and how long an answer waits for a page, milliseconds. */
const patienceMs = 2_000;
const keptMs = 10_000;

export function addHolderRoutes(app: ConsoleApp, { holder }: Pick<ConsoleDeps, 'holder'>): void {
  /** What is asked of the agent, by month: a page that is loaded again waits for the same answer. */
  const asked = new Map<string, Promise<HolderReport>>();

  async function ask(month: string): Promise<HolderReport> {
    if (holder === undefined) {
      throw new PoolError(
        'not_found',
        'this agent has no key that reads the balance of its holder: DISBURSE_BALANCE_TOKEN is not set',
      );
    }
    const { client, token, readLabels } = holder;
    const [balance, history] = [
      await client.balance(token),
      await client.history(token, rangeOf(month)),
    ];
    return { balance, history, labels: readLabels() };
  }

  function begin(month: string): Promise<HolderReport> {
    const answer = ask(month);
    asked.set(month, answer);
    const drop = (): void => {
      setTimeout(() => {
        if (asked.get(month) === answer) {
          asked.delete(month);
        }
      }, keptMs).unref();
    };
    answer.then(drop, drop);
    return answer;
  }

  app.get('/:place/holder', async (c) => {
    const month = readMonth(c.req.query('month'));
    const waiting = asked.get(month) ?? begin(month);
    const late = sleep(patienceMs, 'late' as const, { ref: false });
    const report = await Promise.race([waiting.catch(forget), late]);
    if (report === 'late') {
      return c.html(renderReading(c.get('session'), await holder?.client.progress()));
    }
    asked.delete(month);
    return c.html(renderHolder(c.get('session'), { ...report, month }));

    function forget(error: unknown): never {
      asked.delete(month);
      throw error;
    }
  });
}

/** The month of the clock where nothing is asked. @throws PoolError `invalid_request` */
function readMonth(text = new Date().toISOString().slice(0, 7)): string {
  if (!/^20[0-9]{2}-(?:0[1-9]|1[0-2])$/.test(text)) {
    throw new PoolError('invalid_request', 'write a month as 2026-11');
  }
  return text;
}

/** In UTC. */
function rangeOf(month: string): { readonly from: string; readonly to: string } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
  return { from: `${month}-01T00:00:00Z`, to: `${next}T00:00:00Z` };
}
