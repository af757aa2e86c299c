/**
 * Checks of this machine for `doctor`: permissions of files, free disk space, and the clock against the newest block.
 *
 * @module
 */
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** One line of the report. It contains no secret. */
export type Diagnosis = {
  /** Stable name, for scripts. */
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** What to do. Absent: nothing. */
  readonly advice?: string;
};

/** Files with secrets or salaries, in the agent directory. */
const privateFiles = ['', 'loopback.token', 'fingerprint.key', 'agent.env', 'viewing.key'];

/** Whether other users can read what only this one may. On Windows access lists decide, and modes do not show them. */
export function checkPermissions(
  home: string,
  configFile: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Diagnosis {
  const name = 'permissions';
  if (platform === 'win32') {
    return { name, level: 'ok', found: 'not checked on Windows, where access lists decide' };
  }
  const paths = [
    ...privateFiles.map((file) => join(home, file)),
    ...(configFile ? [configFile] : []),
  ];
  const open = [...new Set(paths)].filter((path) => (readMode(path) & 0o077) !== 0);
  return open.length === 0
    ? { name, level: 'ok', found: `only this user reads ${home} and the configuration file` }
    : {
        name,
        level: 'warning',
        found: `other users may open ${open.join(', ')}`,
        advice: `run: chmod go-rwx ${open.join(' ')}`,
      };
}

function readMode(path: string): number {
  try {
    return statSync(path).mode;
  } catch {
    return 0;
  }
}

const mebibyte = 1024 * 1024;

/** @param freeBytes - of the disk of the agent directory, for this user */
export function checkDisk(home: string, freeBytes: number): Diagnosis {
  const found = `${Math.floor(freeBytes / mebibyte)} MiB are free for ${home}`;
  const advice = 'free disk space: an agent that cannot write its jobs accepts none';
  if (freeBytes < 100 * mebibyte) {
    return { name: 'disk', level: 'problem', found, advice };
  }
  return freeBytes < 1024 * mebibyte
    ? { name: 'disk', level: 'warning', found, advice }
    : { name: 'disk', level: 'ok', found };
}

/** Undefined: the directory does not exist yet. */
export function readFreeBytes(home: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(home);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * Deadlines and evidence are judged by this machine's clock, and by the time of blocks.
 * @param blockSeconds - time of the newest block, Unix seconds
 */
export function checkClock(chain: string, blockSeconds: number, nowMs: number): Diagnosis {
  const name = `clock.${chain}`;
  const behind = Math.round(nowMs / 1_000 - blockSeconds);
  if (behind < -15) {
    return {
      name,
      level: 'problem',
      found: `the newest block of ${chain} is ${-behind} s ahead of this machine's clock`,
      advice: 'set the clock of this machine, for example with NTP',
    };
  }
  const found = `the newest block of ${chain} is ${Math.max(0, behind)} s old`;
  return behind > 300
    ? {
        name,
        level: 'warning',
        found,
        advice:
          'compare the clock of this machine with another one, and the node with a block explorer',
      }
    : { name, level: 'ok', found };
}
