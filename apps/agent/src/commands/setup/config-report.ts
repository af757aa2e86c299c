/**
 * The report of `disburse-agent config check`: each variable, whether it is set, its origin and its problems. A secret
 * is reported as set or unset only. An invalid value is not shown either, since it may be a secret in the wrong place.
 *
 * @module
 */

import {
  type ConfigFile,
  type ConfigLayers,
  type ConfigRemark,
  type ConfigSource,
  describeVariable,
  readChainsFile,
  readVariable,
  type VariableReport,
} from '@pool/configuration';
import { isPoolError } from '@pool/core';
import type { Finding } from '@pool/operations';
import { askCustody, readTenancyPin, tenancyPinPath } from '@pool/operations';
import { exitCodes, type Output } from '@pool/pay-run';
import {
  type Config,
  chooseConfigFile,
  createLayers,
  createProcessSource,
  parseConfig,
  readConfigFile,
} from '../../config/config.ts';
import { resolveConfig } from '../../config/resolve.ts';
import { allVariables, variables } from '../../config/variables.ts';
import { describeRules, loadReleasePolicy } from '../../services/releases.ts';
import { listCustodyProbes } from '../../services/signers/custody-probes.ts';

export type ConfigReport = {
  readonly ok: boolean;
  readonly file: { readonly path: string; readonly isPresent: boolean };
  readonly variables: readonly VariableReport[];
  /** Whether the funder's signer answers. Absent: it is a key of this process, or the configuration has problems. */
  readonly signer?: Finding;
  /** Whether the holder's signer answers. Absent: as above. */
  readonly holderSigner?: Finding;
  /** Whether the approve process answers and accepts the token. Absent: no custodian is configured. */
  readonly approve?: Finding;
  /** The rules of the release policy, in words. Absent: there is no policy, or the configuration has problems. */
  readonly releaseRules?: readonly string[];
  readonly warnings: readonly ConfigRemark[];
  readonly problems: readonly ConfigRemark[];
};

/** @returns the exit code */
export async function runConfigCheck(
  { json, envFile }: { readonly json?: boolean; readonly envFile?: string },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const source = createProcessSource();
  const read = createConfigReport(source, envFile);
  const custody = await checkCustody(read, source, envFile);
  const config = read.ok ? parseConfig(source, readConfigFile(source, envFile)) : undefined;
  const report = checkReleasePolicy(custody, config);
  out(json === true ? report : renderConfigReport(report));
  return report.ok ? exitCodes.ok : exitCodes.error;
}

/** @param envFile - path given by `--env-file` */
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
    variables: allVariables.map((variable) => describeVariable(variable, layers)),
    warnings: resolution.warnings,
    problems,
  };
}

/**
 * The report with the answers of those outside this process: the funder's signer, the holder's signer, and the approve process. Each is
 * asked whether it is there and is the configured one, and never for a signature.
 * @param timeoutMs - for each of them
 */
export async function checkCustody(
  report: ConfigReport,
  source: ConfigSource,
  envFile?: string,
  timeoutMs?: number,
): Promise<ConfigReport> {
  if (!report.ok) {
    return report;
  }
  const config = parseConfig(source, readConfigFile(source, envFile));
  if (config.remoteFunder === undefined && config.holder.remote === undefined) {
    return report;
  }
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const answers = await Promise.all(
    listCustodyProbes(config, () => readChainsFile(config.chainsFile)).map((probe) =>
      askCustody(probe, limit),
    ),
  );
  const problems = answers.flatMap(({ problem }) =>
    problem === undefined ? [] : [{ variable: problem.variable, message: problem.message }],
  );
  return {
    ...report,
    ok: problems.length === 0,
    ...Object.fromEntries(answers.map(({ part, finding }) => [part, finding])),
    problems: [...report.problems, ...problems],
  };
}

/**
 * The report with the rules of the release policy, or with what is wrong in its file.
 * @param config - undefined: the configuration has problems
 */
function checkReleasePolicy(report: ConfigReport, config: Config | undefined): ConfigReport {
  if (config?.releasePolicy === undefined) {
    return report;
  }
  try {
    const { chains } = readChainsFile(config.chainsFile);
    const contexts = Object.entries(chains).map(([key, settings]) => [key, { settings }] as const);
    const policy = loadReleasePolicy(config, new Map(contexts));
    return policy === undefined ? report : { ...report, releaseRules: describeRules(policy) };
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    const problem = { variable: variables.releasePolicy.name, message: error.message };
    return { ...report, ok: false, problems: [...report.problems, problem] };
  }
}

/** Not a problem of parsing: an agent with this problem starts, reports it and pays nobody. */
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
            message: `${variable} names another employer than ${tenancyPinPath(layers.home)}: the agent would accept no request. Compare them with "disburse-agent tenancy show"`,
          },
        ];
  } catch (error) {
    if (isPoolError(error)) {
      return [{ variable, message: error.message }];
    }
    throw error;
  }
}

/** Text for the operator: one line per variable, then warnings and problems. */
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
    ...renderCustody(report),
    ...renderReleaseRules(report),
    ...renderRemarks('warnings', warnings),
    ...renderRemarks('problems', problems),
    '',
    report.ok ? 'the agent can start with this configuration' : `${problems.length} problem(s)`,
  ].join('\n');
}

function renderCustody({ signer, holderSigner, approve }: ConfigReport): string[] {
  const lines = Object.entries({
    signer,
    'holder signer': holderSigner,
    'approve process': approve,
  }).flatMap(([label, finding]) =>
    finding === undefined ? [] : [`${label} ${finding.detail.kind}: ${finding.detail.message}`],
  );
  return lines.length === 0 ? [] : ['', ...lines];
}

function renderReleaseRules({ releaseRules = [] }: ConfigReport): string[] {
  return releaseRules.length === 0
    ? []
    : ['', 'release policy:', ...releaseRules.map((rule) => `- ${rule}`)];
}

function renderRemarks(title: string, remarks: readonly ConfigRemark[]): string[] {
  return remarks.length === 0
    ? []
    : ['', `${title}:`, ...remarks.map(({ message }) => `- ${message}`)];
}
