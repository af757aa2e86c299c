/**
 * Finds the effective value of each variable and its origin. The environment has precedence over the file, and the
 * `_FILE` form of a credential over the inline one.
 *
 * @module
 */

import { describeCause, Secret } from '@pool/core';
import type {
  ConfigRemark,
  ConfigVariable,
  CredentialForm,
  DefaultedVariable,
  Kind,
} from './kinds.ts';
import { type ConfigLayers, findText, type Layer } from './layers.ts';

export type Origin =
  | { readonly from: Layer }
  /** `variable`: the `_FILE` form, found in `layer`. The path is left out when it does not lead to a secret: it may be one. */
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
  /** The text as written, valid or not; for a credential the secret, wrapped. */
  readonly raw: Secret | undefined;
  readonly problems: readonly ConfigRemark[];
};

/** Reads one variable. Pure, except that it reads files that contain a secret. */
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

/** @param written - the name that the operator wrote; problems are reported under it */
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

type SecretFile =
  | { readonly kind: 'secret'; readonly value: string }
  | { readonly kind: 'wrong'; readonly problem: string };

/**
 * Parses the file that the `_FILE` form of a variable names: the bare secret on one line, or the JSON document that a
 * command printed with the credential.
 *
 * Never puts a part of the content into the problem.
 */
function parseSecretFile(content: string, form: CredentialForm): SecretFile {
  const bare = content.replace(/^\uFEFF/, '').trim();
  if (bare === '') {
    return wrong('names an empty file');
  }
  if (bare.startsWith('{')) {
    return parseDocument(bare, form);
  }
  if (bare.startsWith('[') && form.isList === true) {
    return parseSecretList(bare, form);
  }
  if (bare.startsWith('[')) {
    return wrong(
      'names a JSON list: it must be the document that the command printed with the credential',
    );
  }
  if (bare.startsWith('-----BEGIN AGE ENCRYPTED FILE-----')) {
    return wrong(
      'names a file that is encrypted with age: decrypt it into another file, and name that one',
    );
  }
  if (/^(["'`]).*\1$/s.test(bare)) {
    return wrong('names a file with the secret in quotes: remove the quotes');
  }
  return /\s/.test(bare) && form.isText !== true
    ? wrong(
        'names a file with more than one word: it must contain only the bare secret, or the JSON document that the command printed with it',
      )
    : { kind: 'secret', value: bare };
}

function parseDocument(
  json: string,
  { fields, capability, findProblem }: CredentialForm,
): SecretFile {
  let document: Readonly<Record<string, unknown>>;
  try {
    document = JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return wrong('names a file whose JSON is not valid');
  }
  const named = document['capability'];
  if (capability !== undefined && named !== undefined && named !== capability) {
    return wrong(`names the document of a key with another capability: it must be ${capability}`);
  }
  const value = fields
    .map((field) => (Object.hasOwn(document, field) ? document[field] : undefined))
    .find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  if (typeof value !== 'string') {
    return wrong(`names a JSON document without the field ${fields.join(' or ')}`);
  }
  const problem = findProblem?.(document, value.trim());
  return problem === undefined ? { kind: 'secret', value: value.trim() } : wrong(problem);
}

/** Its entries, as the inline form of the variable lists them. */
function parseSecretList(json: string, { fields }: CredentialForm): SecretFile {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    return wrong('names a file whose JSON is not valid');
  }
  const entries = (Array.isArray(list) ? (list as readonly unknown[]) : []).map((entry) =>
    typeof entry === 'object' && entry !== null
      ? fields.map((field) => (entry as Readonly<Record<string, unknown>>)[field]).find(Boolean)
      : entry,
  );
  return entries.length > 0 && entries.every((entry) => typeof entry === 'string')
    ? { kind: 'secret', value: entries.join(',') }
    : wrong(
        `names a JSON list that must contain texts, or documents with the field ${fields.join(' or ')}, and at least one of them`,
      );
}

function wrong(problem: string): SecretFile {
  return { kind: 'wrong', problem };
}

/** What a table of variables gives. Undefined: unset, and without a default. */
export type ConfigValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly kind: Kind<infer T> }
    ? T | (Table[Name] extends { readonly fallback: unknown } ? never : undefined)
    : never;
};

export type ConfigReader = {
  /** Reads each variable of a table. */
  all<Table extends Readonly<Record<string, ConfigVariable<unknown>>>>(
    table: Table,
  ): ConfigValues<Table>;
  /** The value; undefined when it is unset or invalid. Adds the problems. */
  optional<T>(variable: ConfigVariable<T>): T | undefined;
  /** The value or the default. The default also replaces an invalid value, whose problems are added. */
  defaulted<T>(variable: DefaultedVariable<T>): T;
  /** Whether the variable is written somewhere, valid or not. */
  isWritten(variable: ConfigVariable<unknown>): boolean;
};

/** @param problems - the list that the problems of each variable are added to, once */
export function createConfigReader(layers: ConfigLayers, problems: ConfigRemark[]): ConfigReader {
  const reported = new Set<string>();
  function optional<T>(variable: ConfigVariable<T>): T | undefined {
    const reading = readVariable(variable, layers);
    if (!reported.has(variable.name)) {
      reported.add(variable.name);
      problems.push(...reading.problems);
    }
    return reading.value;
  }
  return {
    all: <Table extends Readonly<Record<string, ConfigVariable<unknown>>>>(table: Table) =>
      Object.fromEntries(
        Object.entries(table).map(([name, variable]) => [
          name,
          optional(variable) ?? variable.fallback?.(layers.home),
        ]),
      ) as ConfigValues<Table>,
    optional,
    defaulted: (variable) => optional(variable) ?? variable.fallback(layers.home),
    isWritten(variable) {
      const { from } = readVariable(variable, layers).origin;
      return from !== 'unset' && from !== 'default';
    },
  };
}
