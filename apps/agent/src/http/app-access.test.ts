// Which credential opens which route, how often, and how a request is found in the log.
import { capabilities } from '@pool/api';
import { describe, expect, it } from 'vitest';
import { apiKey, createTestApp, loopbackToken } from '../fixtures/test-app.ts';

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}
const keyOf = {
  disburse: 'disburse',
  'holder.read': 'reader',
  'holder.transfer': 'transfer',
  'holder.send': 'send',
} as const;

type TestApp = ReturnType<typeof createTestApp>;
type Headers = Record<string, string>;
/** Route, how to call it, and the status for a disburse key. */
const routes: [
  string,
  (test: TestApp, headers: Headers) => Response | Promise<Response>,
  number,
][] = [
  ['POST /api/disburse', ({ post, request }, headers) => post('june', request, headers), 202],
  ['POST /api/validate', ({ validate, request }, headers) => validate(request, headers), 200],
  ['GET /api/disburse/:key', ({ get }, headers) => get('/api/disburse/none', headers), 404],
  [
    'DELETE /api/disburse/:key',
    ({ remove }, headers) => remove('/api/disburse/none', headers),
    404,
  ],
];

describe.each(routes)('%s', (_route, ask, allowed) => {
  it.each(capabilities)(
    'gives a %s key the access of its capability [cancel.answer, capability.one-only, capability.holder-not-disburse]',
    async (capability) => {
      const test = createTestApp();
      const answer = await ask(test, bearer(apiKey(keyOf[capability])));
      expect(answer.status).toBe(capability === 'disburse' ? allowed : 403);
      if (capability !== 'disburse') {
        expect(await answer.json()).toMatchObject({ code: 'forbidden' });
        expect(
          await test.store.get('5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01', 'june'),
        ).toBeUndefined();
      }
    },
  );

  it('refuses the disburse key of another employer [capability.foreign-employer]', async () => {
    const answer = await ask(createTestApp(), bearer(apiKey('foreign')));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'forbidden' });
  });

  it('refuses a key from the first request after its revocation on [key.revocation-next-request, capability.revoked]', async () => {
    const test = createTestApp();
    const headers = bearer(apiKey('disburse'));
    expect((await ask(test, headers)).status).toBe(allowed);
    test.keys.delete(apiKey('disburse'));
    const answer = await ask(test, headers);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: 'unauthorized' });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('counts the requests of each credential separately', async () => {
    const test = createTestApp({ rateLimit: 1 });
    const headers = bearer(loopbackToken);
    const statuses: number[] = [];
    for (const _ of [1, 2, 3]) {
      statuses.push((await ask(test, headers)).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.slice(0, 2)).not.toContain(429);
    expect((await ask(test, bearer(apiKey('disburse')))).status).not.toBe(429);
    test.clock.advanceSeconds(1);
    expect((await ask(test, headers)).status).not.toBe(429);
  });
});

it('pays once when a key is rotated and the request is sent again [disburse.key-outlives-credential]', async () => {
  const { post, get, keys, request, state } = createTestApp();
  await post('june', request, bearer(apiKey('disburse')));
  keys.delete(apiKey('disburse'));
  const again = await post('june', request, bearer(apiKey('second')));
  expect(again.status).toBe(202);
  expect(await again.json()).toMatchObject({ key: 'june', state: 'accepted' });
  expect(state.wakes).toBe(1);
  const other = { ...request, unregistered: 'skip' };
  expect((await post('june', other, bearer(apiKey('second')))).status).toBe(409);
  expect((await get('/api/disburse/june', bearer(apiKey('second')))).status).toBe(200);
});

describe('a rate limit', () => {
  it('answers 429 with Retry-After, and does not ask the platform', async () => {
    const { get, state } = createTestApp({ rateLimit: 0.25 });
    const headers = bearer(apiKey('unknown'));
    expect((await get('/api/disburse/june', headers)).status).toBe(401);
    const refused = await get('/api/disburse/june', headers);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({
      code: 'rate_limited',
      message: expect.stringContaining('4 s'),
    });
    expect(refused.headers.get('retry-after')).toBe('4');
    expect(state.verifications).toBe(1);
  });

  it('counts each invalid key separately, and none for a valid key', async () => {
    const { get, state } = createTestApp({ rateLimit: 1 });
    for (const name of ['aaa', 'aaa', 'bbb', 'ccc', 'ddd']) {
      expect((await get('/api/disburse/june', bearer(apiKey(name)))).status).toBe(401);
    }
    expect((await get('/api/disburse/june', bearer(apiKey('aaa')))).status).toBe(429);
    expect(state.verifications).toBe(5);
    expect((await get('/api/disburse/june', bearer(apiKey('disburse')))).status).toBe(404);
    expect((await get('/api/disburse/june')).status).toBe(404);
  });

  it('does not apply to routes without a credential', async () => {
    const { get } = createTestApp({ rateLimit: 1 });
    for (const _ of [1, 2, 3]) {
      expect((await get('/api/livez')).status).toBe(200);
      expect((await get('/api/readyz')).status).toBe(200);
    }
  });
});

describe('the request id', () => {
  const given = '0af76519-16cd-43dd-8448-eb211c80319c';

  it('is in every answer and in every line of its request', async () => {
    const test = createTestApp({ rateLimit: 2 });
    const { get, post, validate, request, logged } = test;
    const headers = { 'x-request-id': given };
    const answers = [
      await get('/api/livez', headers),
      await get('/api/readyz', headers),
      await get('/metrics', headers),
      await get('/api/nothing', headers),
      await get('/api/livez', { ...headers, host: 'evil.test' }),
      await post('june', request, headers),
      await post(undefined, request, headers),
      await validate('{', headers),
      await post('june', `"${'x'.repeat(4 * 1024 * 1024)}"`, headers),
      await validate(request, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 404, 403, 202, 400, 200, 413, 429,
    ]);
    for (const answer of answers) {
      expect(answer.headers.get('x-request-id')).toBe(given);
    }
    expect(logged.length).toBeGreaterThan(answers.length);
    for (const line of logged) {
      expect(JSON.parse(line)).toMatchObject({ requestId: given });
    }
  });

  it.each([
    ['text', 'canary text'],
    ['a credential', loopbackToken],
    ['an API key', apiKey('disburse')],
    ['nothing', ''],
  ])('is new if the caller sent %s', async (_what, sent) => {
    const { get, logged } = createTestApp();
    const id = (await get('/api/livez', { 'x-request-id': sent })).headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(logged.join('\n')).not.toContain(sent || 'nothing was sent');
  });
});
