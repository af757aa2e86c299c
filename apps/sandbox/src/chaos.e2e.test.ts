// A short chaos run; `pnpm chaos --minutes 10` is a long one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNodeProcess } from '@pool/testkit';
import { expect, it } from 'vitest';
import type { ChaosReport } from './fixtures/chaos/chaos.ts';

/** Its faults in these seconds are of many kinds. */
const seed = '561854';

it('pays everybody once while processes are killed and the world around them fails', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-chaos-test-'));
  try {
    // A process of its own: it unmounts its disks and ends what it started also if this one is ended.
    const run = startNodeProcess({
      name: 'chaos',
      script: fileURLToPath(new URL('fixtures/chaos/main.ts', import.meta.url)),
      args: ['--seed', seed, '--minutes', String(22 / 60)],
      env: { POOL_TEST_PROGRAMS: process.env['POOL_TEST_PROGRAMS'] ?? '' },
      logPath: join(directory, 'chaos.log'),
    });
    const { code } = await run.exited;
    const output = run.output();
    expect(code, output).toBe(0);
    const report = JSON.parse(output.slice(output.indexOf('\n{') + 1)) as ChaosReport;
    expect(Object.keys(report.faults).length, output).toBeGreaterThan(6);
    expect(report.paid, output).toBeGreaterThan(0);
    expect(report.spends.settled, output).toBeGreaterThan(0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
