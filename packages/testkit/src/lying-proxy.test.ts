import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LyingProxy, startLyingProxy } from './lying-proxy.ts';

describe('startLyingProxy', () => {
  let honest: Server;
  let proxy: LyingProxy;

  beforeAll(async () => {
    // Echoes what reached it, with a cookie and a status of its own.
    honest = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        response.writeHead(202, { 'content-type': 'application/json', 'set-cookie': 'a=1' });
        response.end(
          JSON.stringify({
            path: request.url,
            authorization: request.headers.authorization,
            body: body === '' ? null : (JSON.parse(body) as unknown),
          }),
        );
      });
    });
    await new Promise<void>((resolve) => honest.listen(0, '127.0.0.1', resolve));
    const { port } = honest.address() as AddressInfo;
    proxy = await startLyingProxy(`http://127.0.0.1:${port}`);
  });
  afterAll(async () => {
    await proxy.stop();
    honest.close();
  });

  async function post(path: string): Promise<{ status: number; cookie: string[]; json: unknown }> {
    const response = await fetch(`${proxy.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: JSON.stringify({ total: '1' }),
    });
    return {
      status: response.status,
      cookie: response.headers.getSetCookie(),
      json: await response.json(),
    };
  }
  const honestAnswer = { path: '/pay?x=1', authorization: 'Bearer x', body: { total: '1' } };

  it('forwards everything unchanged without a lie', async () => {
    expect(await post('/pay?x=1')).toEqual({ status: 202, cookie: ['a=1'], json: honestAnswer });
  });

  it('changes requests and answers of the chosen path, and counts the changes', async () => {
    proxy.setLies([
      { path: /^\/pay/, request: (body) => ({ ...body, total: '2' }) },
      { path: /^\/pay/, method: 'POST', response: (body) => ({ ...body, path: 'elsewhere' }) },
      { path: /^\/other/, request: () => ({}) },
    ]);
    expect((await post('/pay?x=1')).json).toEqual({
      ...honestAnswer,
      path: 'elsewhere',
      body: { total: '2' },
    });
    expect(proxy.applied).toEqual([1, 1, 0]);
    proxy.setLies([]);
    expect((await post('/pay?x=1')).json).toEqual(honestAnswer);
  });

  it('replaces the status of an answer', async () => {
    proxy.setLies([{ path: /^\/pay/, response: () => ({ code: 'gone' }), status: 410 }]);
    expect(await post('/pay?x=1')).toMatchObject({ status: 410, json: { code: 'gone' } });
    proxy.setLies([]);
    expect((await post('/pay?x=1')).status).toBe(202);
  });
});
