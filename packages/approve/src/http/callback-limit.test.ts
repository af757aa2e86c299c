// Whoever reaches the port of custodian B's callbacks can send some. The endpoint is a fake that waits for the test.
import { Secret } from '@pool/core';
import { expect, it } from 'vitest';
import { createRecordedLog } from '../fixtures/gate-home.ts';
import { createApp } from './app.ts';

it('answers 64 callbacks at once, and health beside them', async () => {
  const { log } = createRecordedLog();
  const done = Promise.withResolvers<string>();
  const unused = (): never => {
    throw new Error('not used');
  };
  const app = createApp({
    log,
    allowedHosts: [],
    intake: { post: unused, read: unused },
    readWallet: unused,
    manifestToken: new Secret('a-token-of-twenty-characters'),
    metricsToken: undefined,
    health: () => ({ ok: true }) as never,
    metrics: unused,
    callbacks: { answerSignRequest: () => done.promise, answerConfigChange: () => done.promise },
    nowMs: Date.now,
  });
  const send = async (): Promise<number> => {
    const url = 'http://127.0.0.1/v2/tx_sign_request';
    return (await app.request(url, { method: 'POST', body: 'a.b.c' })).status;
  };
  const first = Array.from({ length: 64 }, send);
  await expect.poll(send).toBe(429);
  expect((await app.request('http://127.0.0.1/healthz')).status).toBe(200);
  done.resolve('answer');
  expect(new Set(await Promise.all(first))).toEqual(new Set([200]));
  expect(await send()).toBe(200);
});
