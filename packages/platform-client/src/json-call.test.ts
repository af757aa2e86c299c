import type { SettlementRequest } from '@pool/api';
import { PoolError, parseEncryptionPublicKey, parseHex32, Secret } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import { describe, expect, it } from 'vitest';
import { createEdgeClient } from './edge-client.ts';

const token = new Secret('pool_edge_test');
const url = 'https://platform.example/agent-edge';

function clientOf(answer: () => Response | Promise<Response>, timeoutMs?: number) {
  const seen: { url: string; init: RequestInit }[] = [];
  const send: Fetch = async (input, init) => {
    seen.push({ url: input, init });
    return await answer();
  };
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  return { client: createEdgeClient({ url, token, fetch: send, ...options }), seen };
}

async function failureOf(promise: Promise<unknown>): Promise<PoolError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PoolError);
  return error as PoolError;
}

const bootstrap = {
  employerId: '7c9b3f4e-6a53-4b8c-9f0e-2d1c4b5a6978',
  employerAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  chain: 'anvil',
  chains: {},
  maxRecipients: { anvil: 64 },
};

const word = parseHex32(`0x${'ab'.repeat(32)}`);
const encryptionPublicKey = parseEncryptionPublicKey(word);
const batch: SettlementRequest['batch'] = {
  funder: bootstrap.employerAddress,
  token: bootstrap.employerAddress,
  total: '1',
  batchNonce: word,
  eligibilityRoot: word,
  batchRoot: word,
  commitments: [word],
  sealedNotesHash: word,
  digest: word,
  deadline: 1,
};
const sealedNotes: SettlementRequest['sealedNotes'] = [
  { encryptionPublicKey, sealed: `0x${'00'.repeat(209)}` },
];
const request: SettlementRequest = {
  chain: 'anvil',
  batch,
  proof: {
    a: [word, word],
    b: [
      [word, word],
      [word, word],
    ],
    c: [word, word],
  },
  funderSignature: `0x${'00'.repeat(65)}`,
  sealedNotes,
};
const settlement = { key: 'k', state: 'reverted', chain: 'anvil', batch, sealedNotes };

describe('calls to the platform', () => {
  it('sends the bearer token and parses the answer', async () => {
    const { client, seen } = clientOf(() => Response.json(bootstrap));
    expect(await client.bootstrap()).toEqual(bootstrap);
    expect(seen[0]?.url).toBe(`${url}/bootstrap`);
    expect(new Headers(seen[0]?.init.headers).get('authorization')).toBe('Bearer pool_edge_test');
    expect(seen[0]?.init.redirect).toBe('manual');
  });

  it('keeps the platform’s own code, status and a cleaned message', async () => {
    const body = {
      code: 'idempotency_conflict',
      message: `other\u001b[31m body\n${'x'.repeat(999)}`,
    };
    const { client } = clientOf(() => Response.json(body, { status: 409 }));
    const error = await failureOf(client.bootstrap());
    expect([error.code, error.status, error.retryable]).toEqual([
      'idempotency_conflict',
      409,
      false,
    ]);
    expect(error.message).toMatch(/^other \[31m body x+\.\.\.$/);
    expect(error.message.length).toBeLessThan(310);
  });

  it('refuses an answer of another shape and names path and kind, but no value', async () => {
    const { client } = clientOf(() => Response.json({ ...bootstrap, chain: 'CANARY VALUE' }));
    const error = await failureOf(client.bootstrap());
    expect([error.code, error.status]).toEqual(['platform_invalid_response', 503]);
    expect(error.message).toContain('chain: has the wrong form');
    expect(error.message).not.toContain('CANARY');
  });

  it.each([
    ['a redirect', () => new Response('', { status: 307, headers: { location: 'https://evil/' } })],
    ['text that is not JSON', () => new Response('<html>', { status: 200 })],
    ['an error without code', () => Response.json({ error: 'nope' }, { status: 404 })],
    ['an answer above the cap', () => new Response(new Uint8Array(5 * 1024 * 1024))],
  ])('refuses %s', async (_name, answer) => {
    const { client } = clientOf(answer);
    const error = await failureOf(client.getSettlement('k'));
    expect(error.code).toBe('platform_invalid_response');
    expect(error.retryable).toBe(false);
  });

  it.each([
    ['a refused connection', () => Promise.reject(new TypeError('fetch failed'))],
    ['a proxy’s error page', () => new Response('<html>bad gateway', { status: 502 })],
  ])('reports %s as unreachable and retryable', async (_name, answer) => {
    const { client } = clientOf(answer);
    const error = await failureOf(client.bootstrap());
    expect([error.code, error.status, error.retryable]).toEqual([
      'platform_unreachable',
      503,
      true,
    ]);
  });

  it('fails after the time limit', async () => {
    const send: Fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const client = createEdgeClient({ url, token, fetch: send, timeoutMs: 20 });
    const error = await failureOf(client.bootstrap());
    expect(error.code).toBe('platform_unreachable');
    expect(error.message).toContain('20 ms');
  });

  it('returns undefined only if the platform says that the settlement does not exist', async () => {
    const missing = clientOf(() =>
      Response.json({ code: 'settlement_not_found', message: 'none' }, { status: 404 }),
    );
    expect(await missing.client.getSettlement('a/b?c')).toBeUndefined();
    expect(missing.seen[0]?.url).toBe(`${url}/settlements/a%2Fb%3Fc`);
    const routeless = clientOf(() =>
      Response.json({ code: 'not_found', message: 'no such route' }, { status: 404 }),
    );
    expect((await failureOf(routeless.client.getSettlement('k'))).code).toBe('not_found');
  });

  it('sends a key in its quoted form', async () => {
    const { client, seen } = clientOf(() => Response.json(settlement));
    await client.postSettlement(String.raw`"a"\b`, request);
    expect(new Headers(seen[0]?.init.headers).get('idempotency-key')).toBe(String.raw`"\"a\"\\b"`);
    expect((await failureOf(client.postSettlement('a\nb', request))).code).toBe('invalid_request');
    expect(seen).toHaveLength(1);
  });

  it('sends a withdrawal and passes on that there is no such settlement', async () => {
    const withdrawal = {
      chain: 'anvil',
      funder: settlement.batch.funder,
      batchNonce: settlement.batch.batchNonce,
      signature: `0x${'11'.repeat(65)}`,
    };
    const { client, seen } = clientOf(() => Response.json(settlement));
    expect(await client.postVoid('a/b', withdrawal)).toEqual(settlement);
    expect(seen[0]?.url).toBe(`${url}/settlements/a%2Fb/void`);
    const { body } = seen[0]?.init ?? {};
    expect(JSON.parse(typeof body === 'string' ? body : '{}')).toEqual(withdrawal);
    const missing = clientOf(() =>
      Response.json({ code: 'not_found', message: 'none' }, { status: 404 }),
    );
    const error = await failureOf(missing.client.postVoid('k', withdrawal));
    expect([error.code, error.status, error.retryable]).toEqual(['not_found', 404, false]);
  });

  it('cleans and shortens the reason of a failed settlement', async () => {
    const error = { code: 'reverted', message: 'no\u001b[31m\r\nmoney' };
    const { client } = clientOf(() => Response.json({ ...settlement, error }));
    const cleaned = { code: 'reverted', message: 'no [31m money' };
    expect((await client.getSettlement('k'))?.error).toEqual(cleaned);
    expect((await client.postSettlement('k', request)).error).toEqual(cleaned);
    for (const bad of [
      { ...error, code: 'Not A Code' },
      { ...error, code: 'x'.repeat(65) },
      { ...error, message: 'x'.repeat(501) },
    ]) {
      const answered = clientOf(() => Response.json({ ...settlement, error: bad }));
      const failure = await failureOf(answered.client.getSettlement('k'));
      expect(failure.code).toBe('platform_invalid_response');
    }
  });

  it('refuses a look-up with answers for other addresses than requested', async () => {
    const record = { address: '0x00000000000000000000000000000000000000aa', readiness: 'ready' };
    const { client } = clientOf(() => Response.json({ recipients: [record] }));
    const error = await failureOf(
      client.lookupRecipients('anvil', ['0x00000000000000000000000000000000000000bb']),
    );
    expect(error.code).toBe('platform_invalid_response');
  });
});
