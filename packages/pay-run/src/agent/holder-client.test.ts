// How long the holder commands wait for an agent.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { withPortProof } from '../fixtures/port-proofs.ts';
import { createHolderClient } from './holder-client.ts';
import { createProvenFetch } from './proven-fetch.ts';

const balance = { total: '7', symbol: 'USDC', notes: 1, largestNote: '7', chain: 'anvil' };

/** An agent that answers balances after a time, and shows other blocks at each look while it `goesOn`. */
async function serve(answerAfterMs: number, goesOn: boolean) {
  let read = 0;
  const listener: RequestListener = (request, response) => {
    const answer = (value: unknown): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(value));
    };
    if (request.url?.startsWith('/api/balance/progress') === true) {
      read += goesOn ? 1 : 0;
      answer({ isRunning: true, blocks: { read, total: 100 }, notes: 0 });
    } else {
      setTimeout(answer, answerAfterMs, balance).unref();
    }
  };
  const loopback = new Secret('l');
  const server = createServer(withPortProof(loopback, listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const limits = { silenceMs: 600, lookMs: 50 };
  return createHolderClient(
    `http://127.0.0.1:${port}`,
    new Secret('t'),
    createProvenFetch(() => loopback),
    limits,
  );
}

it('ends with a reason when the agent shows nothing new', async () => {
  const client = await serve(60_000, false);
  const silent = {
    code: 'agent_unreachable',
    message: expect.stringContaining('has shown no progress for 1 s'),
  };
  await expect(client.balance('USDC')).rejects.toMatchObject(silent);
  const { signal } = new AbortController();
  await expect(client.arrivals('USDC', undefined, signal)).rejects.toMatchObject(silent);
});

it('waits longer than that while the agent reads the chain', async () => {
  const client = await serve(1_500, true);
  expect(await client.balance('USDC')).toEqual(balance);
});
