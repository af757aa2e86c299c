import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { createTestClock } from './shifted-clock.ts';

it('sets the clock of a running process', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-clock-'));
  const clock = createTestClock(join(directory, 'clock'));
  const program = `setInterval(() => {
    const fresh = new Date();
    console.log(Date.now(), Date.parse(Date()), fresh.getTime(), fresh instanceof Date, new Date(7).getTime());
  }, 20)`;
  const child = spawn(process.execPath, ['--eval', program], {
    env: clock.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    for (const minutes of [0, 10, -10]) {
      clock.shift(minutes);
      const seen = await new Promise<string>((resolve) => {
        lines.on('line', (line) => {
          const times = line.split(' ').slice(0, 3).map(Number);
          if (times.every((time) => Math.abs(time - Date.now() - minutes * 60_000) < 30_000)) {
            resolve(line);
          }
        });
      });
      expect(seen).toMatch(/ true 7$/);
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(directory, { recursive: true });
  }
});
