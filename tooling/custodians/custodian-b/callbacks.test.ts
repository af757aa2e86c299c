import { importSPKI, jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { createExample } from './example.ts';
import type { FaultInput } from './faults.ts';
import type { Reply } from './fixtures/fake-handler.ts';
import { type Json, startWorld, vectors, type World } from './fixtures/world.ts';

const digest = vectors.typedMessage.digest.slice(2);

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start(
  reply: (payload: Json, count: number) => Reply,
  config: Parameters<typeof startWorld>[0] = {},
): Promise<World> {
  world = await startWorld({ ...config, reply });
  return world;
}

/** Polls every 2 ms. */
function soon<T>(read: () => T) {
  return expect.poll(read, { interval: 2 });
}

function approve(): Reply {
  return { action: 'APPROVE' };
}

/** Runs one transaction with one fault. @returns what the handler received, and the last answer that the custodian read */
async function runWithFault(effect: Extract<FaultInput, { kind: 'callback' }>['effect']) {
  const { custodian, handler, create } = await start(approve);
  custodian.control.fault({ kind: 'callback', effect });
  const id = await create();
  await soon(() => custodian.control.callbacks()[0]?.answer).toBeDefined();
  return { id, payload: handler?.received[0]?.payload, record: custodian.control.callbacks()[0] };
}

describe('answers of the handler', () => {
  it.each(['approval', 'signing'] as const)('REJECT at the %s stage is final', async (stage) => {
    const rejecting = stage === 'approval' ? 1 : 2;
    const { create, readUntil, handler } = await start((_, count) => ({
      action: count === rejecting ? 'REJECT' : 'APPROVE',
      rejectionReason: 'no manifest',
    }));
    const body = await readUntil(await create(), 'REJECTED');
    expect(body).toMatchObject({ subStatus: 'REJECTED_BY_USER', rejectedBy: 'signer-api-key' });
    expect(body).not.toHaveProperty('signedMessages');
    expect(handler?.received).toHaveLength(rejecting);
  });

  it('RETRY asks again with the same payload, 20 times', async () => {
    const { create, readUntil, handler, custodian } = await start(() => ({ action: 'RETRY' }), {
      config: { timeScale: 1e9 },
    });
    const body = await readUntil(await create(), 'FAILED');
    expect(body).toMatchObject({ subStatus: 'TIMEOUT' });
    const payloads = custodian.control.callbacks().map(({ payload }) => JSON.stringify(payload));
    expect([payloads.length, new Set(payloads).size]).toStrictEqual([21, 1]);
    expect(handler?.received).toHaveLength(21);
  });

  it('RETRY waits 3 minutes, until a test skips the pause', async () => {
    const { create, readUntil, custodian } = await start((_, count) => ({
      action: count === 1 ? 'RETRY' : 'APPROVE',
    }));
    const id = await create();
    await soon(() => custodian.control.pendingPauses()).toBe(1);
    const { body } = (await world?.callAs('agent', `/v1/transactions/${id}`)) ?? {};
    expect(body).toMatchObject({ status: 'PENDING_AUTHORIZATION' });
    expect(custodian.control.skipPauses()).toBe(1);
    await readUntil(id, 'COMPLETED');
  });

  it('IGNORE is a violation and signs nothing', async () => {
    const { create, readUntil, custodian } = await start((_, count) => ({
      action: count === 1 ? 'IGNORE' : 'APPROVE',
    }));
    const id = await create();
    await soon(() => custodian.control.violations()).toHaveLength(1);
    await readUntil(id, 'PENDING_AUTHORIZATION');
    expect(custodian.control.callbacks()).toHaveLength(1);
  });

  it.each<[string, Reply, string]>([
    ['an answer for another request', { action: 'APPROVE', requestId: 'x' }, 'another requestId'],
    ['an unknown action', { action: 'MAYBE' }, 'lacks action'],
    ['status 500', 500, 'status 500'],
    ['no answer within the limit', 'hang', 'did not answer'],
  ])('%s fails the transaction', async (_, reply, problem) => {
    const { create, readUntil, custodian } = await start(() => reply, {
      config: { callbackLimitMs: reply === 'hang' ? 60 : 30_000 },
    });
    const body = await readUntil(await create(), 'FAILED');
    expect(body).toMatchObject({ subStatus: 'AUTHORIZATION_FAILED' });
    expect(custodian.control.violations()[0]?.problem).toContain(problem);
  });

  it('asks again when no answer counts as RETRY', async () => {
    const { create, readUntil } = await start(
      (_, count) => (count === 1 ? 503 : { action: 'APPROVE' }),
      { config: { onNoAnswer: 'retry', timeScale: 1e9 } },
    );
    await readUntil(await create(), 'COMPLETED');
  });

  it('refuses an answer that another key signed', async () => {
    const example = createExample();
    const { create, readUntil, custodian, handler } = await start(approve);
    const url = handler?.url ?? '';
    custodian.control.setCallback({ url, publicKey: example.cosignerPublicKey });
    await readUntil(await create(), 'FAILED');
    expect(custodian.control.violations()[0]?.problem).toBe('the answer is no JWT of the handler');
  });

  it.each(vectors.answers)('accepts $payload.action of the vectors', async ({ jwt, payload }) => {
    const { custodian } = await start(() => ({ body: jwt }));
    const { action, requestId, rejectionReason } = payload;
    const answer = await custodian.control.sendCallback({ requestId });
    expect(answer).toStrictEqual({ action, rejectionReason });
  });

  it('accepts no token inside a JSON string', async () => {
    const [vector] = vectors.answers;
    const { custodian } = await start(() => ({ body: JSON.stringify(vector?.jwt) }));
    const { requestId } = vector?.payload ?? {};
    expect((await custodian.control.sendCallback({ requestId })).action).toBe('NONE');
  });
});

describe('the vectors', () => {
  it('are signed with the keys that they name', async () => {
    const key = await importSPKI(createExample().cosignerPublicKey, 'RS256');
    for (const { jwt, payload } of vectors.callbacks) {
      expect((await jwtVerify(jwt, key)).payload).toStrictEqual(payload);
    }
  });
});

describe('stages', () => {
  it('asks only at the stages of the configuration', async () => {
    const { create, readUntil, handler } = await start(approve, {
      config: { stages: ['signing'] },
    });
    await readUntil(await create(), 'COMPLETED');
    expect(handler?.received.map(({ payload }) => 'fee' in payload)).toStrictEqual([true]);
  });

  it('gives each stage an id of its own where the configuration says so', async () => {
    const { create, readUntil, handler } = await start(approve, {
      config: { requestIds: 'stage' },
    });
    const id = await create();
    await readUntil(id, 'COMPLETED');
    const ids = handler?.received.map(({ payload }) => payload['requestId']) ?? [];
    expect(new Set([...ids, id]).size).toBe(3);
  });

  it.each([
    ['always', [true, true]],
    ['never', [false, false]],
  ] as const)('carries rawTx %s', async (rawTx, expected) => {
    const { create, readUntil, handler } = await start(approve, { config: { rawTx } });
    await readUntil(await create(), 'COMPLETED');
    expect(handler?.received.map(({ payload }) => 'rawTx' in payload)).toStrictEqual(expected);
  });
});

describe('wrong callbacks', () => {
  it.each([
    ['raw-only', false, [digest]],
    ['id-only', true, undefined],
    ['neither', false, undefined],
    ['disagree', true, [expect.not.stringMatching(digest) as string]],
    ['second-raw', true, [digest, expect.not.stringMatching(digest) as string]],
  ] as const)('%s', async (effect, hasId, payloads) => {
    const { id, payload } = await runWithFault(effect);
    const raw = payload?.['rawTx'] as { payload: string }[] | undefined;
    expect(payload?.['txId']).toBe(hasId ? id : undefined);
    expect(raw?.map((one) => one.payload)).toStrictEqual(payloads);
    expect(payload?.['requestId']).toBe(id);
  });

  it('foreign-signer names another user', async () => {
    const { payload } = await runWithFault('foreign-signer');
    expect(payload?.['signerId']).not.toBe('signer-api-key');
  });

  it.each(['foreign-key', 'unsigned'] as const)('%s does not verify', async (effect) => {
    const { payload, record } = await runWithFault(effect);
    expect([payload, record?.status]).toStrictEqual([undefined, 401]);
  });

  it('duplicate asks twice, and reports two different answers', async () => {
    const { create, custodian } = await start((_, count) => ({
      action: count === 1 ? 'APPROVE' : 'REJECT',
    }));
    custodian.control.fault({ kind: 'callback', effect: 'duplicate' });
    await create();
    await soon(() => custodian.control.violations()).toHaveLength(1);
    const [first, second] = custodian.control.callbacks();
    expect(first?.payload).toStrictEqual(second?.payload);
  });

  it('replays the bytes of an old callback', async () => {
    const { create, readUntil, custodian } = await start(approve);
    await readUntil(await create(), 'COMPLETED');
    const answer = await custodian.control.replayCallback(0);
    expect(answer.action).toBe('APPROVE');
    const jwts = custodian.control.callbacks().map(({ jwt }) => jwt);
    expect(jwts[2]).toBe(jwts[0]);
  });

  it('carries no times, past times and future times in turn', async () => {
    const { create, readUntil, handler } = await start(approve);
    await readUntil(await create(), 'COMPLETED');
    await readUntil(await create('p1-2'), 'COMPLETED');
    expect(handler?.received.slice(0, 3).map(({ payload }) => payload['iat'])).toStrictEqual([
      undefined,
      1_500_000_000,
      4_000_000_000,
    ]);
  });
});

describe('changes of the workspace', () => {
  it('asks the handler with the documented fields', async () => {
    const { custodian, handler } = await start(() => ({ action: 'REJECT' }));
    const answer = await custodian.control.sendConfigChange('POLICY_APPROVAL', {});
    expect(answer.action).toBe('REJECT');
    const { payload } = vectors.callbacks[4] ?? {};
    const requestId = expect.any(String) as string;
    expect(handler?.received).toStrictEqual([
      { path: '/v2/config_change_sign_request', payload: { ...payload, requestId } },
    ]);
  });
});
