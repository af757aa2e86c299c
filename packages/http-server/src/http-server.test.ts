/** The server below its routes: raw bytes on a socket, limits in time and number, shutdown. */
import { once } from 'node:events';
import { connect } from 'node:net';
import {
  exchangeRaw,
  listRawCases,
  parseAnswers,
  type RawTarget,
  rawLimits,
  tryRawCase,
} from '@pool/testkit/raw-http';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAnswerHeaders } from './answer-headers.ts';
import { readHostName } from './host-name.ts';
import { type HttpLimits, type HttpServer, serveHttp } from './http-server.ts';

/** A test sets the limit that it is about. No other one ends a connection before the time of the test is over. */
const quick: Partial<HttpLimits> = {
  headersMs: 600_000,
  requestMs: 600_000,
  keepAliveMs: 600_000,
  checkMs: 50,
  graceMs: 500,
  unreadMs: 250,
};

const post: RawTarget['post'] = {
  path: '/echo',
  headers: ['Content-Type: application/json'],
  status: 200,
  maxBodyBytes: 64 * 1024,
};

/** The least that an app must do itself: names, origins, a body limit. */
function createApp(): Hono {
  const app = new Hono();
  const requestId = '00000000-0000-0000-0000-000000000000';
  const refuse = (status: 400 | 403 | 404 | 413): Response =>
    Response.json(
      { code: 'refused', message: 'refused' },
      { status, headers: createAnswerHeaders(requestId) },
    );
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(createAnswerHeaders(requestId))) {
      c.header(name, value);
    }
    const name = readHostName(c.req.header('host'));
    const isServed = name === '127.0.0.1' || name === '[::1]';
    return isServed && c.req.header('origin') === undefined ? await next() : refuse(403);
  });
  app.use(bodyLimit({ maxSize: post.maxBodyBytes, onError: () => refuse(413) }));
  app.get('/', (c) => c.json({}));
  app.post(post.path, async (c) => c.json(await c.req.json()));
  app.notFound(() => refuse(404));
  app.onError(() => refuse(400));
  return app;
}

describe('a server on a socket', () => {
  let server: HttpServer;
  let target: RawTarget;
  beforeAll(async () => {
    const app = createApp();
    server = await serveHttp((request) => app.fetch(request), {
      host: '127.0.0.1',
      port: 0,
      onRefused: () => undefined,
      limits: rawLimits,
    });
    target = { port: Number(new URL(server.url).port), alivePath: '/', post };
  });
  afterAll(() => server.close());

  it.each(listRawCases(post))('survives %s', async (name) => {
    expect(await tryRawCase(target, name)).toEqual([]);
    expect((await fetch(server.url)).status).toBe(200);
  });
});

describe('the limits of a server', () => {
  const live = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const refused: string[] = [];
  let server: HttpServer;
  let begun = 0;
  let together = 0;
  let mostTogether = 0;
  let takesMs = 0;
  /** Answers wait for it. */
  let held: PromiseWithResolvers<void> | undefined;

  const portOf = () => Number(new URL(server.url).port);
  async function start(limits: Partial<HttpLimits> = {}, host = '127.0.0.1'): Promise<void> {
    server = await serveHttp(
      async () => {
        begun += 1;
        together += 1;
        mostTogether = Math.max(mostTogether, together);
        await sleep(takesMs);
        await held?.promise;
        together -= 1;
        return new Response('answered');
      },
      {
        host,
        port: 0,
        onRefused: ({ code }) => refused.push(code),
        limits: { ...quick, ...limits },
      },
    );
  }
  beforeEach(() => {
    refused.length = 0;
    [begun, together, mostTogether, takesMs] = [0, 0, 0, 0];
    held = undefined;
  });
  afterEach(async () => {
    held?.resolve();
    await server.close();
  });

  it('do not limit the time of an answer', async () => {
    takesMs = 1_500;
    await start({ headersMs: 300, requestMs: 500, keepAliveMs: 400 });
    expect(await (await fetch(server.url)).text()).toBe('answered');
  });

  it('end an idle connection', async () => {
    await start({ keepAliveMs: 400 });
    const { answers, isClosed, ms } = await exchangeRaw(portOf(), [live], { waitMs: 45_000 });
    expect([answers.length, isClosed]).toEqual([1, true]);
    expect(ms).toBeGreaterThan(300);
  });

  it('give headers less time than a body', async () => {
    await start({ headersMs: 100 });
    const { answers } = await exchangeRaw(portOf(), ['GET / HT'], { waitMs: 45_000 });
    expect(answers.map(({ status }) => status)).toEqual([408]);
  });

  it('end a connection whose request was answered before its body arrived', async () => {
    await start();
    const { answers, isClosed } = await exchangeRaw(
      portOf(),
      [live.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\n')],
      { waitMs: 45_000 },
    );
    expect(answers[0]).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(isClosed).toBe(true);
  });

  it('deliver the refusal of a body to a client that is still sending it', async () => {
    await start({ unreadBytes: 32 * 1024 * 1024, unreadMs: 600_000 });
    const size = 20 * 1024 * 1024;
    const request = (host: string) =>
      `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${size}\r\n\r\n`;
    for (const [host, status] of [
      ['127.0.0.1', 200],
      ['no host', 400],
    ] as const) {
      const { answers } = await exchangeRaw(
        portOf(),
        [request(host) + ' '.repeat(size / 2), ' '.repeat(size / 2)],
        { waitMs: 45_000, enough: 1, pauseMs: 100, isReadLate: true },
      );
      expect(answers.map((answer) => answer.status)).toEqual([status]);
    }
  });

  it('limit how much of an unread body is read, and for how long', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n';
    for (const [sent, unreadMs] of [
      ['', 200],
      [' '.repeat(256 * 1024), 600_000],
    ] as const) {
      await start({ unreadBytes: 64 * 1024, unreadMs });
      const { isClosed } = await exchangeRaw(portOf(), [head + sent], { waitMs: 45_000 });
      expect(isClosed).toBe(true);
      await server.close();
    }
  });

  it('run one request of a connection at a time', async () => {
    takesMs = 20;
    await start();
    const { answers } = await exchangeRaw(portOf(), [live.repeat(5)], {
      waitMs: 45_000,
      enough: 5,
    });
    expect([answers.length, begun, mostTogether]).toEqual([5, 5, 1]);
  });

  it('end a connection that sends too many requests at once', async () => {
    takesMs = 20;
    await start({ maxPipelined: 4 });
    const { answers, isClosed } = await exchangeRaw(portOf(), [live.repeat(5)], { waitMs: 45_000 });
    expect([answers.length, isClosed, begun]).toEqual([0, true, 1]);
  });

  it('end a connection after its last allowed request, and answer none twice', async () => {
    await start({ maxRequestsPerConnection: 3 });
    const { answers, isClosed } = await exchangeRaw(portOf(), [live.repeat(5)], { waitMs: 45_000 });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers['connection'])).toEqual([
      'keep-alive',
      'keep-alive',
      'close',
    ]);
    expect([isClosed, begun]).toEqual([true, 3]);
  });

  it('start no request after an answer that ends the connection', async () => {
    await start();
    const twoHosts = live.replace('Host', 'Host: evil.test\r\nHost');
    const { answers, isClosed } = await exchangeRaw(portOf(), [twoHosts + live.repeat(3)], {
      waitMs: 45_000,
    });
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect([isClosed, begun]).toEqual([true, 0]);
  });

  it('cap the connections, and accept new ones when others end', async () => {
    await start({ maxConnections: 2 });
    held = Promise.withResolvers();
    const busy = [1, 2].map(() => connect(portOf(), '127.0.0.1'));
    for (const socket of busy) {
      socket.write(live);
    }
    await expect.poll(() => begun).toBe(2);
    const third = await exchangeRaw(portOf(), [live], { waitMs: 45_000 });
    expect([third.text, third.isClosed]).toEqual(['', true]);
    held.resolve();
    for (const socket of busy) {
      socket.destroy();
    }
    await expect.poll(() => fetch(server.url).then(({ status }) => status, String)).toBe(200);
  });

  describe('when it stops', () => {
    it('answers requests in progress, refuses those behind them, and ends idle connections', async () => {
      await start({ graceMs: 600_000 });
      const idle = exchangeRaw(portOf(), [live], { waitMs: 600_000 });
      await expect.poll(() => begun).toBe(1);
      const half = exchangeRaw(portOf(), ['GET / HT'], { waitMs: 600_000 });
      held = Promise.withResolvers();
      const busy = exchangeRaw(portOf(), [live + live], { waitMs: 600_000 });
      await expect.poll(() => begun).toBe(2);
      const closed = server.close();
      await expect(fetch(server.url)).rejects.toThrow();
      held.resolve();
      const { answers } = await busy;
      expect(answers[0]).toMatchObject({ status: 200, body: 'answered' });
      expect(answers[0]?.headers['connection']).toBe('close');
      // No answer, or that the server stops. An answer to a request that was not run would be wrong.
      expect(answers.slice(1).every(({ status }) => status === 503)).toBe(true);
      // The server waits neither for the grace nor for the idle time.
      await closed;
      expect(begun).toBe(2);
      expect([(await idle).isClosed, (await half).isClosed]).toEqual([true, true]);
    });

    it('refuses a request that arrives after the stop', async () => {
      await start({ graceMs: 600_000 });
      held = Promise.withResolvers();
      const late = connect(portOf(), '127.0.0.1');
      await once(late, 'connect');
      late.write(live.slice(0, 9));
      const busy = exchangeRaw(portOf(), [live], { waitMs: 600_000 });
      await expect.poll(() => begun).toBe(1);
      const closed = server.close();
      late.write(live.slice(9));
      const text = Buffer.concat(await late.toArray()).toString('latin1');
      held.resolve();
      await closed;
      expect((await busy).answers.map(({ status }) => status)).toEqual([200]);
      expect(parseAnswers(text)).toMatchObject([
        { status: 503, headers: { 'retry-after': '5' }, body: expect.stringContaining('stopping') },
      ]);
      expect(begun).toBe(1);
    });

    it('does not wait longer than its grace', async () => {
      held = Promise.withResolvers();
      await start({ graceMs: 200 });
      const busy = exchangeRaw(portOf(), [live], { waitMs: 600_000 });
      await expect.poll(() => begun).toBe(1);
      await server.close();
      expect((await busy).answers).toEqual([]);
    });
  });

  it('name an IPv6 address as a URL does', async () => {
    await start({}, '::1');
    expect(server.url).toMatch(/^http:\/\/\[::1\]:[0-9]+$/);
    expect((await fetch(server.url)).status).toBe(200);
    await server.close();
    await start({}, '[::1]');
    expect((await fetch(server.url)).status).toBe(200);
  });

  it('give the app the address of the connection, not the one that the request claims', async () => {
    server = await serveHttp(
      (_request, { remoteAddress }) => new Response(remoteAddress ?? 'nothing'),
      { host: '127.0.0.1', port: 0, onRefused: () => undefined },
    );
    const answer = await fetch(server.url, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(await answer.text()).toBe('127.0.0.1');
  });

  it('refuse to start on a port that is in use', async () => {
    await start();
    await expect(
      serveHttp(() => new Response(''), {
        host: '127.0.0.1',
        port: portOf(),
        onRefused: () => undefined,
      }),
    ).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('tell the app when a caller disconnects', async () => {
    let isAborted = false;
    server = await serveHttp(
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isAborted = true;
        return new Response('');
      },
      { host: '127.0.0.1', port: 0, onRefused: () => undefined },
    );
    await exchangeRaw(portOf(), [live], { waitMs: 45_000, isCut: true });
    await expect.poll(() => isAborted).toBe(true);
  });

  it('log the refusal, and nothing of the request', async () => {
    await start();
    await exchangeRaw(portOf(), ['canary\r\n\r\n'], { waitMs: 45_000 });
    await exchangeRaw(portOf(), [`GET / HTTP/1.1\r\nX: ${'b'.repeat(20_000)}`], { waitMs: 45_000 });
    await exchangeRaw(portOf(), ['GET / HTTP/1.1\r\n\r\n'], { waitMs: 45_000 });
    expect(refused).toEqual(['invalid_request', 'headers_too_large', 'invalid_request']);
  });

  it('answer a failure of the app as internal_error, without its message', async () => {
    server = await serveHttp(
      () => {
        throw new Error('canary');
      },
      { host: '127.0.0.1', port: 0, onRefused: ({ code }) => refused.push(code) },
    );
    const answer = await fetch(server.url);
    expect([answer.status, refused]).toEqual([500, ['internal_error']]);
    expect(await answer.text()).not.toContain('canary');
  });
});
