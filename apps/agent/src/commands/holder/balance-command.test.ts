import { PoolError, Secret } from '@pool/core';
import { createHolderClient, createSyncView, type HolderClient } from '@pool/pay-run';
import { textOf } from '@pool/testkit';
import type { SyncProgress } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { formatBalance, runBalance, showBalance } from './balance-command.ts';

const balance = {
  total: '7000000000',
  symbol: 'USDC',
  notes: 2,
  largestNote: '4000000000',
  chain: 'base',
};

const running: SyncProgress = { isRunning: true, blocks: { read: 250, total: 1_000 }, notes: 0 };

function createOutput(isTty: boolean) {
  const out: string[] = [];
  const shown: string[] = [];
  return {
    out: (outcome: string | object) => void out.push(textOf(outcome)),
    terminal: { isTty, write: (text: string) => void shown.push(text) },
    printed: out,
    shown,
  };
}

function clientWith(changes: Partial<HolderClient> = {}): HolderClient {
  return {
    balance: async () => balance,
    rescan: async () => balance,
    history: async () => Promise.reject(new Error('not asked')),
    progress: async () => running,
    arrivals: async () => Promise.reject(new Error('not asked')),
    ...changes,
  };
}

const view = { findDecimals: () => 6 };

describe('disburse-agent balance', () => {
  it('prints total, symbol, number of notes, the largest and the chain in one line [balance.line]', async () => {
    const output = createOutput(false);
    expect(await showBalance(clientWith(), (at) => at.balance('USDC'), view, output)).toBe(0);
    expect(output.printed).toEqual(['7000000000 USDC (2 note(s), largest 4000000000) on base']);
  });

  it('says the same in tokens beside it, for people', async () => {
    const output = createOutput(false);
    await showBalance(clientWith(), (at) => at.balance('USDC'), view, output);
    expect(output.shown).toEqual(['= 7000 USDC (2 note(s), largest 4000 USDC) on base\n']);
  });

  it('says beside the line what spends that are underway lock, and until when', async () => {
    const output = createOutput(false);
    const held = { ...balance, locked: '4000000000', lockedUntil: '2026-09-21T14:13:20Z' };
    const client = clientWith({ balance: async () => held });
    await showBalance(client, (at) => at.balance('USDC'), view, output);
    expect(output.printed).toHaveLength(1);
    expect(output.shown.join('')).toMatch(/4000 USDC is locked .*2026-09-21T14:13:20Z/);
  });

  it('prints one JSON document with --json', async () => {
    const output = createOutput(false);
    await showBalance(clientWith(), (at) => at.balance('USDC'), { ...view, json: true }, output);
    expect(JSON.parse(output.printed.join(''))).toEqual(balance);
  });

  it('prints an empty balance', () => {
    expect(formatBalance({ ...balance, total: '0', notes: 0, largestNote: '0' })).toBe(
      '0 USDC (0 note(s), largest 0) on base',
    );
  });

  it('shows the progress of a long sync on a terminal, and removes it', async () => {
    const output = createOutput(true);
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      return balance;
    };
    await showBalance(clientWith(), slow, view, output);
    expect(output.shown.join('')).toMatch(/reading the chain .* 25 %.* left/);
    expect(output.shown.slice(-2)).toEqual(['\r\u001b[K', expect.stringContaining('= 7000 USDC')]);
    expect(output.printed).toHaveLength(1);
  });

  it('reports the error of the agent and not that of the progress', async () => {
    const fail = () => Promise.reject(new PoolError('unknown_token', 'not configured'));
    const client = clientWith({ progress: fail });
    await expect(showBalance(client, fail, view, createOutput(true))).rejects.toMatchObject({
      code: 'unknown_token',
    });
  });

  it('says how to start the agent when it does not run', async () => {
    const client = createHolderClient('http://127.0.0.1:9', new Secret('pool_live_x'), fetch);
    await expect(client.balance('USDC')).rejects.toMatchObject({
      code: 'agent_unreachable',
      message: expect.stringContaining('disburse-agent serve'),
    });
  });

  it('sends the role’s key and the token, and checks the answer', async () => {
    const asked: [string, string | undefined][] = [];
    const client = (answer: unknown) =>
      createHolderClient('http://agent', new Secret('pool_live_x'), async (url, init) => {
        asked.push([
          new Request(url).url,
          new Headers(init?.headers).get('authorization') ?? undefined,
        ]);
        return Response.json(answer);
      });
    expect(await client(balance).balance('USD C')).toEqual(balance);
    expect(await client(balance).rescan('USDC', 7)).toEqual(balance);
    expect(await client(running).progress()).toEqual(running);
    expect(asked).toEqual([
      ['http://agent/api/balance?token=USD%20C', 'Bearer pool_live_x'],
      ['http://agent/api/balance/rescan?token=USDC&from=7', 'Bearer pool_live_x'],
      ['http://agent/api/balance/progress', 'Bearer pool_live_x'],
    ]);
    await expect(client({ total: 5 }).balance('USDC')).rejects.toMatchObject({
      code: 'agent_invalid_response',
    });
  });

  it('refuses to start without its variables, by name', async () => {
    await expect(
      runBalance({ envFile: '/nonexistent/agent.env' }, createOutput(false)),
    ).rejects.toMatchObject({ code: 'invalid_configuration' });
  });
});

describe('the view of a sync', () => {
  it('shows nothing in a pipe, and nothing after its end', () => {
    const pipe = createOutput(false);
    const view = createSyncView(pipe.terminal, () => 0);
    view.show(running);
    view.end();
    const tty = createOutput(true);
    const ended = createSyncView(tty.terminal, () => 0);
    ended.end();
    ended.show(running);
    expect([pipe.shown, tty.shown]).toEqual([[], []]);
  });

  it('names the stage, the share of the blocks, the time left and the opened notes', () => {
    const { terminal, shown } = createOutput(true);
    let nowMs = 0;
    const view = createSyncView(terminal, () => nowMs);
    nowMs = 10_000;
    view.show({ ...running, notes: 12 });
    expect(shown.at(-1)).toContain('reading the chain 10.0 s');
    expect(shown.at(-1)).toContain('25 %, about 30.0 s left, 12 notes opened');
    view.show({ ...running, blocks: { read: 1_000, total: 1_000 }, notes: 400 });
    expect(shown.at(-1)).toContain('opening notes 10.0 s, 400 notes opened');
  });
});
