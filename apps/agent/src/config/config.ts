/**
 * The configuration of the agent (README.md, "Configuration"). This is the only file that reads `process.env`.
 * {@link parseConfig} reports all problems at once, by variable name and never by value.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ConfigValues } from '@pool/configuration';
import {
  type ConfigFile,
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  type ConfigSource,
  createConfigFiles,
  createConfigReader,
  createRemark,
} from '@pool/configuration';
import { createConfigurationError, type PoolError, type Secret } from '@pool/core';
import { observeRequests } from '@pool/http-client';
import { findJobServer } from '@pool/idempotency';
import type { PostgresSettings } from '@pool/storage/postgres';
import { startTracing, traceCall } from '@pool/tracing';
import {
  type HolderConfig,
  type KeepingSettings,
  keepingVariables,
  readHolder,
} from './holder-config.ts';
import { type Config, jobVariables, resolveConfig, toJobs } from './resolve.ts';
import { variables } from './variables.ts';

// The configuration of `send --self-submit`: no variable of a platform, a gate or an agent is needed.

const selfSubmitVariables = {
  nodeEnv: variables.nodeEnv,
  logLevel: variables.logLevel,
  chain: variables.chain,
  chainsFile: variables.chainsFile,
  prover: variables.prover,
  accelerator: variables.accelerator,
  artifactsDir: variables.artifactsDir,
  artifactsManifest: variables.artifactsManifest,
  /** Pays the gas. */
  gasPrivateKey: variables.gasPrivateKey,
};

export type SelfSubmitSettings = ConfigValues<typeof selfSubmitVariables> & {
  readonly home: string;
  readonly isProduction: boolean;
  readonly holder: HolderConfig;
  /** Wei for all gas of one transaction. */
  readonly gasCapWei: bigint;
};

/** 0.05 of the chain's own coin. */
const defaultGasCapWei = 50_000_000_000_000_000n;

/** @throws PoolError `invalid_configuration` naming every problem */
export function readSelfSubmitSettings(envFile?: string): SelfSubmitSettings {
  return readSettings(envFile, (read, layers, problems) => {
    const values = read.all(selfSubmitVariables);
    return {
      ...values,
      home: layers.home,
      isProduction: values.nodeEnv === 'production',
      chainsFile: resolve(values.chainsFile),
      gasCapWei: read.optional(variables.gasMaxCost) ?? defaultGasCapWei,
      holder: readHolder(read, layers, problems),
    };
  });
}

// The configuration of `disburse-agent prover`: it needs no variable of a platform, a chain or a funder.

const proverVariables = {
  nodeEnv: variables.nodeEnv,
  logLevel: variables.logLevel,
  accelerator: variables.accelerator,
  artifactsDir: variables.artifactsDir,
  artifactsManifest: variables.artifactsManifest,
  proverQueue: variables.proverQueue,
  proverQueuePassword: variables.proverQueuePassword,
  proverPrivateKey: variables.proverPrivateKey,
};

export type ProverSettings = ConfigValues<typeof proverVariables> & {
  readonly home: string;
  readonly queue: PostgresSettings;
  /** Opens the inputs of proofs. */
  readonly privateKey: Secret;
};

/** @throws PoolError `invalid_configuration` naming every problem */
export function readProverSettings(envFile?: string): ProverSettings {
  return readSettings(envFile, (read, { home }, problems) => {
    const values = read.all(proverVariables);
    for (const variable of [variables.proverQueue, variables.proverPrivateKey]) {
      if (!read.isWritten(variable)) {
        problems.push(createRemark(variable.name, 'is required'));
      }
    }
    const { proverQueue: url = '', proverQueuePassword: password, proverPrivateKey } = values;
    // Used only if there is no problem.
    const queue = findJobServer({ url, password }) as PostgresSettings;
    return { ...values, home, queue, privateKey: proverPrivateKey as Secret };
  });
}

// The file of the agent's configuration: chosen by `--env-file`, else `$AGENT_ENV`, else `agent.env` in the agent directory.

export const { chooseConfigFile, createLayers, readConfigFile, readEnvFile } = createConfigFiles({
  homeVariable: 'DISBURSE_HOME',
  homeFolder: '.disburse-agent',
  fileVariable: 'AGENT_ENV',
  fileName: 'agent.env',
  ownName: /^(?:DISBURSE|POOL_GATE|ONBOARD|NODE)_[A-Z0-9_]+$/,
});

export type { KeepingSettings } from './holder-config.ts';
export {
  type AgentFaultPoint,
  agentFaultPoints,
} from './kinds.ts';
export type { Config } from './resolve.ts';

/** What a command needs to find the running agent. */
export type AgentAddress = { readonly home: string; readonly host: string; readonly port: number };

/** The standard variables of OpenTelemetry are read by its own SDK. */
export async function startAgentTracing(
  service: string,
): Promise<(() => Promise<void>) | undefined> {
  const stop = await startTracing(process.env, service);
  if (stop !== undefined) {
    observeRequests(traceCall);
  }
  return stop;
}

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
  return readSettings(envFile, readAddress);
}

/** The address of the running agent, and where its jobs and labels are. */
export function readAgentPlace(envFile?: string): AgentAddress & Pick<Config, 'jobs'> {
  return readSettings(envFile, (read, layers, problems) => {
    const address = readAddress(read, layers, problems);
    return { ...address, jobs: toJobs(read.all(jobVariables)) };
  });
}

function readAddress(
  read: ConfigReader,
  { home }: ConfigLayers,
  problems: ConfigRemark[],
): AgentAddress {
  const { port, host } = read.all({ port: variables.port, host: variables.host });
  if (port === 0) {
    problems.push(createRemark(variables.port.name, 'must name the port the agent listens on'));
  }
  return { home, host, port };
}

/**
 * The configuration of the holder and of its agent's state. Needs no variable of a platform, because it is used before there is one.
 * @throws PoolError `invalid_configuration` naming every problem
 */
export function readKeepingSettings(envFile?: string): KeepingSettings {
  return readSettings(envFile, readKeeping);
}

/** What `invite` reads. The platform is an option of the command as well. */
export type InvitingSettings = KeepingSettings & { readonly platformUrl: string | undefined };

/** @throws PoolError `invalid_configuration` naming every problem */
export function readInvitingSettings(envFile?: string): InvitingSettings {
  return readSettings(envFile, (read, layers, problems) => ({
    ...readKeeping(read, layers, problems),
    platformUrl: read.isWritten(variables.platformUrl)
      ? read.optional(variables.platformUrl)
      : undefined,
  }));
}

function readKeeping(
  read: ConfigReader,
  layers: ConfigLayers,
  problems: ConfigRemark[],
): KeepingSettings {
  const values = read.all(keepingVariables);
  return {
    ...values,
    home: layers.home,
    chainsFile: resolve(values.chainsFile),
    holder: readHolder(read, layers, problems),
    layers,
  };
}

/**
 * The settings of a command that needs a part of the configuration only.
 * @throws PoolError `invalid_configuration` naming every problem
 */
function readSettings<T>(
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
