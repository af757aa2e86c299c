/**
 * The configuration of the agent (README.md, "Configuration"). This is the only file that reads `process.env`.
 * {@link parseConfig} reports all problems at once, by variable name and never by value.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  type ConfigFile,
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  type ConfigSource,
  createConfigReader,
} from '@pool/configuration';
import { createConfigurationError, type PoolError } from '@pool/core';
import { createLayers, readConfigFile } from './files.ts';
import { type KeepingSettings, keepingVariables, readHolder } from './holder-config.ts';
import { type Config, resolveConfig } from './resolve.ts';
import { variables } from './variables.ts';

export type { KeepingSettings } from './holder-config.ts';
export {
  type AgentFaultPoint,
  agentFaultPoints,
  employerIdSchema,
} from './kinds.ts';
export { type Config, type GateConfig, isSameSecret } from './resolve.ts';

/** What a command needs to find the running agent. */
export type AgentAddress = { readonly home: string; readonly host: string; readonly port: number };

/** This process's environment, files and user. */
export function createProcessSource(): ConfigSource {
  return {
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    homeDir: homedir(),
    // On Windows access lists decide, and the mode does not show them.
    ...(process.platform === 'win32' ? {} : { isWorldReadable: isReadByOthers }),
  };
}

function isReadByOthers(path: string): boolean {
  try {
    return (statSync(path).mode & 0o004) !== 0;
  } catch {
    return false;
  }
}

/**
 * Reads the configuration of this process: the environment, and the file `--env-file`, else `$AGENT_ENV`, else
 * `agent.env` in the agent directory.
 */
export function readConfig(envFile?: string): Config {
  const source = createProcessSource();
  return parseConfig(source, readConfigFile(source, envFile));
}

/** @throws PoolError `invalid_configuration` naming every problem */
export function parseConfig(
  source: ConfigSource,
  file: Pick<ConfigFile, 'values'> & Partial<ConfigFile>,
): Config {
  const { config, problems } = resolveConfig(createLayers(source, file));
  if (config === undefined) {
    throw createConfigError(problems);
  }
  return config;
}

/** The address of the running agent, for the commands that call it. Needs no credential. */
export function readAgentAddress(envFile?: string): AgentAddress {
  return readSettings(envFile, (read, { home }, problems) => {
    const { port, host } = read.all({ port: variables.port, host: variables.host });
    if (port === 0) {
      const { name } = variables.port;
      problems.push({ variable: name, message: `${name} must name the port the agent listens on` });
    }
    return { home, host, port };
  });
}

/**
 * The configuration of the holder and of its agent's state. Needs no variable of a platform, because it is used before there is one.
 * @throws PoolError `invalid_configuration` naming every problem
 */
export function readKeepingSettings(envFile?: string): KeepingSettings {
  return readSettings(envFile, (read, layers, problems) => {
    const values = read.all(keepingVariables);
    return {
      ...values,
      home: layers.home,
      chainsFile: resolve(values.chainsFile),
      holder: readHolder(read, layers, problems),
      layers,
    };
  });
}

/**
 * The settings of a command that needs a part of the configuration only.
 * @throws PoolError `invalid_configuration` naming every problem
 */
export function readSettings<T>(
  envFile: string | undefined,
  readThem: (read: ConfigReader, layers: ConfigLayers, problems: ConfigRemark[]) => T,
): T {
  const source = createProcessSource();
  const layers = createLayers(source, readConfigFile(source, envFile));
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const settings = readThem(createConfigReader(layers, problems), layers, problems);
  if (problems.length > 0) {
    throw createConfigError(problems);
  }
  return settings;
}

function createConfigError(problems: readonly ConfigRemark[]): PoolError {
  return createConfigurationError(problems.map(({ message }) => message));
}
