import { PoolError, Secret } from '@pool/core';
import { Hono } from 'hono';
import { beforeEach, describe, expect, it } from 'vitest';
import { createGateClient } from './gate-client.ts';

const zero = `0x${'0'.repeat(64)}`;

// A gate reduced to its OAuth contract (RFC 6749 §4.4). It counts the requests.
function createFakeGate() {
  const state = { tokensIssued: 0, rootCalls: 0, tokenStatus: 200, bodies: [] as unknown[] };
  const app = new Hono();
  const good = new Set<string>();
  app.post('/oauth/token', async (c) => {
    if (state.tokenStatus !== 200) {
      return c.body(null, state.tokenStatus as 429);
    }
    const form = await c.req.parseBody();
    const basic = Buffer.from('agent:s3cret%3A').toString('base64');
    if (c.req.header('authorization') !== `Basic ${basic}` || form['scope'] !== 'gate.read') {
      return c.json({ error: 'invalid_client' }, 401);
    }
    state.tokensIssued += 1;
    const token = `token-${state.tokensIssued}`;
    good.add(token);
    return c.json({ access_token: token, token_type: 'Bearer', expires_in: 300 });
  });
  app.get('/v1/root', (c) => {
    state.rootCalls += 1;
    const token = c.req.header('authorization')?.replace('Bearer ', '') ?? '';
    if (!good.has(token)) {
      return c.json({ code: 'unauthorized', message: 'unknown token' }, 401);
    }
    return c.json({ root: zero, wallets: 0 });
  });
  app.post('/v1/paths', async (c) => {
    state.bodies.push(await c.req.json());
    return c.json({ root: zero, paths: [], missing: [zero] });
  });
  return { app, state, revokeAll: () => good.clear() };
}

describe('createGateClient', () => {
  let gate: ReturnType<typeof createFakeGate>;
  let now: number;
  const clientOf = (clientSecret: string) =>
    createGateClient({
      url: 'http://127.0.0.1:1',
      oauth: {
        tokenUrl: 'http://127.0.0.1:1/oauth/token',
        clientId: 'agent',
        clientSecret: new Secret(clientSecret),
        scope: 'gate.read',
      },
      fetch: async (input, init) => await gate.app.request(input, init),
      nowMs: () => now,
    });
  beforeEach(() => {
    gate = createFakeGate();
    now = 0;
  });

  it('requests one token for any number of waiting calls and keeps it until shortly before expiry', async () => {
    const client = clientOf('s3cret:');
    await Promise.all([client.root(), client.root(), client.root()]);
    expect(gate.state.tokensIssued).toBe(1);
    now = 269_000;
    await client.root();
    expect(gate.state.tokensIssued).toBe(1);
    now = 271_000;
    await client.root();
    expect(gate.state.tokensIssued).toBe(2);
  });

  it('requests another token once if the gate does not know the first one', async () => {
    const client = clientOf('s3cret:');
    await client.root();
    gate.revokeAll();
    expect(await client.root()).toEqual({ root: zero, wallets: 0 });
    expect(gate.state.tokensIssued).toBe(2);
  });

  it('names the variables if the credentials are refused, and does not reveal the secret', async () => {
    const error: unknown = await clientOf('wrong-canary')
      .root()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PoolError);
    expect((error as PoolError).code).toBe('gate_unauthorized');
    expect((error as PoolError).message).toContain('POOL_GATE_OAUTH_');
    expect(JSON.stringify(error)).not.toContain('canary');
    expect(gate.state.rootCalls).toBe(0);
  });

  it.each([500, 503, 429])(
    'reports a token server that answers %i as unreachable, not as a refusal',
    async (status) => {
      const client = clientOf('s3cret:');
      gate.state.tokenStatus = status;
      await expect(client.root()).rejects.toMatchObject({
        code: 'gate_unreachable',
        retryable: true,
      });
      gate.state.tokenStatus = 200;
      expect(await client.root()).toEqual({ root: zero, wallets: 0 });
    },
  );

  it('asks for the root that it is given, and takes paths under no other one', async () => {
    const client = clientOf('s3cret:');
    expect((await client.paths([zero], zero)).root).toBe(zero);
    expect((await client.paths([zero])).root).toBe(zero);
    await expect(client.paths([zero], `0x${'0'.repeat(63)}1`)).rejects.toMatchObject({
      code: 'gate_invalid_response',
    });
    expect(gate.state.bodies).toEqual([
      { walletIds: [zero], root: zero },
      { walletIds: [zero] },
      { walletIds: [zero], root: `0x${'0'.repeat(63)}1` },
    ]);
  });
});
