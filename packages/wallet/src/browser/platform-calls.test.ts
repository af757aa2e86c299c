import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import type { DeliveredNote } from '../sync/ports.ts';
import { tolerateSilence } from './platform-calls.ts';

const note = {} as DeliveredNote;

/** A visit of a browser, whose record of the platform stays. */
function visit(stored: Map<string, number>, nowMs: number) {
  const platform = { nowMs, steadyMs: 0, asked: 0, failure: undefined as PoolError | undefined };
  const heard = tolerateSilence(
    {
      async fetchPage() {
        platform.asked += 1;
        if (platform.failure !== undefined) throw platform.failure;
        return { notes: [note], cursor: '1' };
      },
    },
    {
      nowMs: () => platform.nowMs,
      steadyMs: () => platform.steadyMs,
      records: {
        find: async (name) => stored.get(name),
        change: async ([name = ''], change) => void stored.set(name, change([])[0] ?? 0),
      },
    },
  );
  return { platform, heard };
}

const silent = new PoolError('platform_unreachable', 'it is gone');

describe('tolerateSilence', () => {
  it('lists nothing while the platform is silent, says since when, and asks again after 15 seconds', async () => {
    const stored = new Map<string, number>();
    const first = visit(stored, 1_000);
    expect(await first.heard.fetchPage('USDC', undefined)).toEqual({ notes: [note], cursor: '1' });
    expect(await first.heard.silentSinceMs()).toBeUndefined();

    const { platform, heard } = visit(stored, 9_000);
    platform.failure = silent;
    const nothing = { notes: [], isOwnFile: true };
    expect(await heard.fetchPage('USDC', '1')).toEqual(nothing);
    expect(await heard.silentSinceMs()).toBe(1_000);
    platform.failure = undefined;
    platform.steadyMs = 14_999;
    expect(await heard.fetchPage('USDC', '1')).toEqual(nothing);
    expect(platform.asked).toBe(1);
    platform.steadyMs = 15_000;
    expect(await heard.fetchPage('USDC', '1')).toMatchObject({ notes: [note] });
    expect(await heard.silentSinceMs()).toBeUndefined();
    expect(stored.get('platform')).toBe(9_000);
  });

  it('says that a platform never answered here, and does not hide what a platform answers', async () => {
    const { platform, heard } = visit(new Map(), 1_000);
    platform.failure = silent;
    await heard.fetchPage('USDC', undefined);
    expect(await heard.silentSinceMs()).toBe(0);
    platform.failure = new PoolError('platform_invalid_response', 'another order');
    platform.steadyMs = 15_000;
    await expect(heard.fetchPage('USDC', undefined)).rejects.toMatchObject({
      code: 'platform_invalid_response',
    });
  });
});
