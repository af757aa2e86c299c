import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startAnvil } from './anvil.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';

describe('startRpcProxy', () => {
  let chain: Server;
  let proxy: RpcProxy;

  beforeAll(async () => {
    // Answers every call with its own method.
    chain = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        const { method } = JSON.parse(body) as { method: string };
        response.statusCode = method === 'eth_busy' ? 429 : 200;
        response.end(JSON.stringify({ result: method }));
      });
    });
    await new Promise<void>((resolve) => chain.listen(0, '127.0.0.1', resolve));
    proxy = await startRpcProxy(`http://127.0.0.1:${(chain.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    await proxy.stop();
    chain.close();
  });
  beforeEach(() => {
    proxy.restore();
  });

  async function call(method: string, timeoutMs = 5_000): Promise<string> {
    try {
      const response = await fetch(proxy.url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return ((await response.json()) as { result: string }).result;
    } catch (error) {
      return error instanceof Error && error.name === 'TimeoutError' ? 'hangs' : 'dropped';
    }
  }

  it('forwards every call without a fault', async () => {
    expect(await call('eth_chainId')).toBe('eth_chainId');
    expect(proxy.answered).toBe(1);
  });

  it("passes the node's status on", async () => {
    const body = JSON.stringify({ method: 'eth_busy', params: [] });
    expect((await fetch(proxy.url, { method: 'POST', body })).status).toBe(429);
  });

  it('drops all calls or the chosen ones, and lists them', async () => {
    proxy.cut('drop');
    expect([await call('eth_chainId'), await call('eth_call')]).toEqual(['dropped', 'dropped']);
    expect(proxy.affected).toEqual(['eth_chainId', 'eth_call']);
    proxy.cut('drop', ({ method }) => method === 'eth_call');
    expect([await call('eth_chainId'), await call('eth_call')]).toEqual(['eth_chainId', 'dropped']);
    expect(proxy.affected).toEqual(['eth_call']);
    proxy.restore();
    expect(await call('eth_call')).toBe('eth_call');
  });

  it('keeps calls waiting until it is restored, and then closes them', async () => {
    proxy.cut('hang');
    expect(await call('eth_call', 300)).toBe('hangs');
    const waiting = call('eth_call');
    await expect.poll(() => proxy.affected).toHaveLength(2);
    proxy.restore();
    expect(await waiting).toBe('dropped');
    expect(await call('eth_call')).toBe('eth_call');
  });
});

describe('a proxy that got stuck at a block', () => {
  it('answers as of then, always or every second time', async () => {
    const anvil = await startAnvil();
    const proxy = await startRpcProxy(anvil.rpcUrl);
    try {
      const askAt = async (url: string, method: string, params: unknown[]): Promise<unknown> => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url, { method: 'POST', headers, body });
        return ((await response.json()) as { result?: unknown }).result;
      };
      const ask = (method: string, ...params: unknown[]) => askAt(proxy.url, method, params);
      const [from, to] = (await ask('eth_accounts')) as [string, string];
      // The chain answers before it mines.
      const send = async () => {
        const hash = await ask('eth_sendTransaction', { from, to, value: '0x1' });
        await expect
          .poll(() => askAt(anvil.rpcUrl, 'eth_getTransactionReceipt', [hash]))
          .toMatchObject({ status: '0x1' });
        return hash;
      };
      await proxy.getStuck(1);
      const hash = await send();
      const look = async () => [
        await ask('eth_blockNumber'),
        await ask('eth_getTransactionCount', from, 'latest'),
        (await ask('eth_getTransactionReceipt', hash)) !== null,
        ((await ask('eth_getTransactionByHash', hash)) as { blockNumber: unknown }).blockNumber,
        (await ask('eth_getBlockByNumber', '0x1', false)) !== null,
        await ask('eth_getBalance', to, '0x1'),
      ];
      expect(await look()).toEqual(['0x0', '0x0', false, null, false, undefined]);
      await proxy.getStuck(2);
      await send();
      const heads = [await ask('eth_blockNumber'), await ask('eth_blockNumber')];
      expect(heads.sort()).toEqual(['0x1', '0x2']);
      proxy.restore();
      expect(await ask('eth_blockNumber')).toBe('0x2');
    } finally {
      await Promise.all([proxy.stop(), anvil.stop()]);
    }
  });
});
