import { WriteStream } from 'node:tty';
import { afterEach, expect, it, vi } from 'vitest';
import { createPaint } from './paint.ts';

/** What Node.js reads besides TERM to count a terminal's colours. */
const readByNode = [
  'NO_COLOR',
  'NODE_DISABLE_COLORS',
  'FORCE_COLOR',
  'CI',
  'TMUX',
  'COLORTERM',
  'GITHUB_ACTIONS',
];

afterEach(() => vi.unstubAllEnvs());

/** A terminal with colours, or what a pipe looks like. */
function createStream(isTTY: boolean): NodeJS.WriteStream {
  const stream = Object.create(WriteStream.prototype, { isTTY: { value: isTTY } });
  return stream as NodeJS.WriteStream;
}

it.each([
  { isTTY: true, env: {}, isColoured: true },
  { isTTY: false, env: {}, isColoured: false },
  { isTTY: true, env: { NO_COLOR: '1' }, isColoured: false },
  { isTTY: false, env: { FORCE_COLOR: '1' }, isColoured: true },
  { isTTY: true, env: { CI: 'true' }, isColoured: false },
])('colours $isColoured where a terminal is $isTTY, with $env', ({ isTTY, env, isColoured }) => {
  for (const name of readByNode) {
    vi.stubEnv(name, undefined);
  }
  for (const [name, value] of Object.entries({ TERM: 'xterm-256color', ...env })) {
    vi.stubEnv(name, value);
  }
  const painted = createPaint(createStream(isTTY))('red', 'text');
  expect(painted).toBe(isColoured ? '\u001b[31mtext\u001b[39m' : 'text');
});
