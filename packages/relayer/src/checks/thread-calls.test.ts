import { threadId } from 'node:worker_threads';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OddRequest } from '../../test/odd-thread.ts';
import { createThreadCalls, type ThreadCalls } from './thread-calls.ts';

describe('calls into a thread', () => {
  let thread: ThreadCalls<OddRequest, number>;
  function open(timeoutMs = 30_000): void {
    thread = createThreadCalls(new URL('../../test/odd-thread.ts', import.meta.url), timeoutMs);
  }
  afterEach(() => thread.close());

  it('run in one thread, which stays for the next call', async () => {
    open();
    const first = await thread.call('answer');
    expect(first).not.toBe(threadId);
    expect(await Promise.all([thread.call('answer'), thread.call('answer')])).toEqual([
      first,
      first,
    ]);
  });

  it('do not see the environment', async () => {
    open();
    expect(await thread.call('environment')).toBe(0);
  });

  it.each([
    ['throw', 'it failed'],
    ['die', 'the thread ended with code 7'],
  ] as const)(
    'that %s fail alone, and another thread runs the next call',
    async (kind, message) => {
      open();
      const before = await thread.call('answer');
      const bad = thread.call(kind);
      const next = thread.call('answer');
      await expect(bad).rejects.toThrow(message);
      expect(await next).toBeGreaterThan(before);
    },
  );

  it('that never end fail after the time limit', async () => {
    open(30_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const late = expect(thread.call('hang')).rejects.toThrow('the thread took too long');
    await vi.advanceTimersByTimeAsync(30_000);
    await late;
    vi.useRealTimers();
    expect(await thread.call('answer')).toBeGreaterThan(0);
  });

  it('fail when the thread is closed, running or waiting', async () => {
    open();
    await thread.call('answer');
    const [running, waiting] = [thread.call('hang'), thread.call('answer')];
    running.catch(() => undefined);
    waiting.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await thread.close();
    await expect(running).rejects.toThrow('the thread ended');
    await expect(waiting).rejects.toThrow('the thread is closed');
    await expect(thread.call('answer')).rejects.toThrow('the thread is closed');
  });
});
