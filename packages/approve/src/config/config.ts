/**
 * The configuration of the gate. This is its only file that reads `process.env`. {@link parseGateConfig} reports all problems at once, by the names of variables and never by value.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  type ConfigLayers,
  type ConfigVariable,
  type DefaultedVariable,
  findText,
  type LogLevel,
  readVariable,
} from '@pool/configuration';
import { createConfigurationError, isLoopbackHost, type Secret } from '@pool/core';
import { type ConfigSource, createLayers, findModeProblem, readConfigFile } from './env-file.ts';
import { type CustodianName, type FaultPoint, variables } from './variables.ts';

export type CustodianAConfig = {
  readonly kind: 'custodian_a';
  readonly url: URL;
  readonly origin: string;
  readonly headerPrefix: string;
  readonly serviceToken: Secret;
  readonly credentialId: string;
  /** PKCS#8 PEM. */
  readonly serviceKey: Secret;
  readonly userId: string;
  readonly webhookSecret: Secret | undefined;
  readonly pollSeconds: number;
};

export type CustodianBConfig = {
  readonly kind: 'custodian_b';
  readonly url: URL;
  readonly apiKey: Secret;
  readonly apiSecret: Secret<KeyObject>;
  readonly callbackUrl: URL;
  readonly callbackKey: Secret<KeyObject>;
  readonly cosignerPublicKey: KeyObject;
  readonly signerId: string;
  readonly cosignerId: string;
};

/** What every command needs. */
export type GatePlaces = {
  /** The gate's directory. */
  readonly home: string;
  readonly policyFile: string;
  readonly chainsFile: string;
  /** With which the contracts of each pool are compared. Undefined: the development keys. */
  readonly keys: { readonly folder: string; readonly manifest: string } | undefined;
  readonly logLevel: LogLevel;
  readonly voteLimitSeconds: number;
};

export type GateConfig = GatePlaces & {
  readonly custodian: CustodianAConfig | CustodianBConfig;
  readonly manifestToken: Secret;
  readonly retentionDays: number;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly metricsToken: Secret | undefined;
  /** Only under `NODE_ENV=test`. */
  readonly fault: FaultPoint | undefined;
};

/** This process's environment, files and user. */
export function createProcessSource(): ConfigSource {
  return {
    env: process.env,
    // Standard input by its descriptor: as another user, or when it is a socket, its path cannot be opened.
    readFile: (path) => readFileSync(isStandardInput(path) ? 0 : path, 'utf8'),
    // Windows has no such bits.
    readMode: (path) =>
      isStandardInput(path) || process.platform === 'win32' ? undefined : statSync(path).mode,
    homeDir: homedir(),
  };
}

function isStandardInput(path: string): boolean {
  return path === '-' || path === '/dev/stdin';
}

/** Variables of the other process. The gate refuses to see them: one environment file for both would share their secrets. */
const foreignName = /^(?:DISBURSE|POOL_GATE|ONBOARD)_[A-Z0-9_]+$|^AGENT_ENV$/;

/** @throws PoolError `invalid_configuration` naming every problem */
export function parseGateConfig(source: ConfigSource, envFile?: string): GateConfig {
  const read = createReader(source, envFile);
  const custodianName = read.optional(variables.custodian);
  const custodian = readCustodian(read, custodianName);
  const config = {
    ...readPlaces(read),
    custodian,
    manifestToken: read.optional(variables.manifestToken),
    retentionDays: read.defaulted(variables.retentionDays),
    host: read.defaulted(variables.host),
    port: read.defaulted(variables.port),
    allowedHosts: [...read.defaulted(variables.allowedHosts), ...listOwnHosts(custodian)],
    metricsToken: read.optional(variables.metricsToken),
    fault: readFault(read),
  };
  checkBind(read, config.host);
  checkTokens(read, config);
  if (custodianName === 'custodian_b') {
    checkRetries(read, config.voteLimitSeconds);
  }
  read.end();
  // No problem was found, so no required value is missing.
  return config as GateConfig;
}

/** The directory and the files of the gate, for commands that need no custodian. @throws PoolError `invalid_configuration` */
export function parseGatePlaces(source: ConfigSource, envFile?: string): GatePlaces {
  const read = createReader(source, envFile);
  const places = readPlaces(read);
  read.end();
  return places;
}

function readPlaces(read: Reader): GatePlaces {
  return {
    home: read.home,
    policyFile: resolve(read.defaulted(variables.policyFile)),
    chainsFile: resolve(read.defaulted(variables.chainsFile)),
    keys: readKeys(read),
    logLevel: read.defaulted(variables.logLevel),
    voteLimitSeconds: read.defaulted(variables.voteLimitSeconds),
  };
}

function readKeys(read: Reader): GatePlaces['keys'] {
  const folder = read.optional(variables.artifactsDir);
  const manifest = read.optional(variables.artifactsManifest);
  if (folder !== undefined && manifest !== undefined) {
    return { folder: resolve(folder), manifest: resolve(manifest) };
  }
  if (folder !== undefined || manifest !== undefined) {
    read.report(
      `${variables.artifactsDir.name} and ${variables.artifactsManifest.name} name one set of keys; set both or none`,
    );
  }
  return undefined;
}

function readFault(read: Reader): FaultPoint | undefined {
  const fault = read.optional(variables.fault);
  return read.isTest ? fault : undefined;
}

type Draft<T> = { readonly [K in keyof T]: T[K] | undefined };

function readCustodian(
  read: Reader,
  name: CustodianName | undefined,
): Draft<CustodianAConfig> | Draft<CustodianBConfig> | undefined {
  switch (name) {
    case 'custodian_a':
      return readCustodianA(read);
    case 'custodian_b':
      return readCustodianB(read);
    case undefined:
      return undefined;
  }
}

/** The co-signer of custodian B calls the gate by this name, and a proxy may keep it. */
function listOwnHosts(
  custodian: Draft<CustodianAConfig> | Draft<CustodianBConfig> | undefined,
): readonly string[] {
  return custodian?.kind === 'custodian_b' && custodian.callbackUrl !== undefined
    ? [custodian.callbackUrl.hostname]
    : [];
}

function readCustodianA(read: Reader): Draft<CustodianAConfig> {
  const url = read.optional(variables.aUrl);
  return {
    kind: 'custodian_a',
    url,
    origin: (read.optional(variables.aOrigin) ?? url)?.origin,
    headerPrefix: read.defaulted(variables.aHeaderPrefix),
    serviceToken: read.optional(variables.aServiceToken),
    credentialId: read.optional(variables.aCredentialId),
    serviceKey: read.optional(variables.aServiceKey),
    userId: read.optional(variables.aUserId),
    webhookSecret: read.optional(variables.aWebhookSecret),
    pollSeconds: read.defaulted(variables.aPollSeconds),
  };
}

function readCustodianB(read: Reader): Draft<CustodianBConfig> {
  return {
    kind: 'custodian_b',
    url: read.optional(variables.bUrl),
    apiKey: read.optional(variables.bApiKey),
    apiSecret: read.optional(variables.bApiSecret),
    callbackUrl: read.optional(variables.bCallbackUrl),
    callbackKey: read.optional(variables.bCallbackPrivateKey),
    cosignerPublicKey: read.optional(variables.bCosignerPublicKey),
    signerId: read.optional(variables.bSignerId),
    cosignerId: read.optional(variables.bCosignerId),
  };
}

function checkBind(read: Reader, host: string): void {
  if (!isLoopbackHost(host) && read.optional(variables.allowPublicBind) === undefined) {
    read.report(
      `${variables.host.name} is not a loopback address; use a tunnel, or set ${variables.allowPublicBind.name}=behind-tls-proxy`,
    );
  }
}

function checkTokens(
  read: Reader,
  {
    manifestToken,
    metricsToken,
  }: { manifestToken?: Secret | undefined; metricsToken?: Secret | undefined },
): void {
  if (metricsToken !== undefined && metricsToken.reveal() === manifestToken?.reveal()) {
    read.report(
      `${variables.metricsToken.name} equals ${variables.manifestToken.name}; give each its own`,
    );
  }
}

/** A co-signer that gives up before the vote may end would end requests that people still think about. */
function checkRetries(read: Reader, voteLimitSeconds: number): void {
  const seconds = read.defaulted(variables.bRetrySeconds);
  const windowSeconds = Math.min(seconds * read.defaulted(variables.bRetryTimes), 172_800);
  if (voteLimitSeconds > windowSeconds) {
    read.report(
      `${variables.voteLimitSeconds.name} is ${voteLimitSeconds}, but the co-signer asks again for ${windowSeconds} seconds only; lower it here and at the agent, or let the provider raise the retries and set ${variables.bRetrySeconds.name} and ${variables.bRetryTimes.name}`,
    );
  }
}

type Reader = {
  readonly home: string;
  readonly isTest: boolean;
  /** Undefined: it is unset or wrong. A required variable that is unset is a problem. */
  optional<T>(variable: ConfigVariable<T>): T | undefined;
  defaulted<T>(variable: DefaultedVariable<T>): T;
  report(problem: string): void;
  /** @throws PoolError `invalid_configuration` with every problem */
  end(): void;
};

function createReader(source: ConfigSource, envFile: string | undefined): Reader {
  const layers = createLayers(source, readConfigFile(source, envFile));
  const problems = [
    ...layers.fileProblems.map(({ message }) => message),
    ...findForeignNames(layers),
    ...findUnknownNames(layers),
    ...findOpenFile(source, layers),
  ];

  function optional<T>(variable: ConfigVariable<T>): T | undefined {
    const { origin, value, problems: found } = readVariable(variable, layers);
    const open =
      origin.from === 'secret-file' && origin.path !== undefined
        ? findModeProblem(source, origin.path)
        : undefined;
    if (origin.from === 'secret-file' && open !== undefined) {
      problems.push(`${origin.variable} names a file that is not private: ${open}`);
      return undefined;
    }
    problems.push(...found.map(({ message }) => message));
    return value;
  }

  return {
    home: layers.home,
    isTest: findText(layers, 'NODE_ENV')?.text === 'test',
    optional,
    defaulted: (variable) => optional(variable) ?? variable.fallback(layers.home),
    report: (problem) => void problems.push(problem),
    end() {
      if (problems.length > 0) {
        throw createConfigurationError(problems);
      }
    },
  };
}

const knownNames: ReadonlySet<string> = new Set(
  Object.values<ConfigVariable<unknown>>(variables).flatMap(({ name, credential }) =>
    credential === undefined ? [name] : [name, `${name}_FILE`],
  ),
);

/** A misspelt limit would be the default without a word. */
function findUnknownNames({ env, file }: ConfigLayers): readonly string[] {
  const names = [...Object.keys(env), ...Object.keys(file)].filter(
    (name) => name.startsWith('APPROVE_') && !knownNames.has(name),
  );
  return [...new Set(names)].map(
    (name) =>
      `${name} is no variable of the gate; correct its name, or remove it (README.md of @pool/approve lists them all)`,
  );
}

/** The configuration file itself, where a secret is written in it. */
function findOpenFile(source: ConfigSource, { file, filePath }: ConfigLayers): readonly string[] {
  const hasSecret = Object.values<ConfigVariable<unknown>>(variables).some(
    ({ name, credential }) => credential !== undefined && file[name] !== undefined,
  );
  const problem =
    hasSecret && filePath !== undefined ? findModeProblem(source, filePath) : undefined;
  return problem === undefined ? [] : [problem];
}

function findForeignNames({ env, file }: ConfigLayers): readonly string[] {
  const names = [...Object.keys(env), ...Object.keys(file)].filter(
    (name) => foreignName.test(name) && findText({ env, file }, name) !== undefined,
  );
  return [...new Set(names)].map(
    (name) =>
      `${name} is a variable of the agent; the gate must not have it: give the gate an environment and a file of its own`,
  );
}
