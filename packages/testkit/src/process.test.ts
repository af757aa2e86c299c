import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  findFreePorts,
  findProgram,
  isAnswering,
  type ManagedProcess,
  startNodeProcess,
  waitUntilReady,
} from './process.ts';
import { endProcess, isRunning, readProcessIdentity } from './process-identity.ts';

let folder: string;
let started: ManagedProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-process-'));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((process) => process.kill()));
  rmSync(folder, { recursive: true });
});

function start(source: string, env: Record<string, string> = {}): ManagedProcess {
  const script = join(folder, 'program.ts');
  writeFileSync(script, source);
  const process = startNodeProcess({
    name: 'program',
    script,
    env,
    logPath: join(folder, 'program.log'),
  });
  started.push(process);
  return process;
}

function says(process: ManagedProcess, word: string) {
  return async (): Promise<true | undefined> =>
    process.output().includes(word) ? true : undefined;
}

describe('startNodeProcess', () => {
  it('keeps the output in a private file and reports how the process ended', async () => {
    const process = start('console.log("out"); console.error("err"); process.exitCode = 3;');
    expect(await process.exited).toEqual({ code: 3, signal: undefined });
    expect(process.output()).toContain('out\n');
    expect(process.output()).toContain('err\n');
    expect(statSync(process.logPath).mode & 0o777).toBe(0o600);
    expect(isRunning(process.identity)).toBe(false);
  });

  it('gives the process its own environment only', async () => {
    process.env['POOL_TEST_LEAK'] = 'leaked';
    try {
      const child = start('console.log(JSON.stringify(process.env))', { GIVEN: 'yes' });
      await child.exited;
      expect(JSON.parse(child.output())).toMatchObject({ GIVEN: 'yes' });
      expect(child.output()).not.toContain('leaked');
    } finally {
      delete process.env['POOL_TEST_LEAK'];
    }
  });

  it('stops with SIGTERM, and with SIGKILL if that is ignored', async () => {
    const polite = start(
      'process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 9); console.log("up")',
    );
    await waitUntilReady(polite, says(polite, 'up'));
    await polite.stop(120_000);
    expect(await polite.exited).toEqual({ code: 0, signal: undefined });

    const stubborn = start(
      'process.on("SIGTERM", () => {}); setInterval(() => {}, 9); console.log("up")',
    );
    await waitUntilReady(stubborn, says(stubborn, 'up'));
    await stubborn.stop(100);
    await stubborn.stop(100);
    expect(await stubborn.exited).toEqual({ code: undefined, signal: 'SIGKILL' });
  });

  it('ends the children of a process with it', async () => {
    const parent = start(
      `import { spawn } from 'node:child_process';
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 9)']);
       console.log('child ' + child.pid + '.');
       setInterval(() => {}, 9);`,
    );
    const childPid = await waitUntilReady(
      parent,
      async () => /child ([0-9]+)\./.exec(parent.output())?.[1],
    );
    await parent.kill();
    await expect.poll(() => readProcessIdentity(Number(childPid))).toBeUndefined();
  });

  it('starts the bundle of a program, if the test run has made one', async () => {
    const script = join(import.meta.dirname, 'program.ts');
    expect(findProgram(script)).toBe(script);
    vi.stubEnv('POOL_TEST_PROGRAMS', folder);
    try {
      expect(findProgram(script)).toBe(script);
      mkdirSync(join(folder, 'packages/testkit/src'), { recursive: true });
      writeFileSync(join(folder, 'packages/testkit/src/program.js'), 'console.log("bundle")');
      const logPath = join(folder, 'bundle.log');
      const child = startNodeProcess({ name: 'program', script, logPath });
      started.push(child);
      await child.exited;
      expect(child.output()).toBe('bundle\n');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('does not signal another process with the same pid', async () => {
    const child = start('setInterval(() => {}, 9)');
    await endProcess({ ...child.identity, startedAt: '1' });
    expect(isRunning(child.identity)).toBe(true);
  });
});

describe('waitUntilReady', () => {
  it('waits for a URL', async () => {
    const [port = 0] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}/`;
    expect(await isAnswering(url)).toBeUndefined();
    const server = start(
      `import { createServer } from 'node:http';
       createServer((_, response) => response.end()).listen(${port}, '127.0.0.1');`,
    );
    expect(await waitUntilReady(server, () => isAnswering(url))).toBe(true);
  });

  it('reports the last output of a process that ended instead', async () => {
    const process = start('throw new Error("no such luck")');
    await expect(waitUntilReady(process, async () => undefined)).rejects.toThrow(/no such luck/);
  });

  it('fails after its time limit', async () => {
    const process = start('setInterval(() => {}, 9)');
    await expect(waitUntilReady(process, async () => undefined, 60)).rejects.toMatchObject({
      code: 'process_not_started',
    });
  });
});

it('finds different free ports, which no outgoing connection is given', async () => {
  const ports = await findFreePorts(5);
  expect(new Set(ports).size).toBe(5);
  expect(ports.every((port) => port >= 20_000 && port < 32_000)).toBe(true);
});
