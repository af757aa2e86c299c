// Whoever reaches the port of custodian B's callbacks can send some. The endpoint is a fake that waits for the test.
import { connect, type Socket } from 'node:net';
import { Secret } from '@pool/core';
import { serveHttp } from '@pool/http-server';
import { expect, it } from 'vitest';
import { createRecordedLog } from '../fixtures/gate-home.ts';
import { createApp, gateLimits } from './app.ts';

function createCallbackApp(answer: () => Promise<string>) {
  const { log } = createRecordedLog();
  const unused = (): never => {
    throw new Error('not used');
  };
  return createApp({
    log,
    allowedHosts: [],
    intake: { post: unused, read: unused },
    readWallet: unused,
    manifestToken: new Secret('a-token-of-twenty-characters'),
    metricsToken: undefined,
    health: () => ({ ok: true }) as never,
    metrics: unused,
    callbacks: { answerSignRequest: answer, answerConfigChange: answer },
    nowMs: Date.now,
  });
}

it('answers 64 callbacks at once, and health beside them', async () => {
  const done = Promise.withResolvers<string>();
  const app = createCallbackApp(() => done.promise);
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

it('answers a callback while 300 connections have sent the headers of one, and nothing more', async () => {
  const app = createCallbackApp(() => Promise.resolve('answer'));
  const server = await serveHttp((request, from) => app.fetch(request, from), {
    host: '127.0.0.1',
    port: 0,
    onRefused: () => undefined,
    limits: gateLimits,
  });
  const sockets: Socket[] = [];
  try {
    for (let index = 0; index < 300; index += 1) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /v2/tx_sign_request HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na',
      );
      sockets.push(socket);
    }
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
    );
    const post = { method: 'POST', body: 'a.b.c' };
    const response = await fetch(`${server.url}/v2/tx_sign_request`, post);
    expect([response.status, await response.text()]).toEqual([200, 'answer']);
  } finally {
    for (const socket of sockets) {
      socket.destroy();
    }
    await server.close();
  }
});
