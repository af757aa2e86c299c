/**
 * Where configuration comes from: the environment, and one file chosen by `--env-file`, else `$AGENT_ENV`, else
 * `agent.env` in the agent directory.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { PoolError } from '@pool/core';
import { type ConfigLayers, type Env, findText } from './config-reader.ts';

/** What configuration needs to know about this machine. */
export type ConfigSource = {
  readonly env: Env;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly homeDir: string;
};

export type ConfigFile = {
  readonly path: string;
  readonly isPresent: boolean;
  readonly values: Env;
};

/**
 * @param envFile - what `--env-file` says
 * @throws PoolError `invalid_configuration` when the file cannot be read, or was named and is not there
 */
export function readConfigFile(source: ConfigSource, envFile: string | undefined): ConfigFile {
  const { path, isNamed } = chooseConfigFile(source, envFile);
  try {
    return { path, isPresent: true, values: parseEnv(source.readFile(path)) };
  } catch (cause) {
    if (!isNamed && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      return { path, isPresent: false, values: {} };
    }
    throw new PoolError(
      'invalid_configuration',
      `the configuration file ${path} cannot be read; name another one with --env-file or AGENT_ENV`,
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

export function createLayers(source: ConfigSource, file: Env, filePath?: string): ConfigLayers {
  const { env, readFile, homeDir } = source;
  return {
    env,
    file,
    home: findHome(env, file, homeDir),
    readFile,
    ...(filePath === undefined ? {} : { filePath }),
  };
}

/** The agent directory; the configuration file may move it, but is itself looked for without having been read. */
function findHome(env: Env, file: Env, homeDir: string): string {
  return resolve(
    findText({ env, file }, 'DISBURSE_HOME')?.text ?? join(homeDir, '.disburse-agent'),
  );
}
