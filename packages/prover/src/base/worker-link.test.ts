import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { LinkRequest } from '../../test/link-worker.ts';
import { createWorkerLink, type WorkerLink } from './worker-link.ts';

const links: WorkerLink<LinkRequest, string>[] = [];
function createLink() {
  const link = createWorkerLink<LinkRequest, string>(
    new URL('../../test/link-worker.ts', import.meta.url),
  );
  links.push(link);
  return link;
}
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
});

it.each(['exit when idle', 'throw when idle'] as const)(
  'a thread that ends by "%s" fails no call, and another one takes the next call',
  async (end) => {
    const link = createLink();
    expect(await link.call(end)).toBe(end);
    await sleep(300);
    expect(await link.call('answer', AbortSignal.timeout(10_000))).toBe('answer');
  },
);

it.each(['exit when idle', 'throw when idle'] as const)(
  'an answer counts that is read only after its thread has ended by "%s"',
  async (end) => {
    const link = createLink();
    expect(await link.call('answer')).toBe('answer');
    const call = link.call(end);
    await sleep(0);
    // Nothing is read while this thread sleeps: the answer and the end wait together.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(await call).toBe(end);
  },
);

it('a thread that dies fails its call with a retryable error, and the next call is answered', async () => {
  const link = createLink();
  await expect(link.call('exit')).rejects.toMatchObject({ code: 'proof_failed', retryable: true });
  expect(await link.call('answer')).toBe('answer');
});

it('an abort ends a waiting call immediately and does not affect the others', async () => {
  const link = createLink();
  const first = new AbortController();
  const second = new AbortController();
  const waits = link.call('wait', first.signal);
  const queued = link.call('answer', second.signal);
  const last = link.call('answer');
  second.abort(new Error('second'));
  await expect(queued).rejects.toThrow('second');
  first.abort(new Error('first'));
  await expect(waits).rejects.toThrow('first');
  expect(await last).toBe('answer');
});

it('a thread whose file is missing fails its call, and the error names the file', async () => {
  const link = createWorkerLink<string, string>(new URL('./no-such-worker.ts', import.meta.url));
  for (const expected of [/no-such-worker\.ts of /, /worker-src/]) {
    await expect(link.call('answer')).rejects.toMatchObject({
      code: 'thread_file_missing',
      retryable: false,
      message: expect.stringMatching(expected),
    });
  }
  await link.close();
});

it('close fails running and waiting calls, and can be called twice', async () => {
  const link = createLink();
  const calls = [link.call('wait'), link.call('answer')];
  const outcomes = Promise.allSettled(calls);
  await Promise.all([link.close(), link.close()]);
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'prover_closed' } });
  }
  await expect(link.call('answer')).rejects.toMatchObject({ code: 'prover_closed' });
});

it('a thread that was started ahead answers, and its failure is told by the next call only', async () => {
  let started = 0;
  const count = () => {
    started += 1;
  };
  process.on('worker', count);
  onTestFinished(() => {
    process.off('worker', count);
  });
  const link = createLink();
  link.start();
  link.start();
  await sleep(0);
  expect(started).toBe(1);
  expect(await link.call('answer')).toBe('answer');
  await link.close();
  link.start();
  await sleep(0);
  expect(started).toBe(1);
  await expect(link.call('answer')).rejects.toMatchObject({ code: 'prover_closed' });

  const missing = createWorkerLink<LinkRequest, string>(new URL('missing.js', import.meta.url));
  missing.start();
  await expect(missing.call('answer')).rejects.toMatchObject({ code: 'thread_file_missing' });
  await missing.close();
});
