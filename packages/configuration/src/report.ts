/**
 * What is said about the variables of a service: their state and origin, secrets in open files, names that nobody knows. A secret is
 * reported as set or unset only. An invalid value is not shown either, since it may be a secret in the wrong place.
 *
 * @module
 */
import type { ConfigRemark, ConfigVariable } from './kinds.ts';
import type { ConfigLayers, Layer } from './layers.ts';
import { type Origin, readVariable } from './reader.ts';

export type VariableReport = {
  readonly variable: string;
  readonly role: string;
  readonly secret: boolean;
  readonly state: 'set' | 'default' | 'unset' | 'wrong';
  /** Origin in words, with the path of a file. */
  readonly from: string;
  /** Absent for a secret. */
  readonly value?: string;
};

/** One row of the report. */
export function describeVariable(
  variable: ConfigVariable<unknown>,
  layers: ConfigLayers,
): VariableReport {
  const { name, role, credential } = variable;
  const { origin, value, raw, problems } = readVariable(variable, layers);
  const isSecret = credential !== undefined;
  const common = {
    variable: name,
    role,
    secret: isSecret,
    state: findState(origin, problems),
    from: describeOrigin(origin, layers),
  };
  // The text as written, or a default, which is text or a number.
  const isDefault = typeof value === 'string' || typeof value === 'number';
  const shown = raw === undefined && isDefault ? String(value) : raw?.reveal();
  return isSecret || value === undefined || shown === undefined
    ? common
    : { ...common, value: shown };
}

function findState({ from }: Origin, problems: readonly ConfigRemark[]): VariableReport['state'] {
  if (from === 'unset' || from === 'default') {
    return from;
  }
  return problems.length === 0 ? 'set' : 'wrong';
}

function describeOrigin(origin: Origin, layers: ConfigLayers): string {
  switch (origin.from) {
    case 'environment':
    case 'file':
      return describeLayer(origin.from, layers);
    case 'secret-file': {
      const path = origin.path === undefined ? '' : `=${origin.path}`;
      return `${origin.variable}${path} (${describeLayer(origin.layer, layers)})`;
    }
    case 'default':
      return 'default';
    case 'unset':
      return '';
  }
}

function describeLayer(layer: Layer, { filePath }: ConfigLayers): string {
  return layer === 'environment' || filePath === undefined ? layer : `file ${filePath}`;
}

/** Every name of a table, `_FILE` forms included. */
export function listNames(variables: readonly ConfigVariable<unknown>[]): readonly string[] {
  return variables.flatMap(({ name, credential }) =>
    credential === undefined ? [name] : [name, `${name}_FILE`],
  );
}

/** Secrets in files that every user of this machine can read. No refusal, because mounted secrets often have this mode. */
export function findOpenSecrets(
  variables: readonly ConfigVariable<unknown>[],
  layers: ConfigLayers,
): ConfigRemark[] {
  const { filePath, isWorldReadable } = layers;
  const isFileOpen = filePath !== undefined && isWorldReadable(filePath);
  return variables.flatMap((variable) => {
    const { origin, raw } = readVariable(variable, layers);
    if (variable.credential === undefined || raw === undefined) {
      return [];
    }
    if (origin.from === 'secret-file' && origin.path !== undefined) {
      return isWorldReadable(origin.path) ? [warnOfOpenFile(origin.variable, 'names')] : [];
    }
    return origin.from === 'file' && isFileOpen ? [warnOfOpenFile(variable.name, 'is in')] : [];
  });
}

function warnOfOpenFile(variable: string, verb: 'names' | 'is in'): ConfigRemark {
  return {
    variable,
    message: `${variable} ${verb} a file that every user of this machine can read; chmod it to 600 or 640`,
  };
}

/**
 * Unknown variables with our prefix trigger a warning suggesting the closest name. Most are typing errors that nobody
 * would notice otherwise.
 */
export function findUnknownVariables(
  names: Iterable<string>,
  variables: readonly ConfigVariable<unknown>[],
  prefixes: readonly string[],
): readonly { readonly variable: string; readonly hint: string }[] {
  const known = listNames(variables);
  const findPrefix = (name: string): string | undefined =>
    prefixes.find((prefix) => name.toUpperCase().startsWith(prefix));
  return [...new Set(names)]
    .filter((name) => findPrefix(name) !== undefined && !known.includes(name))
    .sort()
    .map((variable) => {
      const nearest = findNearest(variable, findPrefix(variable)?.length ?? 0, known);
      return { variable, hint: nearest === undefined ? '' : `; did you mean ${nearest}?` };
    });
}

/** The known name with the smallest edit distance, if that distance is small for the length of the name. */
function findNearest(
  name: string,
  prefixLength: number,
  known: readonly string[],
): string | undefined {
  const upper = name.toUpperCase();
  const length = upper.length - prefixLength;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(length / 3)) + 1;
  for (const candidate of known) {
    const distance = computeEditDistance(upper, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The edit distance of two texts: insertions, deletions and replacements. */
function computeEditDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      const inserted = (next[column] ?? 0) + 1;
      const deleted = (row[column + 1] ?? 0) + 1;
      next.push(Math.min(replaced, inserted, deleted));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
