// Access tokens of the gate: who gets one, how often, and which gates accept it.
import { errorCodeOf, PoolError, Secret } from '@pool/core';
import { createShell, type Shell } from '@pool/http-server';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { addTokenRoute } from './gate-app.ts';
import { createTokenService, type TokenService } from './oauth.ts';

const short = { clientId: 'short', clientSecret: new Secret('w'), scopes: ['gate.read'] } as const;
const long = {
  clientId: 'long',
  clientSecret: new Secret('x'.repeat(32)),
  scopes: ['gate.read'],
} as const;

describe('tokens of the gate', () => {
  let nowMs = 0;
  let tokens: TokenService;
  let app: Shell;
  beforeEach(() => {
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    tokens = createTokenService([short, long], 900, () => nowMs, {
      limits: { addressPerSecond: 1, clientPerSecond: 1 },
    });
    app = appOf(tokens);
  });

  function appOf(service: TokenService): Shell {
    const shell = createShell({
      log: createLog('silent', 'test'),
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1024,
      proxyHops: 1,
    });
    addTokenRoute(shell, service);
    return shell;
  }

  async function ask(clientId: string, secret: string, from = '198.51.100.7'): Promise<Response> {
    return await app.request('/oauth/token', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': from,
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: secret,
      }),
    });
  }
  const statusOf = async (...parameters: Parameters<typeof ask>): Promise<number> =>
    (await ask(...parameters)).status;

  it('limits guesses per address, and says when to try again', async () => {
    const statuses = [];
    for (let i = 0; i < 12; i += 1) {
      statuses.push(await statusOf(['short', 'long', 'nobody'][i % 3] ?? '', `guess ${i}`));
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    const refused = await ask('short', 'guess');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
    expect(await statusOf('short', 'guess', '198.51.100.8')).toBe(401);
    nowMs += 1_000;
    expect(await statusOf('short', 'w')).toBe(200);
  });

  it('does not reveal to an address over its limit whether it guessed a short secret', async () => {
    for (let i = 0; i < 10; i += 1) {
      await ask('short', `guess ${i}`);
    }
    expect(await statusOf('short', 'w')).toBe(429);
  });

  it('accepts a secret that cannot be guessed while guesses flood its address', async () => {
    for (let i = 0; i < 50; i += 1) {
      await ask('long', `guess ${i}`);
    }
    expect(await statusOf('long', 'guess')).toBe(429);
    expect(await statusOf('long', 'x'.repeat(32))).toBe(200);
  });

  it('answers that the database is unavailable while the limit of all gates cannot be read, so that the agent asks again', async () => {
    const reject = () =>
      Promise.reject(new PoolError('database_unavailable', 'the database does not answer'));
    const shareLimit = () => ({ take: reject, giveBack: reject });
    app = appOf(createTokenService([long], 900, () => nowMs, { shareLimit }));
    const answer = await ask('long', 'x'.repeat(32));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'database_unavailable' });
  });

  it('limits each client by its id from any address, and does not count against the address', async () => {
    for (let i = 0; i < 10; i += 1) {
      expect(await statusOf('short', 'w', `198.51.100.${i % 2}`)).toBe(200);
    }
    expect(await statusOf('short', 'w', '198.51.100.9')).toBe(429);
    expect(await statusOf('long', 'x'.repeat(32))).toBe(200);
    expect(await statusOf('short', 'guess', '198.51.100.0')).toBe(401);
  });
});

describe('an access token', () => {
  const key = new Uint8Array(32).fill(7);
  const request = { grantType: 'client_credentials', scope: undefined, address: 'a' };
  const open = (clients = [long], nowMs = 0, own = key) =>
    createTokenService(clients, 900, () => nowMs, { key: own });
  const clientSecret = long.clientSecret.reveal();
  const granted = async () => {
    const { accessToken } = await open().grant({ clientId: 'long', clientSecret, ...request });
    return accessToken.reveal();
  };
  const refused = { code: 'unauthorized' };

  it('is accepted by every gate with the key, until it expires', async () => {
    const token = await granted();
    await open([long], 899_999).assertScope(token, 'gate.read');
    await expect(open([long], 900_000).assertScope(token, 'gate.read')).rejects.toMatchObject(
      refused,
    );
    const stranger = new Uint8Array(32).fill(8);
    await expect(open([long], 0, stranger).assertScope(token, 'gate.read')).rejects.toMatchObject(
      refused,
    );
  });

  it('is refused when a word of it was changed, and when its client has another secret or is gone', async () => {
    const token = await granted();
    const [body = '', mac = ''] = token.split('.');
    const stated = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...stated, scopes: ['gate.write'] }));
    for (const wrong of [
      `${forged.toString('base64url')}.${mac}`,
      body,
      `${body}.`,
      `${body}.${mac.slice(1)}`,
    ]) {
      await expect(open().assertScope(wrong, 'gate.read')).rejects.toMatchObject(refused);
    }
    const changed = { ...long, clientSecret: new Secret('y'.repeat(32)) };
    await expect(open([changed]).assertScope(token, 'gate.read')).rejects.toMatchObject(refused);
    await expect(open([]).assertScope(token, 'gate.read')).rejects.toMatchObject(refused);
    await expect(open().assertScope(token, 'gate.write')).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

it('refuses a client that the gate does not know as it refuses a wrong secret', async () => {
  const tokens = createTokenService([short], 900, () => 0);
  const refusalOf = async (clientId: string, clientSecret: string): Promise<unknown> => {
    try {
      const request = { grantType: 'client_credentials', scope: undefined, address: 'a' };
      return await tokens.grant({ clientId, clientSecret, ...request });
    } catch (error) {
      return [errorCodeOf(error), error instanceof Error ? error.message : ''];
    }
  };
  expect(await refusalOf('nobody', '')).toEqual(await refusalOf('short', ''));
});
