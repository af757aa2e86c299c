/**
 * The file of the gate's configuration: `NAME=value` lines. It is chosen by `--env-file`, else `$APPROVE_ENV`, else `approve.env` in
 * the gate's directory. It is never the file of an agent.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { describeCause, PoolError, parseEnvFile } from '@pool/core';

export type Env = Readonly<Record<string, string | undefined>>;

/** What the configuration reads from this machine. */
export type ConfigSource = {
  readonly env: Env;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  /** Permission bits of a file. Undefined: there are none, as of standard input. Absent: they are not checked. */
  readonly readMode?: (path: string) => number | undefined;
  readonly homeDir: string;
};

/** Everything that variables are read from. */
export type ConfigLayers = {
  readonly env: Env;
  readonly file: Env;
  /** The gate's directory. */
  readonly home: string;
  /** Of the file itself: the line and what is wrong with it. */
  readonly fileProblems: readonly string[];
  readonly readFile: (path: string) => string;
  /** What is wrong with the permissions of a file that holds a secret. */
  readonly findModeProblem: (path: string) => string | undefined;
  /** Of the file, if it exists. */
  readonly path: string;
};

/** @throws PoolError `invalid_configuration` when the file cannot be read, or was named and does not exist */
export function readLayers(source: ConfigSource, envFile?: string): ConfigLayers {
  const { env, readFile } = source;
  const named = envFile ?? textOf(env, 'APPROVE_ENV');
  const path = named ?? join(findHome(source, {}), 'approve.env');
  let content = '';
  try {
    content = readFile(path);
  } catch (cause) {
    if (named !== undefined || describeCause(cause) !== ' (ENOENT)') {
      throw new PoolError(
        'invalid_configuration',
        `the configuration file ${path} cannot be read${describeCause(cause)}; name another one with --env-file or APPROVE_ENV`,
        { cause },
      );
    }
  }
  const { values: file, problems } = parseEnvFile(content);
  const fileProblems = problems.map(
    ({ line, name, problem }) =>
      `${path}, line ${line}${name === undefined ? '' : `, ${name}`}: ${problem}`,
  );
  return {
    env,
    file,
    home: findHome(source, file),
    fileProblems,
    readFile,
    findModeProblem: (secretPath) => findModeProblem(source, secretPath),
    path,
  };
}

/** A secret that every user of the host can read is none. A group may read it: the service's own. */
export function findModeProblem(
  { readMode }: Pick<ConfigSource, 'readMode'>,
  path: string,
): string | undefined {
  const mode = readMode?.(path) ?? 0;
  return (mode & 0o007) === 0
    ? undefined
    : `${path} is open to every user of this host (mode ${(mode & 0o777).toString(8).padStart(4, '0')}); run "chmod o= ${path}", and replace the secret if others could have read it`;
}

/** The text of a name, trimmed. An empty variable counts as unset, so that it does not hide the file's value. */
export function findText({ env, file }: Pick<ConfigLayers, 'env' | 'file'>, name: string) {
  return textOf(env, name) ?? textOf(file, name);
}

function textOf(values: Env, name: string): string | undefined {
  const text = values[name]?.trim() ?? '';
  return text === '' ? undefined : text;
}

function findHome({ env, homeDir }: ConfigSource, file: Env): string {
  return resolve(findText({ env, file }, 'APPROVE_HOME') ?? join(homeDir, '.pool-approve'));
}

/** How messages call a file that a command reads. */
export function describeInput(path: string): string {
  return path === '-' ? 'standard input' : path;
}
