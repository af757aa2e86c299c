/**
 * Starts real processes for tests and for the sandbox, each the leader of its own group, with its output in
 * a file: they can outlive the process that started them, and are ended by pid and start time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PoolError } from '@pool/core';
import { endProcess, type ProcessIdentity, readProcessIdentity } from './process-identity.ts';

export type StartOptions = {
  /** Names the process in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment besides PATH and HOME: nothing of the caller's own leaks in. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard output and error are appended here, mode 0600. */
  readonly logPath: string;
};

export type ProcessExit = {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
};

export type ManagedProcess = {
  readonly name: string;
  readonly logPath: string;
  readonly identity: ProcessIdentity;
  /** Resolves when the process has ended. Does not keep the caller's process alive. */
  readonly exited: Promise<ProcessExit>;
  hasExited(): boolean;
  /** What it has written since it was started here. */
  output(): string;
  /** SIGTERM, then SIGKILL. Safe to call twice. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL: a crash. */
  kill(): Promise<void>;
};

/** @throws PoolError `process_not_started` */
export function startProcess(options: StartOptions): ManagedProcess {
  const { name, command, args, cwd, logPath } = options;
  const log = openSync(logPath, 'a', 0o600);
  const logOffset = statSync(logPath).size;
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...inheritedEnvironment(), ...options.env },
      stdio: ['ignore', log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
  const identity = child.pid === undefined ? undefined : readProcessIdentity(child.pid);
  let ended: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    const end = (exit: ProcessExit): void => {
      ended = exit;
      resolve(exit);
    };
    child.once('exit', (code, signal) => {
      end({ code: code ?? undefined, signal: signal ?? undefined });
    });
    child.once('error', () => {
      end({ code: undefined, signal: undefined });
    });
  });
  if (identity === undefined) {
    throw new PoolError('process_not_started', `${name} could not be started; see ${logPath}`);
  }
  child.unref();
  return {
    name,
    logPath,
    identity,
    exited,
    hasExited: () => ended !== undefined,
    output: () => readFileSync(logPath).subarray(logOffset).toString('utf8'),
    stop: async (graceMs) => {
      await endProcess(identity, graceMs);
    },
    kill: async () => {
      await endProcess(identity, 0);
    },
  };
}

/** {@link startProcess} of a TypeScript file of this repository, from source. */
export function startNodeProcess(
  options: Omit<StartOptions, 'command' | 'args'> & {
    readonly script: string;
    readonly args?: readonly string[];
  },
): ManagedProcess {
  const { script, args = [], ...rest } = options;
  return startProcess({
    ...rest,
    command: process.execPath,
    args: [
      ...['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'],
      ...[findProgram(script), ...args],
    ],
  });
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The bundle of a program, if the test run has made one: it starts three times as fast as its sources. Otherwise `script` itself. */
export function findProgram(script: string): string {
  const folder = process.env['POOL_TEST_PROGRAMS'] ?? '';
  const bundle = join(folder, relative(root, script).replace(/\.ts$/, '.js'));
  return folder !== '' && existsSync(bundle) ? bundle : script;
}

/**
 * Polls until `check` returns something other than undefined.
 * @throws PoolError `process_not_started` with its last output when the process ends or after the time limit
 */
export async function waitUntilReady<T>(
  process: ManagedProcess,
  check: () => Promise<T | undefined>,
  timeoutMs = 300_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await check();
    if (answer !== undefined) {
      return answer;
    }
    if (process.hasExited() || performance.now() > deadline) {
      const what = process.hasExited() ? 'ended at once' : `was not ready after ${timeoutMs} ms`;
      throw new PoolError(
        'process_not_started',
        `${process.name} ${what}. Its last output (${process.logPath}):\n${process.output().slice(-2_000)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Options of a Node process that sends itself a signal as soon as it has written a text to standard error. A test that reads the text and
 * then sends the signal comes too late when it waits for a processor.
 */
export function signalAt(text: string, signal: NodeJS.Signals): readonly string[] {
  const code = `
    const write = process.stderr.write.bind(process.stderr);
    let written = '';
    process.stderr.write = (...given) => {
      const answer = write(...given);
      const isFirst = !written.includes(${JSON.stringify(text)});
      written += given[0];
      if (isFirst && written.includes(${JSON.stringify(text)})) process.kill(process.pid, '${signal}');
      return answer;
    };`;
  return [`--import=data:text/javascript,${encodeURIComponent(code)}`];
}

/** For {@link waitUntilReady}: true once the URL answers with a status below 500. */
export async function isAnswering(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<true | undefined> {
  try {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(url, { headers, signal, redirect: 'error' });
    await response.arrayBuffer();
    return response.status < 500 ? true : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ports below the range from which systems give ports to outgoing connections and to servers that ask for any port (Linux: from 32768,
 * elsewhere: from 49152). A port of that range could be taken before the process that is meant to have it listens.
 */
const reservedPorts = { first: 20_000, count: 12_000 };

/** Different loopback ports that were free a moment ago. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = reservedPorts.first + randomInt(reservedPorts.count);
    if (await isFree(port)) {
      ports.add(port);
    }
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function inheritedEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
