import { expect, it } from 'vitest';
import { createProgress } from './progress.ts';

function record(isTTY: boolean, plainLines: boolean) {
  let written = '';
  let now = 0;
  const progress = createProgress({
    stream: { isTTY, write: (text) => (written += text) },
    plainLines,
    nowMs: () => now,
  });
  return {
    progress,
    wait: (ms: number) => (now += ms),
    written: () => written,
  };
}

it('rewrites the current step on a terminal', () => {
  const { progress, wait, written } = record(true, false);
  progress.step('building');
  progress.detail('half');
  wait(1_500);
  progress.step('paying');
  progress.fail();
  const clear = '\r\u001b[K';
  expect(written()).toBe(
    `… building${clear}… building: half${clear}✓ building (1.5 s)\n… paying${clear}✗ paying (0.0 s)\n`,
  );
});

it('without a terminal, writes finished steps as plain lines, or nothing', () => {
  for (const [plainLines, expected] of [
    [true, '✓ building (2.0 s)\n'],
    [false, ''],
  ] as const) {
    const { progress, wait, written } = record(false, plainLines);
    progress.step('building');
    progress.detail('half');
    wait(2_000);
    progress.done();
    progress.done();
    progress.fail();
    expect(written()).toBe(expected);
  }
});
