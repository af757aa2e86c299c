/**
 * The configuration of the gate. This is its only file that reads `process.env`. {@link parseGateConfig} reports all problems at once, by the names of variables and never by value.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  type ConfigLayers,
  type ConfigVariable,
  type DefaultedVariable,
  findText,
  listNames,
  readVariable,
} from '@pool/configuration';
import { createConfigurationError, isLoopbackHost } from '@pool/core';
import { type ConfigSource, createLayers, findModeProblem, readConfigFile } from './env-file.ts';
import { type CustodianName, type FaultPoint, variables } from './variables.ts';

export type CustodianAConfig = ReturnType<typeof readCustodianA>;
export type CustodianBConfig = ReturnType<typeof readCustodianB>;
/** What every command needs. */
export type GatePlaces = ReturnType<typeof readPlaces>;
export type GateConfig = ReturnType<typeof parseGateConfig>;

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
export function parseGateConfig(source: ConfigSource, envFile?: string) {
  const read = createReader(source, envFile);
  const custodianName = read.required(variables.custodian);
  const custodian = readCustodian(read, custodianName);
  const config = {
    ...readPlaces(read),
    custodian,
    manifestToken: read.required(variables.manifestToken),
    retentionDays: read.defaulted(variables.retentionDays),
    host: read.defaulted(variables.host),
    port: read.defaulted(variables.port),
    allowedHosts: [...read.defaulted(variables.allowedHosts), ...listOwnHosts(read, custodianName)],
    metricsToken: read.optional(variables.metricsToken),
    fault: readFault(read),
  } as const;
  checkBind(read, config.host);
  checkTokens(read);
  if (custodianName === 'custodian_b') {
    checkRetries(read, config.voteLimitSeconds);
  }
  read.end();
  return config;
}

/** The directory and the files of the gate, for commands that need no custodian. @throws PoolError `invalid_configuration` */
export function parseGatePlaces(source: ConfigSource, envFile?: string): GatePlaces {
  const read = createReader(source, envFile);
  const places = readPlaces(read);
  read.end();
  return places;
}

function readPlaces(read: Reader) {
  return {
    /** The gate's directory. */
    home: read.home,
    policyFile: resolve(read.defaulted(variables.policyFile)),
    chainsFile: resolve(read.defaulted(variables.chainsFile)),
    /** With which the contracts of each pool are compared. Undefined: the development keys. */
    keys: readKeys(read),
    logLevel: read.defaulted(variables.logLevel),
    voteLimitSeconds: read.defaulted(variables.voteLimitSeconds),
  } as const;
}

function readKeys(
  read: Reader,
): { readonly folder: string; readonly manifest: string } | undefined {
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

/** Only under `NODE_ENV=test`. */
function readFault(read: Reader): FaultPoint | undefined {
  const fault = read.optional(variables.fault);
  return read.isTest ? fault : undefined;
}

/** Without a custodian, nothing is read, and `end` throws. */
function readCustodian(read: Reader, name: CustodianName): CustodianAConfig | CustodianBConfig {
  switch (name) {
    case 'custodian_a':
      return readCustodianA(read);
    case 'custodian_b':
      return readCustodianB(read);
  }
}

/** The co-signer of custodian B calls the gate by this name, and a proxy may keep it. */
function listOwnHosts(read: Reader, name: CustodianName): readonly string[] {
  const url = name === 'custodian_b' ? read.optional(variables.bCallbackUrl) : undefined;
  return url === undefined ? [] : [url.hostname];
}

function readCustodianA(read: Reader) {
  const origin = read.optional(variables.aOrigin) ?? read.optional(variables.aUrl);
  return {
    kind: 'custodian_a',
    url: read.required(variables.aUrl),
    origin: origin?.origin ?? '',
    headerPrefix: read.defaulted(variables.aHeaderPrefix),
    serviceToken: read.required(variables.aServiceToken),
    credentialId: read.required(variables.aCredentialId),
    /** PKCS#8 PEM. */
    serviceKey: read.required(variables.aServiceKey),
    userId: read.required(variables.aUserId),
    webhookSecret: read.optional(variables.aWebhookSecret),
    pollSeconds: read.defaulted(variables.aPollSeconds),
  } as const;
}

function readCustodianB(read: Reader) {
  return {
    kind: 'custodian_b',
    url: read.required(variables.bUrl),
    apiKey: read.required(variables.bApiKey),
    apiSecret: read.required(variables.bApiSecret),
    callbackUrl: read.required(variables.bCallbackUrl),
    callbackKey: read.required(variables.bCallbackPrivateKey),
    cosignerPublicKey: read.required(variables.bCosignerPublicKey),
    signerId: read.required(variables.bSignerId),
    cosignerId: read.required(variables.bCosignerId),
  } as const;
}

function checkBind(read: Reader, host: string): void {
  if (!isLoopbackHost(host) && read.optional(variables.allowPublicBind) === undefined) {
    read.report(
      `${variables.host.name} is not a loopback address; use a tunnel, or set ${variables.allowPublicBind.name}=behind-tls-proxy`,
    );
  }
}

function checkTokens(read: Reader): void {
  const metricsToken = read.optional(variables.metricsToken);
  const manifestToken = read.optional(variables.manifestToken);
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
  /** `end` throws if there is none. */
  required<T>(variable: ConfigVariable<T>): T;
  defaulted<T>(variable: DefaultedVariable<T>): T;
  report(problem: string): void;
  /** @throws PoolError `invalid_configuration` with every problem */
  end(): void;
};

function createReader(source: ConfigSource, envFile: string | undefined): Reader {
  const layers = createLayers(source, readConfigFile(source, envFile));
  // A variable may be read twice.
  const problems = new Set([
    ...layers.fileProblems.map(({ message }) => message),
    ...findForeignNames(layers),
    ...findUnknownNames(layers),
    ...findOpenFile(source, layers),
  ]);

  function optional<T>(variable: ConfigVariable<T>): T | undefined {
    const { origin, value, problems: found } = readVariable(variable, layers);
    const open =
      origin.from === 'secret-file' && origin.path !== undefined
        ? findModeProblem(source, origin.path)
        : undefined;
    if (origin.from === 'secret-file' && open !== undefined) {
      problems.add(`${origin.variable} names a file that is not private: ${open}`);
      return undefined;
    }
    for (const { message } of found) {
      problems.add(message);
    }
    return value;
  }

  return {
    home: layers.home,
    isTest: findText(layers, 'NODE_ENV')?.text === 'test',
    optional,
    required: <T>(variable: ConfigVariable<T>) => optional(variable) as T,
    defaulted: (variable) => optional(variable) ?? variable.fallback(layers.home),
    report: (problem) => void problems.add(problem),
    end() {
      if (problems.size > 0) {
        throw createConfigurationError([...problems]);
      }
    },
  };
}

const knownNames = new Set(listNames(Object.values<ConfigVariable<unknown>>(variables)));

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
