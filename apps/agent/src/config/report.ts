/**
 * What `disburse-agent config check` says: each variable, whether it is set, from where, and what is wrong. Of a
 * secret it says only whether it is set; a value that does not hold is not shown either, since it may be a secret in
 * the wrong place.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { readTenancyPin, tenancyPinPath } from '../services/tenancy-pin.ts';
import {
  type ConfigFile,
  type ConfigSource,
  chooseConfigFile,
  createLayers,
  readConfigFile,
} from './layers.ts';
import { type ConfigLayers, findText, type Layer, type Origin, readVariable } from './reader.ts';
import { resolveConfig } from './resolve.ts';
import { allVariables, families, variables } from './schema.ts';
import type { ConfigRemark } from './types.ts';
import type { ConfigVariable } from './variable.ts';

export type VariableReport = {
  readonly variable: string;
  readonly role: string;
  readonly secret: boolean;
  readonly state: 'set' | 'default' | 'unset' | 'wrong';
  /** In words, with the path where a file is meant. */
  readonly from: string;
  /** Never of a secret. */
  readonly value?: string;
};

export type ConfigReport = {
  readonly ok: boolean;
  readonly file: { readonly path: string; readonly isPresent: boolean };
  readonly variables: readonly VariableReport[];
  readonly warnings: readonly ConfigRemark[];
  readonly problems: readonly ConfigRemark[];
};

/** @param envFile - what `--env-file` says */
export function createConfigReport(source: ConfigSource, envFile?: string): ConfigReport {
  const { path } = chooseConfigFile(source, envFile);
  let file: ConfigFile = { path, isPresent: false, values: {}, problems: [] };
  const unreadable: ConfigRemark[] = [];
  try {
    file = readConfigFile(source, envFile);
  } catch (error) {
    unreadable.push({
      variable: envFile === undefined ? 'AGENT_ENV' : '--env-file',
      message: isPoolError(error) ? error.message : `the configuration file ${path} cannot be read`,
    });
  }
  const layers = createLayers(source, file);
  const resolution = resolveConfig(layers);
  const problems = [...unreadable, ...resolution.problems, ...findTenancyProblems(layers)];
  return {
    ok: problems.length === 0,
    file: { path, isPresent: file.isPresent },
    variables: [
      ...allVariables.map((variable) => describeVariable(variable, layers)),
      ...describeFamilies(layers),
    ],
    warnings: resolution.warnings,
    problems,
  };
}

/** Not a problem of parsing: an agent with it starts and says so, instead of paying anybody. */
function findTenancyProblems(layers: ConfigLayers): ConfigRemark[] {
  const variable = variables.employerId.name;
  const configured = readVariable(variables.employerId, layers).value;
  try {
    const pinned = readTenancyPin(layers.home, layers.readFile)?.employerId;
    return pinned === undefined || configured === undefined || pinned === configured
      ? []
      : [
          {
            variable,
            message: `${variable} names another employer than ${tenancyPinPath(layers.home)}: nothing would be accepted. Compare them with "disburse-agent tenancy show"`,
          },
        ];
  } catch (error) {
    if (isPoolError(error)) {
      return [{ variable, message: error.message }];
    }
    throw error;
  }
}

function describeVariable(variable: ConfigVariable<unknown>, layers: ConfigLayers): VariableReport {
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
  // Either as it was written, or a default: text or a number.
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

/** Only those that are set: there is no list of the others. */
function describeFamilies(layers: ConfigLayers): VariableReport[] {
  const names = new Set([...Object.keys(layers.env), ...Object.keys(layers.file)]);
  return [...names].sort().flatMap((name) => {
    const family = families.find(({ prefix }) => name.startsWith(prefix));
    const found = findText(layers, name);
    return family === undefined || found === undefined
      ? []
      : [
          {
            variable: name,
            role: family.role,
            secret: true,
            state: 'set' as const,
            from: describeLayer(found.layer, layers),
          },
        ];
  });
}

/** For people: one line a variable, then warnings and problems. */
export function renderConfigReport(report: ConfigReport): string {
  const { file, variables, warnings, problems } = report;
  const shown = variables.map((row) => [row.variable, row.value ?? row.state, row.from] as const);
  const widths = [0, 1].map((column) =>
    Math.min(48, Math.max(...shown.map((cells) => (cells[column] ?? '').length))),
  );
  const lines = shown.map(([name, value, from]) =>
    `${name.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${from}`.trimEnd(),
  );
  return [
    `configuration file: ${file.path}${file.isPresent ? '' : ' (not read)'}`,
    '',
    ...lines,
    ...renderRemarks('warnings', warnings),
    ...renderRemarks('problems', problems),
    '',
    report.ok ? 'the agent can start with this configuration' : `${problems.length} problem(s)`,
  ].join('\n');
}

function renderRemarks(title: string, remarks: readonly ConfigRemark[]): string[] {
  return remarks.length === 0
    ? []
    : ['', `${title}:`, ...remarks.map(({ message }) => `- ${message}`)];
}
