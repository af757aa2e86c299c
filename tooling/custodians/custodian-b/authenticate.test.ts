import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator, type SignedRequest } from './authenticate.ts';
import { parseConfig } from './config.ts';
import { createExample } from './example.ts';
import { signRequest } from './fixtures/caller.ts';
import { startWorld, vectors, type World } from './fixtures/world.ts';

const { config, users } = createExample();
const { apiUsers } = parseConfig(config);
const path = '/v1/transactions';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.stop();
});

describe('JWTs of requests', () => {
  it.each(vectors.authentication)('accepts the $method of the vectors', async (vector) => {
    const authenticator = createAuthenticator(apiUsers, () => vector.now);
    const request: SignedRequest = {
      apiKey: users.agent.apiKey,
      authorization: `Bearer ${vector.jwt}`,
      uri: vector.claims.uri,
      body: Buffer.from(vector.body),
    };
    const user = await authenticator.authenticate(request);
    expect(user.role).toBe('EDITOR');
    // A nonce counts once.
    await expect(authenticator.authenticate(request)).rejects.toMatchObject({ body: { code: -7 } });
  });

  it('accepts the full 55 seconds and the query in uri', async () => {
    const answer = await world.callAs('gate', `${path}?limit=1&status=COMPLETED`);
    expect(answer).toStrictEqual({ status: 200, body: [] });
  });

  const now = Math.floor(Date.now() / 1_000);
  it.each([
    ['another uri', { uri: '/v1/transactions/' }, -4],
    ['the uri without its query', { uri: '/v1' }, -4],
    ['another user', { sub: 'gate-api-key' }, -6],
    ['a hash of other bytes', { bodyHash: '00'.repeat(32) }, -7],
    ['no hash', { bodyHash: undefined }, -7],
    ['no nonce', { nonce: undefined }, -7],
    ['56 seconds', { iat: now, exp: now + 56 }, -7],
    ['a past exp', { iat: now - 60, exp: now - 5 }, -10],
    ['an iat to come', { iat: now + 300, exp: now + 355 }, -12],
  ])('refuses %s', async (_, claims, code) => {
    const answer = await world.callAs('agent', path, { claims });
    expect(answer).toMatchObject({ status: 401, body: { code } });
  });

  it('refuses a nonce that was used on another endpoint', async () => {
    const nonce = randomUUID();
    const first = await world.callAs('agent', path, { claims: { nonce } });
    const second = await world.callAs('agent', `${path}?limit=2`, { claims: { nonce } });
    expect([first.status, second.body['code']]).toStrictEqual([200, -7]);
  });

  it.each([
    ['no JWT', -3, async () => await Promise.resolve('')],
    ['something else than a JWT', -5, async () => await Promise.resolve('Bearer a.b')],
    [
      'a JWT of another key',
      -1,
      async () =>
        `Bearer ${await signRequest({ ...users.gate, apiKey: users.agent.apiKey }, path, '')}`,
    ],
    [
      'an unsigned JWT',
      -1,
      async () => {
        const [, payload] = (await signRequest(users.agent, path, '')).split('.');
        const header = Buffer.from('{"alg":"none"}').toString('base64url');
        return `Bearer ${header}.${payload}.`;
      },
    ],
  ])('refuses %s', async (_, code, authorize) => {
    const headers = { 'x-api-key': users.agent.apiKey, authorization: await authorize() };
    const response = await fetch(`${world.url}${path}`, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code });
  });

  it('refuses an unknown API key', async () => {
    const authorization = `Bearer ${await signRequest(users.agent, path, '')}`;
    const headers = { 'x-api-key': 'nobody', authorization };
    const response = await fetch(`${world.url}${path}`, { headers });
    expect(await response.json()).toMatchObject({ code: -2 });
  });
});
