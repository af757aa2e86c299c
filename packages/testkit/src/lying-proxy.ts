/**
 * An HTTP proxy that lies: it runs between an agent and a real platform and changes the JSON of chosen requests or
 * answers. So tests can have a platform that swaps a key, or a relayer that alters a batch, without test code in the
 * product.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from './read-body.ts';

/** A parsed JSON document; lies narrow it to what they change. */
export type Json = Record<string, unknown>;

export type Lie = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Tested against path and query. */
  readonly path: RegExp;
  /** Changes a request's body before it reaches the platform. */
  readonly request?: (body: Json) => Json;
  /** Changes an answer's body before it reaches the client; `status` is the platform's. */
  readonly response?: (body: Json, status: number) => Json;
  /** Replaces the status of the answer, for example to call something done that the platform never saw. */
  readonly status?: number;
};

export type LyingProxy = {
  readonly url: string;
  /** How many times each lie was applied, in the given order. A lie that reached no client proves nothing. */
  readonly applied: readonly number[];
  /** Replaces the lies; none: an honest proxy. */
  setLies(lies: readonly Lie[]): void;
  stop(): Promise<void>;
};

/** @param target - base address of the honest service, for example `http://127.0.0.1:8080` */
export async function startLyingProxy(
  target: string,
  initialLies: readonly Lie[] = [],
): Promise<LyingProxy> {
  let lies = initialLies;
  let applied = lies.map(() => 0);
  const server = createServer((request, response) => {
    forward(request, response).catch(() => {
      response.writeHead(502, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 'bad_gateway', message: 'the proxy could not forward' }));
    });
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', target);
    const matching = lies
      .map((lie, index) => ({ lie, index }))
      .filter(({ lie }) => lie.method === undefined || lie.method === request.method)
      .filter(({ lie }) => lie.path.test(`${url.pathname}${url.search}`));

    let body = await readBody(request);
    for (const { lie, index } of matching) {
      if (lie.request !== undefined && body !== '') {
        body = JSON.stringify(lie.request(JSON.parse(body) as Json));
        applied[index] = (applied[index] ?? 0) + 1;
      }
    }
    const answer = await fetch(url, {
      method: request.method ?? 'GET',
      headers: forwardedHeaders(request),
      redirect: 'manual',
      ...(body === '' ? {} : { body }),
    });
    let text = await answer.text();
    for (const { lie, index } of matching) {
      if (lie.response !== undefined && text !== '') {
        text = JSON.stringify(lie.response(JSON.parse(text) as Json, answer.status));
        applied[index] = (applied[index] ?? 0) + 1;
      }
    }
    for (const [name, value] of answer.headers) {
      if (!dropped.has(name)) {
        response.appendHeader(name, value);
      }
    }
    response.statusCode = matching.reduce((status, { lie }) => lie.status ?? status, answer.status);
    response.end(text);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get applied() {
      return applied;
    },
    setLies(next) {
      lies = next;
      applied = next.map(() => 0);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// Headers of one connection or one body. The next connection sets its own.
const dropped = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

function forwardedHeaders(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !dropped.has(name)) {
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
  }
  return headers;
}
