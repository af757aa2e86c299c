/** What the client refuses to believe of a platform. */
import type { BatchesResponse } from '@pool/api';
import { bigintToHex32, parseEvmAddress, Secret } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createEdgeClient, createEdgeGate } from './edge-client.ts';

const word = bigintToHex32(1n);

function leaf(index: number): BatchesResponse['batches'][number] {
  return {
    index,
    kind: 'fund',
    root: word,
    noteRoot: word,
    commitments: [word],
    nullifiers: [],
    sealedNotesHash: word,
    txHash: word,
    blockNumber: 1,
  };
}

describe('getBatches', () => {
  const ask = (answer: BatchesResponse, from: number) =>
    createEdgeClient({
      url: 'http://127.0.0.1/agent-edge',
      token: new Secret('pool_edge_x'),
      fetch: () => Promise.resolve(Response.json(answer)),
    }).getBatches('anvil', from);

  it.each<[string, BatchesResponse, number]>([
    ['a page', { batches: [leaf(5), leaf(6)], next: 7 }, 5],
    ['the last page', { batches: [leaf(5)] }, 5],
    ['an empty page', { batches: [] }, 9],
  ])('takes %s', async (_name, answer, from) => {
    expect(await ask(answer, from)).toEqual(answer);
  });

  it('names the pool, so that a cache keeps the pages of two pools apart', async () => {
    const urls: string[] = [];
    const client = createEdgeClient({
      url: 'http://127.0.0.1/agent-edge',
      token: new Secret('pool_edge_x'),
      fetch: (url) => {
        urls.push(url);
        return Promise.resolve(Response.json({ batches: [] }));
      },
    });
    const pool = parseEvmAddress('0x5FbDB2315678afecb367f032d93F642f64180aa3');
    await client.getBatches('anvil', 0, pool);
    await client.getBatches('anvil', 0);
    const url = 'http://127.0.0.1/agent-edge/batches?chain=anvil&from=0';
    expect(urls).toEqual([`${url}&pool=${pool}`, url]);
  });

  it.each<[string, BatchesResponse, number]>([
    ['with a gap', { batches: [leaf(5), leaf(7)] }, 5],
    ['that begins elsewhere', { batches: [leaf(4)] }, 5],
    ['that leads back', { batches: [leaf(5)], next: 5 }, 5],
    ['that is empty and leads on', { batches: [], next: 5 }, 5],
    ['that skips', { batches: [leaf(5)], next: 9 }, 5],
  ])('refuses a page %s', async (_name, answer, from) => {
    await expect(ask(answer, from)).rejects.toMatchObject({ code: 'platform_invalid_response' });
  });
});

describe('createEdgeGate', () => {
  const [walletId, root] = [bigintToHex32(2n), bigintToHex32(3n)];
  const calls: { url: string; init: RequestInit }[] = [];
  const ask = (status: number, answer: unknown) => {
    const edge = createEdgeClient({
      url: 'http://127.0.0.1/agent-edge',
      token: new Secret('pool_live_x'),
      fetch: (url, init) => {
        calls.push({ url, init });
        return Promise.resolve(Response.json(answer, { status }));
      },
    });
    return createEdgeGate('base', edge).paths([walletId], root);
  };

  it('asks the platform for the paths under the root, with the key of the holder', async () => {
    const answer = { root, paths: [], missing: [walletId] };
    expect(await ask(200, answer)).toEqual(answer);
    const call = calls.at(-1);
    expect(call?.url).toBe('http://127.0.0.1/agent-edge/eligibility-paths');
    expect(call?.init.headers).toMatchObject({ authorization: 'Bearer pool_live_x' });
    const body: unknown = JSON.parse(call?.init.body as string);
    expect(body).toEqual({ chain: 'base', walletIds: [walletId], root });
  });

  it('refuses paths under another root, and an answer without one', async () => {
    const refused = { code: 'platform_invalid_response' };
    const other = { root: word, paths: [], missing: [] };
    await expect(ask(200, other)).rejects.toMatchObject(refused);
    await expect(ask(200, { paths: [], missing: [] })).rejects.toMatchObject(refused);
  });

  it.each([
    [503, 'gate_unreachable', true],
    [429, 'rate_limited', true],
    [409, 'eligibility_root_too_old', false],
    [403, 'spender_not_admitted', false],
  ])('keeps the code of a refusal with status %i', async (status, code, retryable) => {
    const refusal = ask(status, { code, message: 'no' });
    await expect(refusal).rejects.toMatchObject({ code, status, retryable });
  });
});
