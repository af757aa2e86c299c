/**
 * Where configuration comes from: the environment, and one file chosen by `--env-file`, else `$AGENT_ENV`, else
 * `agent.env` in the agent directory.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { PoolError } from '@pool/core';
import { parseEnvFile } from './env-file.ts';
import { type ConfigLayers, describeCause, type Env, findText } from './reader.ts';
import type { ConfigRemark } from './types.ts';

/** What configuration needs to know about this machine. */
export type ConfigSource = {
  readonly env: Env;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly homeDir: string;
  /** Whether everybody on this machine may read the file. Absent where files have no such mode. */
  readonly isWorldReadable?: (path: string) => boolean;
};

export type ConfigFile = {
  readonly path: string;
  readonly isPresent: boolean;
  readonly values: Env;
  /** Lines that mean nothing, or twice something. */
  readonly problems: readonly ConfigRemark[];
};

/**
 * @param envFile - what `--env-file` says
 * @throws PoolError `invalid_configuration` when the file cannot be read, or was named and is not there
 */
export function readConfigFile(source: ConfigSource, envFile: string | undefined): ConfigFile {
  const { path, isNamed } = chooseConfigFile(source, envFile);
  try {
    return { path, isPresent: true, ...parseEnvFile(source.readFile(path), path) };
  } catch (cause) {
    if (!isNamed && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      return { path, isPresent: false, values: {}, problems: [] };
    }
    throw new PoolError(
      'invalid_configuration',
      `the configuration file ${path} cannot be read${describeCause(cause)}; name another one with --env-file or AGENT_ENV`,
      { cause },
    );
  }
}

/** Which file it is, there or not. */
export function chooseConfigFile(
  source: Pick<ConfigSource, 'env' | 'homeDir'>,
  envFile: string | undefined,
): { readonly path: string; readonly isNamed: boolean } {
  const named = envFile ?? findText({ env: source.env, file: {} }, 'AGENT_ENV')?.text;
  return named === undefined
    ? { path: join(findHome(source.env, {}, source.homeDir), 'agent.env'), isNamed: false }
    : { path: named, isNamed: true };
}

export function createLayers(
  source: ConfigSource,
  { values: file, ...rest }: Pick<ConfigFile, 'values'> & Partial<ConfigFile>,
): ConfigLayers {
  const { env, readFile, homeDir, isWorldReadable } = source;
  return {
    env,
    file,
    home: findHome(env, file, homeDir),
    readFile: readOnce(readFile),
    isWorldReadable: isWorldReadable ?? (() => false),
    fileProblems: rest.problems ?? [],
    ...(rest.path === undefined ? {} : { filePath: rest.path }),
  };
}

/** Each file once: the shell's `<(…)` is a pipe, empty when it is read again, and what was compared is what is used. */
function readOnce(readFile: (path: string) => string): (path: string) => string {
  const outcomes = new Map<string, () => string>();
  return (path) => {
    let outcome = outcomes.get(path);
    if (outcome === undefined) {
      outcome = attempt(() => readFile(path));
      outcomes.set(path, outcome);
    }
    return outcome();
  };
}

/** What it answers or throws, now and ever after. */
function attempt(read: () => string): () => string {
  try {
    const content = read();
    return () => content;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The agent directory; the configuration file may move it, but is itself looked for without having been read. */
function findHome(env: Env, file: Env, homeDir: string): string {
  return resolve(
    findText({ env, file }, 'DISBURSE_HOME')?.text ?? join(homeDir, '.disburse-agent'),
  );
}
