/**
 * The configuration of the agent (README.md, "Configuration"). This is the only file that reads `process.env`.
 * {@link parseConfig} reports all problems at once, by variable name and never by value.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ConfigRemark } from '@pool/configuration';
import { type ConfigFile, type ConfigSource, createConfigReader } from '@pool/configuration';
import { createConfigurationError, type PoolError } from '@pool/core';
import { createLayers, readConfigFile } from './files.ts';
import {
  type HolderSettings,
  type KeepingSettings,
  type OnboardSettings,
  readHolder,
} from './holder-config.ts';
import { type Config, resolveConfig } from './resolve.ts';
import { variables } from './variables.ts';

export type { HolderSettings, KeepingSettings, OnboardSettings } from './holder-config.ts';
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
  const source = createProcessSource();
  const layers = createLayers(source, readConfigFile(source, envFile));
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const read = createConfigReader(layers, problems);
  const port = read.defaulted(variables.port);
  const host = read.defaulted(variables.host);
  if (port === 0) {
    const { name } = variables.port;
    problems.push({ variable: name, message: `${name} must name the port the agent listens on` });
  }
  if (problems.length > 0) {
    throw createConfigError(problems);
  }
  return { home: layers.home, host, port };
}

/**
 * The configuration of the holder's identity. Needs no variable of a platform, because it is used before there is one.
 * @throws PoolError `invalid_configuration` naming every problem
 */
export function readHolderSettings(envFile?: string): HolderSettings {
  return readOnboardSettings(envFile);
}

/** What `onboard` reads besides: the host key, and the place of its files. @throws like {@link readHolderSettings} */
export function readOnboardSettings(envFile?: string): OnboardSettings {
  return readKeepingSettings(envFile);
}

/** What `backup` and `rotate-viewing-key` read: the holder, and where the agent's state is. @throws like {@link readHolderSettings} */
export function readKeepingSettings(envFile?: string): KeepingSettings {
  const source = createProcessSource();
  const layers = createLayers(source, readConfigFile(source, envFile));
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const read = createConfigReader(layers, problems);
  const settings = {
    home: layers.home,
    chain: read.optional(variables.chain),
    chainsFile: resolve(read.defaulted(variables.chainsFile)),
    onboardPrivateKey: read.optional(variables.onboardPrivateKey),
    artifactsDir: read.optional(variables.artifactsDir),
    artifactsManifest: read.optional(variables.artifactsManifest),
    jobStore: read.defaulted(variables.jobStore),
    spendJournal: read.defaulted(variables.spendJournal),
    fingerprintKey: read.optional(variables.fingerprintKey),
    employerId: read.optional(variables.employerId),
    holder: readHolder(read, layers, problems),
    layers,
  };
  if (problems.length > 0) {
    throw createConfigError(problems);
  }
  return settings;
}

/** @param problems - at least one */
export function createConfigError(problems: readonly ConfigRemark[]): PoolError {
  return createConfigurationError(problems.map(({ message }) => message));
}
