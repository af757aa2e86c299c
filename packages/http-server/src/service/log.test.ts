// Logs of a process whose disk is full: Linux's /dev/full takes no byte.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const fullDisk = '/dev/full';

describe.skipIf(!existsSync(fullDisk))('a log on a full disk', () => {
  it.each(['createLog("info", "test")', 'createRedactedLog("info")'])(
    'does not fail the work that it tells of: %s',
    (call) => {
      const program = `
        import { createLog, createRedactedLog } from '${import.meta.dirname}/log.ts';
        const log = ${call};
        log.info('one');
        await new Promise((resolve) => setTimeout(resolve, 1));
        log.info('two');
        console.log('done');`;
      const stderr = openSync(fullDisk, 'w');
      const options = ['--conditions=@pool/source', '--input-type=module', '--eval', program];
      const { status, stdout } = spawnSync(process.execPath, options, {
        stdio: ['ignore', 'pipe', stderr],
        encoding: 'utf8',
      });
      closeSync(stderr);
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'done\n' });
    },
  );
});
