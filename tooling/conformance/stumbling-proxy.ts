/**
 * A proxy in front of an agent that fails the first requests of a route, each in another way: it is busy, it is
 * down, or it passes the request on and loses the answer. A client must survive this without doing anything twice.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Stumble = 'none' | 'busy' | 'down' | 'lost';

type StumblingProxy = {
  readonly url: string;
  /** When each request arrived, by method and first part of the path after `/api`; milliseconds. */
  readonly cameAt: ReadonlyMap<string, readonly number[]>;
  stop(): Promise<void>;
};

/** The value of `Retry-After`: longer than the default wait of a client. */
export const retryAfterSeconds = 2;

/**
 * @param target - base URL of the agent
 * @param stumbles - by route, for example `POST disburse`, in order
 */
export async function startStumblingProxy(
  target: string,
  stumbles: Readonly<Record<string, readonly Stumble[]>>,
): Promise<StumblingProxy> {
  const cameAt = new Map<string, number[]>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const route = `${method} ${url.split('/')[2] ?? ''}`;
    const times = cameAt.get(route) ?? [];
    cameAt.set(route, times);
    const stumble = stumbles[route]?.[times.length];
    times.push(Date.now());
    if (stumble === 'busy' || stumble === 'down') {
      response.writeHead(stumble === 'busy' ? 429 : 503, {
        'content-type': 'application/json',
        'retry-after': String(retryAfterSeconds),
      });
      response.end(JSON.stringify({ code: stumble, message: 'come back later' }));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const headers = ['authorization', 'content-type', 'idempotency-key'].flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    const passedOn = await fetch(new URL(url, target), {
      method,
      headers: Object.fromEntries(headers),
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const body = await passedOn.text();
    if (stumble === 'lost') {
      request.socket.destroy();
      return;
    }
    response.writeHead(passedOn.status, { 'content-type': 'application/json' });
    response.end(body);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    cameAt,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
