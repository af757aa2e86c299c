/**
 * The sources of a configuration: the environment, and one flat file. The environment has precedence over the file.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { describeCause, PoolError, parseEnvFile } from '@pool/core';
import type { ConfigRemark } from './kinds.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Everything that configuration is read from. */
export type ConfigLayers = {
  readonly env: Env;
  readonly file: Env;
  /** Path of the configuration file, if one was read. */
  readonly filePath?: string;
  /** Problems of the file itself. */
  readonly fileProblems: readonly ConfigRemark[];
  /** The directory of the service. */
  readonly home: string;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly isWorldReadable: (path: string) => boolean;
};

export type Layer = 'environment' | 'file';

/** What configuration reads from this machine. */
export type ConfigSource = {
  readonly env: Env;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly homeDir: string;
  /** Whether every user of this machine can read the file. Absent where files have no such mode. */
  readonly isWorldReadable?: (path: string) => boolean;
};

export type ConfigFile = {
  readonly path: string;
  readonly isPresent: boolean;
  readonly values: Env;
  /** Lines that are not valid, and names that are set twice. */
  readonly problems: readonly ConfigRemark[];
};

type Found = { readonly text: string; readonly layer: Layer };

/** The text of a name, trimmed. An empty variable counts as unset, so that it does not hide the file's value. */
export function findText(
  layers: Pick<ConfigLayers, 'env' | 'file'>,
  name: string,
): Found | undefined {
  for (const [layer, values] of [
    ['environment', layers.env],
    ['file', layers.file],
  ] as const) {
    const text = values[name]?.trim() ?? '';
    if (text !== '') {
      return { text, layer };
    }
  }
  return undefined;
}

/** Where a service has its directory and its file. */
export type ConfigPlace = {
  /** Names the directory of the service. */
  readonly homeVariable: string;
  /** The directory in that of the user, if the variable is unset. */
  readonly homeFolder: string;
  /** Names the file. */
  readonly fileVariable: string;
  /** In the directory of the service, if no file is named. */
  readonly fileName: string;
  /** Names that a message may quote. Another name in the file may be a part of a secret. */
  readonly ownName: RegExp;
};

/** The functions that find and read the file of a service. */
export type ConfigFiles = {
  /** The path of the file, which may not exist. @param envFile - path given by `--env-file` */
  chooseConfigFile(
    source: Pick<ConfigSource, 'env' | 'homeDir'>,
    envFile: string | undefined,
  ): { readonly path: string; readonly isNamed: boolean };
  /** @throws PoolError `invalid_configuration` when the file cannot be read, or was named and does not exist */
  readConfigFile(source: ConfigSource, envFile: string | undefined): ConfigFile;
  /** The values of a file, and its problems under the names of our variables. */
  readEnvFile(content: string, path: string): Pick<ConfigFile, 'values' | 'problems'>;
  createLayers(
    source: ConfigSource,
    file: Pick<ConfigFile, 'values'> & Partial<ConfigFile>,
  ): ConfigLayers;
};

export function createConfigFiles(place: ConfigPlace): ConfigFiles {
  const { homeVariable, homeFolder, fileVariable, fileName, ownName } = place;

  /** The file can set the directory, but the search for that file ignores the file's own value. */
  function findHome(env: Env, file: Env, homeDir: string): string {
    return resolve(findText({ env, file }, homeVariable)?.text ?? join(homeDir, homeFolder));
  }

  const chooseConfigFile: ConfigFiles['chooseConfigFile'] = (source, envFile) => {
    const named = envFile ?? findText({ env: source.env, file: {} }, fileVariable)?.text;
    return named === undefined
      ? { path: join(findHome(source.env, {}, source.homeDir), fileName), isNamed: false }
      : { path: named, isNamed: true };
  };

  const readEnvFile: ConfigFiles['readEnvFile'] = (content, path) => {
    const { values, problems } = parseEnvFile(content);
    return {
      values,
      problems: problems.map(({ line, name, problem }) => {
        const variable = name !== undefined && ownName.test(name) ? name : fileVariable;
        const subject = variable === name ? `, ${name}` : '';
        return { variable, message: `${path}, line ${line}${subject}: ${problem}` };
      }),
    };
  };

  return {
    chooseConfigFile,
    readEnvFile,
    readConfigFile(source, envFile) {
      const { path, isNamed } = chooseConfigFile(source, envFile);
      try {
        return { path, isPresent: true, ...readEnvFile(source.readFile(path), path) };
      } catch (cause) {
        if (!isNamed && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
          return { path, isPresent: false, values: {}, problems: [] };
        }
        throw new PoolError(
          'invalid_configuration',
          `the configuration file ${path} cannot be read${describeCause(cause)}; name another one with --env-file or ${fileVariable}`,
          { cause },
        );
      }
    },
    createLayers(source, { values: file, ...rest }) {
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
    },
  };
}

/** Reads each file once. The shell's `<(…)` is a pipe, which is empty at the second read; and the compared secret is the used one. */
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

/** Reads now. The result returns the content, or throws the error, at each call. */
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
