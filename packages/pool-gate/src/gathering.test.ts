// Which wallets share a root: decided by arrivals between pauses. The pauses and the clock are the test's.
import { describe, expect, it } from 'vitest';
import { createGathering } from './gathering.ts';

describe('gathering', () => {
  function start() {
    const pauses: (() => void)[] = [];
    const clock = { nowMs: 0 };
    const gathering = createGathering(
      () => new Promise<void>((resolve) => pauses.push(resolve)),
      () => clock.nowMs,
    );
    const endPause = async (): Promise<void> => {
      pauses.at(-1)?.();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { gathering, pauses, clock, endPause };
  }

  it('ends after one pause in which no wallet arrived', async () => {
    const { gathering, pauses, endPause } = start();
    gathering.join();
    const quiet = gathering.untilQuiet();
    await endPause();
    await quiet;
    expect(pauses).toHaveLength(1);
  });

  it('pauses again after each arrival, and includes every wallet until it ends', async () => {
    const { gathering, pauses, endPause } = start();
    expect(gathering.join()).toBe(false);
    const quiet = gathering.untilQuiet();
    expect(gathering.join()).toBe(true);
    await endPause();
    expect(gathering.join()).toBe(true);
    await endPause();
    await endPause();
    await quiet;
    expect(pauses).toHaveLength(3);
    expect(gathering.join()).toBe(false);
  });

  it('ends after two seconds although wallets keep arriving', async () => {
    const { gathering, pauses, clock, endPause } = start();
    const quiet = gathering.untilQuiet();
    for (const nowMs of [1_000, 1_999, 2_000]) {
      gathering.join();
      clock.nowMs = nowMs;
      await endPause();
    }
    await quiet;
    expect(pauses).toHaveLength(3);
  });
});
