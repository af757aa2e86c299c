import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { removeStale } from './backup-parts.ts';

// Above the largest process id of Linux (2^22).
const gone = 99_999_999;

it('removes folders of killed commands only, never what a person keeps under a similar name', () => {
  const home = mkdtempSync(join(tmpdir(), 'pool-stale-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const kept = [
    `.backup-${process.pid}-0123abcd`,
    `.backup-${gone}-11-30.age`,
    `.backup-${gone}-copy`,
    `.backup-${gone}-0123abcd.age`,
    `.restoring-${gone}-0123abcd`,
  ];
  for (const name of [...kept, `.backup-${gone}-0123abcd`]) {
    mkdirSync(join(home, name));
  }
  removeStale(home, '.backup-');
  expect(readdirSync(home)).toEqual(kept.toSorted());
});
