// The advisory read: its results, and that none of them stops a batch.
import { parseEvmAddress } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { observeAllowance } from './preflight.ts';

const token = parseEvmAddress('0x00000000000000000000000000000000000000a1');
const funder = parseEvmAddress('0x00000000000000000000000000000000000000a2');

function look(fetchAllowance: () => Promise<bigint>) {
  return observeAllowance({ chain: { fetchAllowance }, token, funder, total: 10n });
}

describe('observeAllowance', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [11n, 'sufficient'],
    [10n, 'sufficient'],
    [9n, 'insufficient'],
    [0n, 'insufficient'],
  ])('an allowance of %s is %s for 10', async (allowance, state) => {
    expect(await look(() => Promise.resolve(allowance))).toBe(state);
  });

  it('is unknown if the chain cannot be read', async () => {
    expect(await look(() => Promise.reject(new Error('unreachable')))).toBe('unknown');
  });

  it('is unknown after three seconds of a chain that hangs, and not before', async () => {
    let state: string | undefined;
    void look(() => new Promise(() => undefined)).then((seen) => {
      state = seen;
    });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(state).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(state).toBe('unknown');
  });
});
