// Which names a request may be addressed to: the Host header is read as a host, and as nothing more.
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createNameCheck, type ServedNames } from './served-names.ts';

function createAsker(names: ServedNames) {
  const findForeignName = createNameCheck(names);
  const app = new Hono();
  app.get('/', (c) => {
    const refusal = findForeignName(c);
    return c.text(refusal?.code ?? 'served', refusal === undefined ? 200 : 403);
  });
  return async (headers: Record<string, string>, url = 'http://127.0.0.1/') => {
    const answer = await app.request(url, { headers });
    return answer.status === 200 ? 200 : await answer.text();
  };
}

describe('by name', () => {
  const ask = createAsker({
    allowedHosts: ['agent.example', '2001:db8::1', '[2001:db8::2]'],
    hostMatch: 'name',
    allowedOrigins: 'hosts',
  });

  it.each([
    '127.0.0.1',
    '127.0.0.1:8787',
    'LOCALHOST:1',
    '[::1]',
    '[::1]:8787',
    '[0:0::1]:8787',
    'agent.example',
    'Agent.Example:443',
    '[2001:db8::1]:8787',
    '[2001:db8::2]',
  ])('serves Host %s', async (host) => {
    expect(await ask({ host })).toBe(200);
  });

  it.each([
    '',
    'evil.test',
    'agent.example.evil.test',
    '127.0.0.1.evil.test',
    'user@127.0.0.1',
    '127.0.0.1/evil',
    '127.0.0.1?evil',
    '127.0.0.1#evil',
    '127.0.0.1:99999',
    '127.0.0.1:80:80',
    '127.0.0.1, evil.test',
    '::1',
    '[::]',
    '[2001:db8::3]',
    '[::ffff:10.0.0.1]',
    '0.0.0.0',
  ])('refuses Host "%s"', async (host) => {
    expect(await ask({ host })).toBe('forbidden_host');
  });

  it.each([
    ['http://localhost:8787', 200],
    ['https://agent.example', 200],
    ['http://evil.test', 'forbidden_host'],
    ['null', 'forbidden_host'],
    ['http://localhost.evil.test', 'forbidden_host'],
  ])('answers Origin %s', async (origin, expected) => {
    expect(await ask({ host: '127.0.0.1', origin })).toBe(expected);
  });
});

describe('exactly', () => {
  const ask = createAsker({
    allowedHosts: ['Pay.Example', 'gate.example:8443', 'default.example:443'],
    allowedOrigins: ['https://pay.example'],
  });

  it.each([
    ...['pay.example', 'PAY.example', 'pay.example:443', 'pay.example:80', 'gate.example:8443'],
    ...['default.example', '127.0.0.1:1', '[::1]:8787'],
  ])('serves Host %s', async (host) => {
    expect(await ask({ host })).toBe(200);
  });

  it.each(['pay.example:8443', 'gate.example', 'evil.test', 'user@pay.example', '127.0.0.1/x', ''])(
    'refuses Host "%s"',
    async (host) => {
      expect(await ask({ host })).toBe('forbidden_host');
    },
  );

  it('reads the host of the URL if no server set a header', async () => {
    expect(await ask({}, 'http://pay.example/')).toBe(200);
    expect(await ask({}, 'http://evil.test/')).toBe('forbidden_host');
  });

  it.each([
    ['https://pay.example', 200],
    ['http://pay.example', 'forbidden_origin'],
    ['http://127.0.0.1', 'forbidden_origin'],
    ['null', 'forbidden_origin'],
  ])('answers Origin %s', async (origin, expected) => {
    expect(await ask({ host: 'pay.example', origin })).toBe(expected);
  });
});

it('names the variable that lists the hosts', () => {
  const findForeignName = createNameCheck({
    allowedHosts: [],
    allowedOrigins: [],
    hostsVariable: 'GATE_ALLOWED_HOSTS',
  });
  const app = new Hono();
  app.get('/', (c) => c.text(findForeignName(c)?.message ?? ''));
  return expect(
    Promise.resolve(app.request('http://evil.test/')).then((answer) => answer.text()),
  ).resolves.toBe(
    'this host name is not served here; list it in GATE_ALLOWED_HOSTS if it should be',
  );
});
