// Whether the process of a spend still runs, which decides whether its notes are freed (docs/decisions/0011).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSpendOwners } from './spend-owner.ts';

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function open(home: string) {
  const owners = openSpendOwners(home);
  onTestFinished(() => owners.close());
  return owners;
}

/** Another process of the directory. @returns it with the name that its spends have */
async function startOther(home: string): Promise<{ child: ChildProcess; owner: string }> {
  const source = `
    const { openSpendOwners } = await import(${JSON.stringify(join(import.meta.dirname, 'spend-owner.ts'))});
    process.stdout.write(openSpendOwners(process.argv[1]).own);
    setInterval(() => undefined, 1_000);
  `;
  const child = spawn(
    process.execPath,
    ['--conditions=@pool/source', '--no-warnings', '--input-type=module', '-e', source, home],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [owner] = await once(child.stdout, 'data');
  return { child, owner: String(owner) };
}

describe('the process of a spend', () => {
  it('runs while it holds its lock, and has ended once it is killed', async () => {
    const home = makeHome();
    const { own, hasEnded } = open(home);
    const { child, owner } = await startOther(home);
    expect([own, owner].map(hasEnded)).toEqual([false, false]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(hasEnded(owner)).toBe(true);
    expect(readdirSync(home)).toEqual([`spend-process-${own}.lock`]);
  });

  it('has ended if it is not named, closed its lock, or is of another directory', () => {
    const home = makeHome();
    const earlier = openSpendOwners(home);
    const { hasEnded } = open(home);
    expect(hasEnded(earlier.own)).toBe(false);
    earlier.close();
    expect([undefined, earlier.own, open(makeHome()).own].map(hasEnded)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('has ended if only this process has the directory', () => {
    const { own, hasEnded } = openSpendOwners(undefined);
    expect([own, 'another'].map(hasEnded)).toEqual([false, true]);
  });

  it('leaves a file of its owner only, which goes an hour after a kill', async () => {
    const home = makeHome();
    const { child, owner } = await startOther(home);
    const running = openSpendOwners(home);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const files = readdirSync(home).map((name) => join(home, name));
    expect(files.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    for (const path of files) {
      utimesSync(path, 0, 0);
    }
    const last = open(home);
    expect([owner, running.own].map((name) => files.some((path) => path.includes(name)))).toEqual([
      true,
      true,
    ]);
    expect(readdirSync(home).sort()).toEqual(
      [running.own, last.own].map((name) => `spend-process-${name}.lock`).sort(),
    );
    running.close();
  });
});
