import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { joinSignals } from './worker-link.ts';

it('is aborted with the reason of the first of its sources, before or after', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const { signal, release } = joinSignals(first.signal, undefined, second.signal);
  expect(signal.aborted).toBe(false);
  second.abort('second');
  first.abort('first');
  expect([signal.aborted, signal.reason]).toEqual([true, 'second']);
  release();
  expect(joinSignals(AbortSignal.abort('before')).signal.reason).toBe('before');
});

it('leaves nothing behind in its sources', () => {
  const { signal } = new AbortController();
  const joined = joinSignals(signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  joined.release();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
