// What every request passes before a route and after it: ids, headers, refusals, limits, and one log line.
import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { limitBody } from './body-limit.ts';
import { createShell, type ShellOptions } from './shell.ts';
import type { LogFields, ShellLog } from './shell-context.ts';

type Line = LogFields & { readonly level: string; readonly message: string };

function createTestShell(changes: Partial<ShellOptions> = {}) {
  const lines: Line[] = [];
  const createLog = (bindings: LogFields): ShellLog => {
    const writer = (level: string) => (fields: LogFields, message: string) => {
      lines.push({ ...bindings, ...fields, level, message });
    };
    return {
      child: (fields) => createLog({ ...bindings, ...fields }),
      debug: writer('debug'),
      info: writer('info'),
      warn: writer('warn'),
      error: writer('error'),
    };
  };
  const app = createShell({
    log: createLog({}),
    allowedHosts: [],
    allowedOrigins: [],
    ...changes,
  });
  app.get('/ok', (c) => c.json({ from: c.get('callerAddress') }));
  app.get('/job/:key', (c) => {
    c.set('log', c.get('log').child({ trace: 't1' }));
    return c.json({});
  });
  app.get('/refused/:status', (c) => {
    const status = Number(c.req.param('status'));
    const seconds = c.req.query('seconds');
    throw new PoolError('rate_limited', 'slow down', {
      status,
      ...(seconds === undefined ? {} : { details: { retryAfterSeconds: Number(seconds) } }),
    });
  });
  app.get('/broken', () => {
    throw new TypeError('CANARY');
  });
  app.post('/body', async (c) => c.json((await c.req.text()).length));
  const get = async (path: string, headers: Record<string, string> = {}) =>
    await app.request(`http://127.0.0.1${path}`, { headers });
  const post = async (path: string, body: string | ReadableStream) =>
    await app.request(`http://127.0.0.1${path}`, {
      method: 'POST',
      body,
      duplex: 'half',
    });
  return { app, lines, get, post };
}

describe('an answer', () => {
  it('has the common headers for every status', async () => {
    const { get } = createTestShell();
    const paths = ['/ok', '/nothing', '/broken', '/refused/401'];
    const answers = [
      ...(await Promise.all(paths.map((path) => get(path)))),
      await get('/ok', { host: 'evil.test' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 500, 401, 403]);
    for (const { headers } of answers) {
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('contains code and message of an error, with its status', async () => {
    const { get } = createTestShell();
    const answer = await get('/refused/409');
    expect([answer.status, await answer.json()]).toEqual([
      409,
      { code: 'rate_limited', message: 'slow down' },
    ]);
    expect(await (await get('/nothing')).json()).toEqual({
      code: 'not_found',
      message: 'there is no such route',
    });
  });

  it.each([
    ['401', 'www-authenticate', 'Bearer realm="pool"'],
    ['429', 'retry-after', '5'],
    ['429?seconds=7', 'retry-after', '7'],
    ['503', 'retry-after', '5'],
    ['503?seconds=7', 'retry-after', '7'],
    ['403', 'www-authenticate', null],
    ['409?seconds=7', 'retry-after', null],
  ])('of status %s has %s: %s', async (path, name, value) => {
    const { get } = createTestShell();
    expect((await get(`/refused/${path}`)).headers.get(name)).toBe(value);
  });

  it('names the challenge of the service', async () => {
    const { get } = createTestShell({ challenge: 'Bearer' });
    expect((await get('/refused/401')).headers.get('www-authenticate')).toBe('Bearer');
  });

  it('contains only the request id of an unexpected error', async () => {
    const { get, lines } = createTestShell();
    const answer = await get('/broken');
    const requestId = answer.headers.get('x-request-id');
    expect(await answer.json()).toEqual({
      code: 'internal_error',
      message: `internal error; request ${requestId}`,
    });
    expect(lines).toMatchObject([
      { level: 'error', message: 'request failed', error: 'TypeError', requestId },
      { level: 'info', message: 'request', code: 'internal_error', status: 500 },
    ]);
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  it('is not logged as a failure if the caller aborted the request', async () => {
    const { app, lines } = createTestShell();
    const caller = new AbortController();
    app.get('/abandoned', () => {
      caller.abort();
      throw new TypeError('aborted');
    });
    const answer = await app.request(
      new Request('http://127.0.0.1/abandoned', { signal: caller.signal }),
    );
    expect(await answer.json()).toEqual({
      code: 'invalid_request',
      message: 'the client aborted the request',
    });
    expect(lines.map(({ level }) => level)).toEqual(['info']);
  });
});

describe('the request id', () => {
  const given = '0af76519-16cd-43dd-8448-eb211c80319c';

  it('is always a new one by default', async () => {
    const { get } = createTestShell();
    const id = (await get('/ok', { 'x-request-id': given })).headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(id).not.toBe(given);
  });

  it.each([
    [given, true],
    ['0af7651916cd43dd8448eb211c80319c', true],
    ['0af76519', false],
    ['pool_live_abcdef0123456789', false],
    [`${given}0`, false],
  ])('of the caller %s is kept: %s, if the service keeps them', async (id, isKept) => {
    const { get, lines } = createTestShell({ keepsRequestIds: true });
    const answered = (await get('/ok', { 'x-request-id': id })).headers.get('x-request-id');
    expect(answered === id).toBe(isKept);
    expect(lines.map(({ requestId }) => requestId)).toEqual([answered]);
  });
});

describe('the log line', () => {
  it('names method, route and status, and no key of a path', async () => {
    const { get, lines } = createTestShell();
    await get('/job/payroll-june?x=payroll-june');
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'request',
        requestId: expect.any(String),
        trace: 't1',
        method: 'GET',
        route: '/job/:key',
        status: 200,
        ms: expect.any(Number),
      },
    ]);
  });

  it('has the level of the service, and info for an error', async () => {
    const { get, lines } = createTestShell({ answeredLevel: 'debug' });
    await get('/ok');
    await get('/refused/429');
    await get('/nothing');
    await get('/ok', { host: 'evil.test' });
    expect(lines.map(({ level, status, code }) => [level, status, code])).toEqual([
      ['debug', 200, undefined],
      ['info', 429, 'rate_limited'],
      ['info', 404, 'not_found'],
      ['info', 403, 'forbidden_host'],
    ]);
    expect(lines.at(-1)?.['route']).toBe('forbidden_host');
  });
});

describe('a body', () => {
  const chunked = (bytes: number) => new Blob(['x'.repeat(bytes)]).stream();

  it('of the largest size is read, and one byte more is 413', async () => {
    const { post } = createTestShell({ maxBodyBytes: 100 });
    expect((await post('/body', 'x'.repeat(100))).status).toBe(200);
    expect((await post('/body', chunked(100))).status).toBe(200);
    for (const body of ['x'.repeat(101), chunked(101)]) {
      const answer = await post('/body', body);
      expect([answer.status, await answer.json()]).toEqual([
        413,
        { code: 'payload_too_large', message: 'the request body is larger than 100 bytes' },
      ]);
    }
  });

  it('can be limited by a route, which can answer in its own form', async () => {
    const { app, post } = createTestShell();
    app.post('/small', limitBody(10), (c) => c.json({}));
    app.post(
      '/report',
      limitBody(10, (c, message) => c.json({ message })),
      (c) => c.json({}),
    );
    expect((await post('/body', 'x'.repeat(1_000))).status).toBe(200);
    expect((await post('/small', 'x'.repeat(11))).status).toBe(413);
    const report = await post('/report', 'x'.repeat(11));
    expect([report.status, await report.json()]).toEqual([
      200,
      { message: 'the request body is larger than 10 bytes' },
    ]);
  });
});

it('gives routes the address of the connection, or the one that an own proxy saw', async () => {
  const from = { remoteAddress: '192.0.2.1' };
  const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
  const addressOf = async (changes: Partial<ShellOptions>) => {
    const { app } = createTestShell(changes);
    const answer = await app.request('http://127.0.0.1/ok', { headers }, from);
    return ((await answer.json()) as { from: string }).from;
  };
  expect(await addressOf({})).toBe('192.0.2.1');
  expect(await addressOf({ proxyHops: 1 })).toBe('198.51.100.7');
});
