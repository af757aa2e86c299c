// The units of systemd, as systemd itself reads them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const folders = ['deploy/systemd', 'apps/approve/deploy'] as const;

/** The exposure that `systemd-analyze security` may find, in tenths: 0 is none, 100 everything. */
const exposureLimit = 20;

/** What systemd says against the units, with their names. Node may be at another place here than the units say. */
export function findUnitProblems(): readonly string[] {
  const copies = mkdtempSync(join(tmpdir(), 'pool-units-'));
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.service'))
      .map((name) => {
        const text = readFileSync(join(root, folder, name), 'utf8');
        const path = join(copies, name);
        writeFileSync(
          path,
          text.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`),
        );
        return path;
      }),
  );
  const analyze = (name: string, args: readonly string[]): readonly string[] => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    // A misspelt setting is a warning to it.
    const isQuiet = status === 0 && stderr.trim() === '';
    return isQuiet ? [] : [`${name}: ${stderr}${status === 0 ? '' : stdout.slice(-300)}`];
  };
  try {
    return paths.flatMap((path) => [
      ...analyze(basename(path), ['verify', '--man=no', path]),
      ...analyze(basename(path), [
        ...['security', '--offline=true', '--no-pager', `--threshold=${exposureLimit}`, path],
      ]),
    ]);
  } finally {
    rmSync(copies, { recursive: true });
  }
}
