// Logs of a process whose disk is full: Linux's /dev/full takes no byte.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const fullDisk = '/dev/full';

describe('a log on a full disk', () => {
  it.each(['createLog("info", "test")', 'createRedactedLog("info")'])(
    'does not fail the work that it tells of: %s',
    (call) => {
      const result = runOnFullDisk(`
        const log = ${call};
        log.info('one');
        await new Promise((resolve) => setTimeout(resolve, 1));
        log.info('two');
        console.log('done');`);
      expect(result).toEqual({ status: 0, stdout: 'done\n' });
    },
  );

  it('keeps the oldest lines, and says how many were lost once there is room', () => {
    const directory = mkdtempSync(join(tmpdir(), 'log-'));
    const path = join(directory, 'log');
    // The descriptor that is free is used next, so the log writes to the file from then on.
    const { status } = runOnFullDisk(`
      import { closeSync, openSync } from 'node:fs';
      const log = createLog('info', 'test');
      const writeLine = () => log.info({ filler: 'x'.repeat(1_000) }, 'line');
      for (let line = 0; line < 1_500; line += 1) writeLine();
      closeSync(2);
      openSync('${path}', 'w');
      writeLine();
      await new Promise((resolve) => setTimeout(resolve, 1));
      log.info('after');`);
    const written = readFileSync(path, 'utf8').trimEnd().split('\n').map(parseLine);
    rmSync(directory, { recursive: true });
    expect(status).toBe(0);
    const kept = written.filter(({ msg }) => msg === 'line').length;
    expect(kept).toBeGreaterThan(800);
    expect(written.slice(kept)).toMatchObject([
      { level: 40, lines: 1_501 - kept, msg: expect.stringContaining('lost') },
      { msg: 'after' },
    ]);
  });
});

function parseLine(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

function runOnFullDisk(program: string) {
  const stderr = openSync(fullDisk, 'w');
  const imported = `import { createLog, createRedactedLog } from '${import.meta.dirname}/log.ts';`;
  const options = ['--conditions=@pool/source', '--input-type=module', '--eval'];
  const { status, stdout } = spawnSync(process.execPath, [...options, imported + program], {
    stdio: ['ignore', 'pipe', stderr],
    encoding: 'utf8',
  });
  closeSync(stderr);
  return { status, stdout };
}
