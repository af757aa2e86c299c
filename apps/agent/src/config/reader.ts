/**
 * Finds the value in effect of each variable and where it comes from: environment over file, and for credentials
 * the `_FILE` form over the inline one.
 *
 * @module
 */
import { Secret } from '@pool/core';
import { parseSecretFile } from './secret-file.ts';
import type { ConfigRemark } from './types.ts';
import type { ConfigVariable, DefaultedVariable } from './variable.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Everything configuration is read from. */
export type ConfigLayers = {
  readonly env: Env;
  readonly file: Env;
  /** Of the configuration file, if one was read. */
  readonly filePath?: string;
  /** What is wrong with the file itself. */
  readonly fileProblems: readonly ConfigRemark[];
  /** The agent directory. */
  readonly home: string;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly isWorldReadable: (path: string) => boolean;
};

export type Layer = 'environment' | 'file';

export type Origin =
  | { readonly from: Layer }
  /** `variable`: the `_FILE` form, found in `layer`. The path stays out when it does not lead to a secret: it may be one. */
  | {
      readonly from: 'secret-file';
      readonly variable: string;
      readonly layer: Layer;
      readonly path: string | undefined;
    }
  | { readonly from: 'default' }
  | { readonly from: 'unset' };

export type Reading<T> = {
  readonly origin: Origin;
  readonly value: T | undefined;
  /** As written, whether it holds or not; for a credential the secret, wrapped. */
  readonly raw: Secret | undefined;
  readonly problems: readonly ConfigRemark[];
};

type Found = { readonly text: string; readonly layer: Layer };

/** The text of a name, trimmed. An empty variable is an unset one: it must not hide the file's. */
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

/** Reads one row of the table. Pure, but for files that hold a secret. */
export function readVariable<T>(variable: ConfigVariable<T>, layers: ConfigLayers): Reading<T> {
  const { name, credential } = variable;
  const file = credential === undefined ? undefined : findText(layers, `${name}_FILE`);
  if (credential !== undefined && file !== undefined) {
    const origin = { from: 'secret-file', variable: `${name}_FILE`, layer: file.layer } as const;
    const wrong = (message: string): Reading<T> => ({
      origin: { ...origin, path: undefined },
      value: undefined,
      raw: undefined,
      problems: [{ variable: origin.variable, message: `${origin.variable} ${message}` }],
    });
    let content: string;
    try {
      content = layers.readFile(file.text);
    } catch (error) {
      return wrong(`names a file that cannot be read${describeCause(error)}`);
    }
    const parsed = parseSecretFile(content, credential);
    return parsed.kind === 'wrong'
      ? wrong(parsed.problem)
      : parseText(variable, origin.variable, parsed.value, { ...origin, path: file.text });
  }
  const found = findText(layers, name);
  if (found !== undefined) {
    return parseText(variable, name, found.text, { from: found.layer });
  }
  if (variable.fallback !== undefined) {
    return {
      origin: { from: 'default' },
      value: variable.fallback(layers.home),
      raw: undefined,
      problems: [],
    };
  }
  return {
    origin: { from: 'unset' },
    value: undefined,
    raw: undefined,
    problems:
      variable.isRequired === true ? [{ variable: name, message: `${name} is required` }] : [],
  };
}

/** @param written - the name the operator wrote, which problems are reported under */
function parseText<T>(
  variable: ConfigVariable<T>,
  written: string,
  text: string,
  origin: Origin,
): Reading<T> {
  const parsed = variable.kind.parse(text);
  const problems =
    parsed.kind === 'value'
      ? []
      : parsed.problems.map((problem) => ({ variable: written, message: `${written} ${problem}` }));
  const value = parsed.kind === 'value' ? parsed.value : undefined;
  return { origin, value, raw: new Secret(text), problems };
}

/** The reason of the operating system, for example ENOENT; nothing else of the error, which quotes the path. */
export function describeCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]{2,15}$/.test(code) ? ` (${code})` : '';
}

export type ConfigReader = {
  /** The value; undefined when it is unset or wrong. Notes what is wrong. */
  optional<T>(variable: ConfigVariable<T>): T | undefined;
  /** The value or the default; the default also stands in for a wrong value, which is noted. */
  defaulted<T>(variable: DefaultedVariable<T>): T;
  /** What is written, whether it holds or not. */
  isWritten(variable: ConfigVariable<unknown>): boolean;
};

/** @param problems - what is wrong is added here */
export function createConfigReader(layers: ConfigLayers, problems: ConfigRemark[]): ConfigReader {
  function optional<T>(variable: ConfigVariable<T>): T | undefined {
    const reading = readVariable(variable, layers);
    problems.push(...reading.problems);
    return reading.value;
  }
  return {
    optional,
    defaulted: (variable) => optional(variable) ?? variable.fallback(layers.home),
    isWritten(variable) {
      const { from } = readVariable(variable, layers).origin;
      return from !== 'unset' && from !== 'default';
    },
  };
}
