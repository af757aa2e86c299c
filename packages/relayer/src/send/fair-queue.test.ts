/** Which rows a pass includes, and how long a failed row waits. */
import { describe, expect, it } from 'vitest';
import { createFairQueue, type QueuedRow, rowsPerPass, runBounded } from './fair-queue.ts';

function rowsOf(owner: string, from: number, count: number): QueuedRow[] {
  return Array.from({ length: count }, (_, index) => ({ id: from + index, owner }));
}

describe('createFairQueue', () => {
  it('gives employers turns, with a few rows of each', () => {
    const queue = createFairQueue(() => 0);
    const chosen = queue.choose([...rowsOf('a', 1, 1_000), ...rowsOf('b', 2_001, 2)]);
    expect(chosen.slice(0, 5).map(({ owner }) => owner)).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(chosen).toHaveLength(rowsPerPass + 2);
  });

  it('reaches every row in turn', () => {
    const queue = createFairQueue(() => 0);
    const rows = rowsOf('a', 1, 40);
    const seen = new Set<number>();
    for (let pass = 0; pass < 3; pass += 1) {
      for (const row of queue.choose(rows)) {
        seen.add(row.id);
        queue.note(row, 'done');
      }
    }
    expect(seen.size).toBe(40);
  });

  it('makes a row that fails wait longer each time, at most five minutes', () => {
    let nowMs = 0;
    const queue = createFairQueue(() => nowMs);
    const [row] = rowsOf('a', 1, 1);
    if (row === undefined) throw new Error('no row');
    let waitedMs = 0;
    for (let failures = 1; failures < 15; failures += 1) {
      queue.note(row, 'refused');
      const from = nowMs;
      while (queue.choose([row]).length === 0) nowMs += 500;
      expect(nowMs - from).toBeGreaterThanOrEqual(waitedMs);
      waitedMs = nowMs - from;
    }
    expect(waitedMs).toBe(300_000);
    queue.note(row, 'done');
    expect(queue.choose([row])).toHaveLength(1);
  });

  it('holds back one employer whose calls fail, for half a minute at most, and no other', () => {
    let nowMs = 0;
    const queue = createFairQueue(() => nowMs);
    const rows = [...rowsOf('a', 1, 20), ...rowsOf('b', 21, 1)];
    for (const row of rows.slice(0, 15)) {
      queue.note(row, 'failed');
    }
    expect([queue.isPaused('a'), queue.isPaused('b')]).toEqual([true, false]);
    expect(queue.choose(rows).map(({ owner }) => owner)).toEqual(['b']);
    nowMs += 30_000;
    expect(queue.choose(rows).some(({ owner }) => owner === 'a')).toBe(true);
  });

  it('makes no row wait after the clock was set back', () => {
    let nowMs = 10_000_000;
    const queue = createFairQueue(() => nowMs);
    const rows = rowsOf('a', 1, 1);
    for (const row of rows) queue.note(row, 'failed');
    nowMs = 0;
    expect(queue.choose(rows)).toHaveLength(1);
  });
});

describe('runBounded', () => {
  it('runs a few items at once, fewer per owner, and finally all items', async () => {
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    let all = 0;
    let mostOfAll = 0;
    const done: number[] = [];
    const items = [...rowsOf('a', 1, 9), ...rowsOf('b', 10, 3), ...rowsOf('c', 13, 3)];
    await runBounded(
      items,
      { parallel: 5, perOwner: 2 },
      ({ owner }) => owner,
      async ({ id, owner }) => {
        const own = (running.get(owner) ?? 0) + 1;
        running.set(owner, own);
        all += 1;
        most.set(owner, Math.max(most.get(owner) ?? 0, own));
        mostOfAll = Math.max(mostOfAll, all);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running.set(owner, (running.get(owner) ?? 1) - 1);
        all -= 1;
        done.push(id);
      },
    );
    expect(done.toSorted((a, b) => a - b)).toEqual(items.map(({ id }) => id));
    expect([...most.values()].every((count) => count <= 2)).toBe(true);
    expect(mostOfAll).toBeLessThanOrEqual(5);
    expect(mostOfAll).toBeGreaterThan(2);
  });
});
