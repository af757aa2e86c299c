/**
 * The sources of the configuration: the environment, and one flat file chosen by `--env-file`, else `$AGENT_ENV`, else
 * `agent.env` in the agent directory. The environment has precedence over the file.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { PoolError } from '@pool/core';
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
  /** The agent directory. */
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

/**
 * @param envFile - path given by `--env-file`
 * @throws PoolError `invalid_configuration` when the file cannot be read, or was named and does not exist
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

/** The path of the configuration file, which may not exist. */
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

/** The agent directory. The configuration file can set it, but the search for that file ignores the file's own value. */
function findHome(env: Env, file: Env, homeDir: string): string {
  return resolve(
    findText({ env, file }, 'DISBURSE_HOME')?.text ?? join(homeDir, '.disburse-agent'),
  );
}

type EnvFile = {
  readonly values: Env;
  /** Each names its line and never quotes it: it may contain a secret. */
  readonly problems: readonly ConfigRemark[];
};

type Value =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problem: string };

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;
const ownName = /^(?:DISBURSE|POOL_GATE|ONBOARD|NODE)_[A-Z0-9_]+$/;

/**
 * Parses `NAME=value` lines, comments and blank lines. Every other line is a problem and is not skipped: it may be a
 * ceiling that the operator relies on.
 *
 * @param path - of the file, for the problems
 */
export function parseEnvFile(content: string, path: string): EnvFile {
  const values: Record<string, string> = {};
  const lineOf = new Map<string, number>();
  const problems: ConfigRemark[] = [];
  const note = (line: number, problem: string, name?: string): void => {
    const variable = name !== undefined && ownName.test(name) ? name : 'AGENT_ENV';
    const subject = variable === name ? `, ${name}` : '';
    problems.push({ variable, message: `${path}, line ${line}${subject}: ${problem}` });
  };
  const lines = content.split(/\r\n|\r|\n/);
  for (const [index, raw] of lines.entries()) {
    // `trim` also removes a byte order mark.
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) {
      continue;
    }
    const line = index + 1;
    const [, name, written] = assignment.exec(text) ?? [];
    if (name === undefined || written === undefined) {
      note(line, 'is not NAME=value, a comment or blank');
      continue;
    }
    const earlier = lineOf.get(name);
    if (earlier !== undefined) {
      note(line, `is already set by line ${earlier}; keep one of the two lines`, name);
      continue;
    }
    lineOf.set(name, line);
    const value = readValue(written);
    if (value.kind === 'wrong') {
      note(line, value.problem, name);
    } else {
      values[name] = value.text;
    }
  }
  return { values, problems };
}

/**
 * A comment begins at a `#` after a space. A `#` inside a word belongs to the word, since secrets can contain one.
 *
 * @param written - the text after the equals sign
 */
function readValue(written: string): Value {
  const text = written.trim();
  const quote = text[0];
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    return { kind: 'value', text: written.replace(/\s+#.*$/, '').trim() };
  }
  const end = text.indexOf(quote, 1);
  if (end < 0) {
    return { kind: 'wrong', problem: 'opens a quote and does not close it on the same line' };
  }
  return /^(?:\s*|\s+#.*)$/.test(text.slice(end + 1))
    ? { kind: 'value', text: text.slice(1, end) }
    : { kind: 'wrong', problem: 'has something after its closing quote' };
}

/** The operating system's code, for example ENOENT, and no other part of the error, which quotes the path. */
export function describeCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]{2,15}$/.test(code) ? ` (${code})` : '';
}
