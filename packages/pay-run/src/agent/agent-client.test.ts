// The commands' client of the agent.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@pool/core';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withPortProof } from '../fixtures/port-proofs.ts';
import { createAgentCaller, createAgentClient } from './agent-client.ts';

const job = { key: 'k', state: 'accepted' };

/** Returns the answers in order, and repeats the last one. */
function createClient(...answers: readonly Response[]) {
  const asked: string[] = [];
  const client = createAgentClient('http://127.0.0.1:1', new Secret('t'), async (input) => {
    asked.push(input);
    return (answers[asked.length - 1] ?? answers.at(-1) ?? Response.error()).clone();
  });
  return { client, asked };
}

function refuse(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, message: 'm' }, { status, headers });
}

describe('createAgentClient', () => {
  it('does not send with fetch, which ends a request whose answer takes more than five minutes', async () => {
    const server = createServer(
      withPortProof(new Secret('t'), (request, response) =>
        request
          .resume()
          .on('end', () => response.end(JSON.stringify({ ...job, key: request.url }))),
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('headers timeout')));
    onTestFinished(() => {
      vi.unstubAllGlobals();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const client = createAgentClient(`http://127.0.0.1:${port}`, new Secret('t'));
    expect(await client.job('k')).toEqual({ ...job, key: '/api/disburse/k' });
  });

  it.each([204, 304, 999])('refuses the status %i, which no agent sends', async (status) => {
    const server = createServer(
      withPortProof(new Secret('t'), (_request, response) => response.writeHead(status).end()),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const client = createAgentClient(`http://127.0.0.1:${port}`, new Secret('t'));
    await expect(client.job('k')).rejects.toMatchObject({ code: 'agent_unreachable' });
  });

  it('waits and repeats a request after 429', async () => {
    const { client, asked } = createClient(
      refuse(429, 'rate_limited', { 'retry-after': '1' }),
      Response.json(job),
    );
    const startedAtMs = performance.now();
    expect(await client.job('k')).toEqual(job);
    expect(asked).toHaveLength(2);
    expect(performance.now() - startedAtMs).toBeGreaterThan(900);
  });

  it('says once that the agent takes no more requests, and reports the refusal after a while', async () => {
    let nowMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const told: string[] = [];
    let asked = 0;
    const call = createAgentCaller(
      'http://127.0.0.1:1',
      new Secret('t'),
      async () => {
        nowMs = 1_000 * asked;
        asked += 1;
        return refuse(429, 'rate_limited', { 'retry-after': '1' });
      },
      { patienceMs: 2_500, onPause: (text) => void told.push(text) },
    );
    await expect(call(v.unknown(), '/api/transfer')).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
    });
    expect(asked).toBe(3);
    expect(told).toEqual([expect.stringContaining('takes no more requests for a moment')]);
  });

  it('finds no job under an unknown key, and throws on every other error', async () => {
    expect(await createClient(refuse(404, 'not_found')).client.find('k')).toBeUndefined();
    expect(await createClient(Response.json(job)).client.find('k')).toEqual(job);
    await expect(createClient(refuse(401, 'unauthorized')).client.find('k')).rejects.toMatchObject({
      code: 'unauthorized',
      retryable: false,
    });
    await expect(
      createClient(refuse(503, 'platform_unreachable')).client.find('k'),
    ).rejects.toMatchObject({ retryable: true });
  });

  it('never treats an unreadable answer as a refusal', async () => {
    const request = { token: 'USDC', recipients: [] };
    for (const answer of [
      new Response('{"key":"k","sta', { status: 202 }),
      Response.json({ ...job, state: 'new' }, { status: 202 }),
      new Response('<html>', { status: 400 }),
    ]) {
      await expect(createClient(answer).client.submit('k', request)).rejects.toMatchObject({
        code: 'agent_invalid_response',
        status: 502,
      });
    }
  });
});
