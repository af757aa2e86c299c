// Access tokens of the gate: who gets one, how often, and when old ones are deleted.
import { errorCodeOf, Secret } from '@pool/core';
import { createShell, type Shell } from '@pool/http-server';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { addTokenRoute } from './gate-app.ts';
import {
  createAccessTokens,
  createTokenService,
  deletedPerGrant,
  type TokenService,
} from './oauth.ts';

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
    app = createShell({
      log: createLog('silent', 'test'),
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1024,
      proxyHops: 1,
    });
    addTokenRoute(app, tokens);
  });

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

  it('limits each client by its id from any address, and does not count against the address', async () => {
    for (let i = 0; i < 10; i += 1) {
      expect(await statusOf('short', 'w', `198.51.100.${i % 2}`)).toBe(200);
    }
    expect(await statusOf('short', 'w', '198.51.100.9')).toBe(429);
    expect(await statusOf('long', 'x'.repeat(32))).toBe(200);
    expect(await statusOf('short', 'guess', '198.51.100.0')).toBe(401);
  });
});

describe('createAccessTokens', () => {
  it('deletes expired tokens by age in bounded steps, and no other', () => {
    const kept = createAccessTokens<string>();
    for (let i = 0; i < 100; i += 1) {
      kept.add(`old ${i}`, 'c', { nowMs: i, expiresAtMs: 1_000 + i });
    }
    kept.add('new', 'c', { nowMs: 5_000, expiresAtMs: 6_000 });
    expect(kept.size).toBe(100 - deletedPerGrant + 1);
    expect(kept.find(`old ${deletedPerGrant - 1}`, 0)).toBeUndefined();
    expect(kept.find(`old ${deletedPerGrant}`, 0)).toBe('c');
    expect(kept.find(`old ${deletedPerGrant}`, 5_000)).toBeUndefined();
    for (let i = 0; i < 20; i += 1) {
      kept.add(`newer ${i}`, 'c', { nowMs: 5_000, expiresAtMs: 6_000 });
    }
    expect(kept.size).toBe(21);
    expect(kept.find('new', 5_999)).toBe('c');
    expect(kept.find('new', 6_000)).toBeUndefined();
  });
});

it('refuses a client that the gate does not know as it refuses a wrong secret', () => {
  const tokens = createTokenService([short], 900, () => 0);
  const refusalOf = (clientId: string, clientSecret: string): unknown => {
    try {
      const request = { grantType: 'client_credentials', scope: undefined, address: 'a' };
      return tokens.grant({ clientId, clientSecret, ...request });
    } catch (error) {
      return [errorCodeOf(error), error instanceof Error ? error.message : ''];
    }
  };
  expect(refusalOf('nobody', '')).toEqual(refusalOf('short', ''));
});
