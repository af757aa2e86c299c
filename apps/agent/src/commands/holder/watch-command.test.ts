// `disburse-agent balance --watch`: its lines, its NDJSON, outages, and its end.
import { bigintToHex32, isPoolError, PoolError, Secret } from '@pool/core';
import { type ArrivalsAnswer, createHolderClient } from '@pool/pay-run';
import { textOf } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp } from '../../fixtures/test-app.ts';
import { watchBalance } from './watch-command.ts';

const txHash = bigintToHex32(5n);
const commitment = bigintToHex32(6n);

function answer(total: string, ...arrivals: ArrivalsAnswer['arrivals']): ArrivalsAnswer {
  return {
    balance: { total, symbol: 'USDC', notes: 2, largestNote: '4', chain: 'base' },
    ...{ decimals: 6, cursor: `at.${total}`, arrivals },
  };
}

function arrival(amount: string, memo?: string): ArrivalsAnswer['arrivals'][number] {
  const text = memo === undefined ? {} : { memo };
  return { time: '2026-05-29T09:30:00Z', amount, ...text, txHash, commitment };
}

const down = new PoolError('agent_unreachable', 'no agent answers');
const cut = new PoolError('chain_unreachable', 'the RPC does not answer', { retryable: true });

/** Serves the answers in turn, and is interrupted in the pause after the last one. */
async function watch(answers: readonly (ArrivalsAnswer | PoolError)[], json = false) {
  const printed: string[] = [];
  const notes: string[] = [];
  const asked: (string | undefined)[] = [];
  const pauses: number[] = [];
  const stop = new AbortController();
  await watchBalance({
    client: {
      progress: async () => Promise.reject(new Error('not asked in a pipe')),
      arrivals: async (_token, after) => {
        const next = answers[asked.push(after) - 1] ?? down;
        if (next instanceof PoolError) {
          throw next;
        }
        return next;
      },
    },
    ...{ token: 'USDC', json, signal: stop.signal, nowMs: () => Date.UTC(2026, 4, 29, 10) },
    output: {
      out: (outcome) => void printed.push(textOf(outcome)),
      terminal: { isTty: false, write: (text) => void notes.push(text) },
    },
    sleep: async (ms) => {
      pauses.push(ms);
      if (asked.length >= answers.length) {
        stop.abort();
      }
    },
  });
  return { printed, notes, asked, pauses };
}

describe('balance --watch', () => {
  it('prints the balance, then a line for each arrival and the new balance [command.balance-watch]', async () => {
    const { printed, notes, asked, pauses } = await watch([
      answer('7'),
      answer('7'),
      answer('12', arrival('4', 'May'), arrival('1')),
    ]);
    expect(printed).toEqual([
      '0.000007 USDC (2 note(s), largest 0.000004 USDC) on base',
      `2026-05-29 09:30:00 UTC  +0.000004 USDC  "May"  ${txHash}`,
      `2026-05-29 09:30:00 UTC  +0.000001 USDC  ${txHash}`,
      '0.000012 USDC (2 note(s), largest 0.000004 USDC) on base',
    ]);
    expect(notes).toEqual([]);
    expect(asked).toEqual([undefined, 'at.7', 'at.7']);
    expect(pauses).toEqual([5_000, 5_000, 5_000]);
  });

  it('prints the balance that a spend of the holder changed', async () => {
    const { printed } = await watch([answer('7'), answer('3')]);
    expect(printed).toEqual([
      '0.000007 USDC (2 note(s), largest 0.000004 USDC) on base',
      '0.000003 USDC (2 note(s), largest 0.000004 USDC) on base',
    ]);
  });

  it('shows a memo on one line, whatever is in it', async () => {
    const { printed } = await watch([answer('7'), answer('8', arrival('1', 'a\u001b[2J\nb'))]);
    expect(printed[1]).toContain('"a\\u{1b}[2J\\u{a}b"');
  });

  it('prints one JSON document for each line with --json [command.balance-watch]', async () => {
    const { printed } = await watch([answer('7'), answer('8', arrival('1', 'May'))], true);
    expect(printed.map((line) => JSON.parse(line))).toEqual([
      { kind: 'balance', ...answer('7').balance, decimals: 6 },
      {
        ...{ kind: 'arrival', time: '2026-05-29T09:30:00Z', amount: '1', memo: 'May' },
        ...{ txHash, commitment, symbol: 'USDC', decimals: 6, chain: 'base' },
      },
      { kind: 'balance', ...answer('8').balance, decimals: 6 },
    ]);
  });

  it('reports an outage once, goes on at the same place, and reports its end [command.balance-watch]', async () => {
    const { printed, notes, asked } = await watch([
      answer('7'),
      cut,
      cut,
      down,
      cut,
      answer('8', arrival('1')),
      answer('8'),
      cut,
    ]);
    expect(notes).toEqual([
      '2026-05-29 10:00:00 UTC  chain_unreachable: the RPC does not answer; the watch goes on\n',
      '2026-05-29 10:00:00 UTC  agent_unreachable: no agent answers; the watch goes on\n',
      '2026-05-29 10:00:00 UTC  the balance can be read again\n',
      '2026-05-29 10:00:00 UTC  chain_unreachable: the RPC does not answer; the watch goes on\n',
    ]);
    expect(asked.slice(0, 7)).toEqual([undefined, ...Array(5).fill('at.7'), 'at.8']);
    expect(printed).toHaveLength(3);
  });

  it('ends with an error that does not pass, and with any error of the first question', async () => {
    const refusal = new PoolError('forbidden', 'another wallet');
    await expect(watch([answer('7'), refusal])).rejects.toBe(refusal);
    await expect(watch([down])).rejects.toBe(down);
  });

  /** As the client reads an answer of the agent. */
  async function readFailure(response: Response): Promise<PoolError> {
    const client = createHolderClient(
      'http://agent',
      new Secret('pool_live_x'),
      async () => response,
    );
    const { signal } = new AbortController();
    try {
      await client.arrivals('USDC', undefined, signal);
    } catch (error) {
      if (isPoolError(error)) {
        return error;
      }
    }
    throw new Error('the client must fail');
  }

  it.each(['note_history_changed', 'holder_unavailable', 'holder_unavailable', 'wrong_chain'])(
    'ends with %s, which somebody must repair, although the status is 503',
    async (code) => {
      const body = { code, message: 'do this' };
      const refusal = await readFailure(Response.json(body, { status: 503 }));
      await expect(watch([answer('7'), refusal])).rejects.toBe(refusal);
    },
  );

  it('goes on after an answer that was cut off, and ends with one of another version', async () => {
    const half = await readFailure(new Response('{"balance":{"tot'));
    const { notes } = await watch([answer('7'), half, answer('8')]);
    expect(notes[0]).toContain('agent_invalid_response');
    const other = await readFailure(Response.json({ total: 7 }));
    await expect(watch([answer('7'), other])).rejects.toBe(other);
  });

  it.each(['platform_unreachable', 'note_cache_changed', 'note_cache_unavailable', 'stopping'])(
    'goes on after %s',
    async (code) => {
      const body = { code, message: 'try again' };
      const failure = await readFailure(Response.json(body, { status: 503 }));
      expect((await watch([answer('7'), failure, answer('8')])).notes).toHaveLength(2);
    },
  );

  it('ends at once when it is interrupted while it waits for the agent [command.balance-watch]', async () => {
    const stop = new AbortController();
    const client = createHolderClient(
      'http://agent',
      new Secret('pool_live_x'),
      (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
          stop.abort();
        }),
    );
    const printed: string[] = [];
    await watchBalance({
      ...{ client, token: 'USDC', json: false, signal: stop.signal },
      output: {
        out: (outcome) => void printed.push(textOf(outcome)),
        terminal: { isTty: false, write: (text) => void printed.push(text) },
      },
    });
    expect(printed).toEqual([]);
  });

  it('reads the route of the agent', async () => {
    const { app, state } = createTestApp();
    const client = createHolderClient(
      'http://127.0.0.1:8787',
      new Secret(apiKey('reader')),
      async (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('host', '127.0.0.1:8787');
        return await app.request(new Request(url).url, { ...init, headers });
      },
    );
    const { signal } = new AbortController();
    const first = await client.arrivals('USDC', undefined, signal);
    expect(first).toMatchObject({ balance: { total: '7' }, arrivals: [{ memo: 'May' }] });
    await client.arrivals('USDC', first.cursor, signal);
    expect(state.afters).toEqual([undefined, first.cursor]);
  });
});
