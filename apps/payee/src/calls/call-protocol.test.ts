// Calls over a real message channel: values, errors, progress, transfers, and a worker that ends or dies.
import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import type { Progress } from '../wallet-port.ts';
import { type Call, type CallHandlers, createCaller, serveCalls } from './call-protocol.ts';

type TestCalls = {
  readonly add: Call<readonly [number, bigint], bigint>;
  readonly fail: Call<'known' | 'unknown', never>;
  readonly work: Call<undefined, string>;
  readonly size: Call<Uint8Array, number>;
  readonly wait: Call<undefined, never>;
  readonly locked: Call<undefined, never>;
};

const handlers: CallHandlers<TestCalls> = {
  add: async ([a, b]) => BigInt(a) + b,
  async fail(kind) {
    if (kind === 'unknown') throw new TypeError('abandon ability able');
    throw new PoolError('platform_unreachable', 'no answer', { details: { seconds: 3 } });
  },
  async work(_, onProgress) {
    onProgress({ stage: 'proving', fraction: 0.5 });
    onProgress({ stage: 'settling' });
    return 'done';
  },
  size: async (bytes) => bytes.length,
  wait: () => new Promise(() => undefined),
  locked() {
    throw new PoolError('stopping', 'it is locked');
  },
};

function open() {
  let started = 0;
  let die = (): void => undefined;
  const caller = createCaller<TestCalls>(() => {
    started += 1;
    const { port1, port2 } = new MessageChannel();
    serveCalls<TestCalls>(port2, handlers);
    port1.start();
    port2.start();
    const window = new EventTarget();
    port1.addEventListener('message', ({ data }) => {
      window.dispatchEvent(new MessageEvent('message', { data }));
    });
    die = () => void window.dispatchEvent(new Event('error'));
    return {
      postMessage: (message, transfer) => port1.postMessage(message, transfer),
      addEventListener: (type, listener) => window.addEventListener(type, listener),
      terminate: () => port1.close(),
    };
  });
  return { caller, started: () => started, die: () => die() };
}

describe('calls into a worker', () => {
  it('answer each its own call, and start one worker at the first', async () => {
    const { caller, started } = open();
    expect(started()).toBe(0);
    const sums = [1, 2, 3].map((value) => caller.call('add', [value, 10n]));
    expect(await Promise.all(sums)).toEqual([11n, 12n, 13n]);
    expect(started()).toBe(1);
    caller.end();
  });

  it('tell progress before the answer', async () => {
    const { caller } = open();
    const told: Progress[] = [];
    const onProgress = (progress: Progress) => void told.push(progress);
    expect(await caller.call('work', undefined, { onProgress })).toBe('done');
    expect(told).toEqual([{ stage: 'proving', fraction: 0.5 }, { stage: 'settling' }]);
    caller.end();
  });

  it('fail with the code, the facts and whether a retry helps', async () => {
    const { caller } = open();
    await expect(caller.call('fail', 'known')).rejects.toMatchObject({
      ...{ name: 'PoolError', code: 'platform_unreachable', message: 'no answer' },
      ...{ retryable: true, details: { seconds: 3 } },
    });
    caller.end();
  });

  it('fail with what is thrown at once, and the worker lives on', async () => {
    const { caller, started } = open();
    await expect(caller.call('locked', undefined)).rejects.toMatchObject({ code: 'stopping' });
    expect(await caller.call('add', [1, 1n])).toBe(2n);
    expect(started()).toBe(1);
    caller.end();
  });

  it('do not carry the text of an unknown error', async () => {
    const { caller } = open();
    const failing = caller.call('fail', 'unknown');
    await expect(failing).rejects.toMatchObject({ code: 'internal_error' });
    await expect(failing).rejects.not.toThrow(/abandon/);
    caller.end();
  });

  it('leave no copy of what is given away', async () => {
    const { caller } = open();
    const secret = new Uint8Array(32).fill(7);
    expect(await caller.call('size', secret, { transfer: [secret.buffer] })).toBe(32);
    expect(secret.length).toBe(0);
    caller.end();
  });

  it('fail when the worker is ended, and start another one', async () => {
    const { caller, started } = open();
    const waiting = caller.call('wait', undefined);
    caller.end();
    await expect(waiting).rejects.toMatchObject({ code: 'stopping' });
    expect(await caller.call('add', [1, 1n])).toBe(2n);
    expect(started()).toBe(2);
    caller.end();
  });

  it('fail when the worker dies, and start another one', async () => {
    const { caller, started, die } = open();
    const waiting = caller.call('wait', undefined);
    die();
    await expect(waiting).rejects.toMatchObject({ code: 'internal_error' });
    expect(await caller.call('add', [1, 1n])).toBe(2n);
    expect(started()).toBe(2);
    caller.end();
  });
});
