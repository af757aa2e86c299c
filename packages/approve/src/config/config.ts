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
  type ConfigReader,
  type ConfigRemark,
  type ConfigVariable,
  createConfigReader,
  findText,
  type Kind,
  listNames,
  readVariable,
} from '@pool/configuration';
import { createConfigurationError, isLoopbackHost } from '@pool/core';
import { startTracing } from '@pool/tracing';
import { type ConfigSource, createLayers, findModeProblem, readConfigFile } from './gate-home.ts';
import { type CustodianName, variables } from './variables.ts';

export type CustodianAConfig = ReturnType<typeof readCustodianA>;
export type CustodianBConfig = ReturnType<typeof readCustodianB>;
/** What every command needs. */
export type GatePlaces = ReturnType<typeof readPlaces>;
export type GateConfig = ReturnType<typeof parseGateConfig>;

/** The standard variables of OpenTelemetry are read by its own SDK. */
export async function startGateTracing(): Promise<(() => Promise<void>) | undefined> {
  return await startTracing(process.env, 'pool-approve');
}

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
  return readWith(source, envFile, (read) => {
    const { allowPublicBind, manifestToken, metricsToken, host } = variables.all;
    const { custodian: name, retentionDays, port, allowedHosts: names } = variables.all;
    const given = read.all({ name, names, proxy: allowPublicBind });
    const values = read.all({ retentionDays, host, port, manifestToken, metricsToken });
    const places = readPlaces(read);
    const custodian = readCustodian(read, given.name, places.voteLimitSeconds);
    const fault = read.optional(variables.tests.fault);
    if (!isLoopbackHost(values.host) && given.proxy === undefined) {
      read.report(
        `${host.name} is not a loopback address; use a tunnel, or set ${allowPublicBind.name}=behind-tls-proxy`,
      );
    }
    const token = read.optional(metricsToken)?.reveal();
    if (token !== undefined && token === read.optional(manifestToken)?.reveal()) {
      read.report(`${metricsToken.name} equals ${manifestToken.name}; give each its own`);
    }
    return {
      ...places,
      ...values,
      custodian,
      // The co-signer of custodian B calls the gate by this name, and a proxy may keep it.
      allowedHosts: [...given.names, ...listOwnHosts(read, given.name)],
      /** Only under `NODE_ENV=test`. */
      fault: read.isTest ? fault : undefined,
    } as const;
  });
}

/** The directory and the files of the gate, for commands that need no custodian. @throws PoolError `invalid_configuration` */
export function parseGatePlaces(source: ConfigSource, envFile?: string): GatePlaces {
  return readWith(source, envFile, readPlaces);
}

function readPlaces(read: Reader) {
  const { policyFile, chainsFile, logLevel, voteLimitSeconds } = variables.all;
  const places = read.all({ policyFile, chainsFile, logLevel, voteLimitSeconds });
  return {
    ...places,
    /** The gate's directory. */
    home: read.home,
    policyFile: resolve(places.policyFile),
    chainsFile: resolve(places.chainsFile),
    /** With which the contracts of each pool are compared. Undefined: the development keys. */
    keys: readKeys(read),
  } as const;
}

function readKeys(
  read: Reader,
): { readonly folder: string; readonly manifest: string } | undefined {
  const { artifactsDir, artifactsManifest } = variables.all;
  const folder = read.optional(artifactsDir);
  const manifest = read.optional(artifactsManifest);
  if (folder !== undefined && manifest !== undefined) {
    return { folder: resolve(folder), manifest: resolve(manifest) };
  }
  if (folder !== undefined || manifest !== undefined) {
    read.report(
      `${artifactsDir.name} and ${artifactsManifest.name} name one set of keys; set both or none`,
    );
  }
  return undefined;
}

/** Without a custodian, nothing is read, and its absence is a problem. */
function readCustodian(
  read: Reader,
  name: CustodianName,
  voteLimitSeconds: number,
): CustodianAConfig | CustodianBConfig {
  switch (name) {
    case 'custodian_a':
      return readCustodianA(read);
    case 'custodian_b':
      return readCustodianB(read, voteLimitSeconds);
  }
}

function readCustodianA(read: Reader) {
  const { origin, url } = variables.custodian_a;
  return {
    ...read.all(variables.custodian_a),
    kind: 'custodian_a',
    origin: (read.optional(origin) ?? read.optional(url))?.origin ?? '',
  } as const;
}

/** A co-signer that gives up before the vote may end would end requests that people still think about. */
function readCustodianB(read: Reader, voteLimitSeconds: number) {
  const { retrySeconds, retryTimes, ...values } = read.all(variables.custodian_b);
  const windowSeconds = Math.min(retrySeconds * retryTimes, 172_800);
  if (voteLimitSeconds > windowSeconds) {
    const { retrySeconds: seconds, retryTimes: times } = variables.custodian_b;
    read.report(
      `${variables.all.voteLimitSeconds.name} is ${voteLimitSeconds}, but the co-signer asks again for ${windowSeconds} seconds only; lower it here and at the agent, or let the provider raise the retries and set ${seconds.name} and ${times.name}`,
    );
  }
  return { kind: 'custodian_b', ...values } as const;
}

function listOwnHosts(read: Reader, name: CustodianName): readonly string[] {
  const url = name === 'custodian_b' ? read.optional(variables.custodian_b.callbackUrl) : undefined;
  return url === undefined ? [] : [url.hostname];
}

type Table = Readonly<Record<string, ConfigVariable<unknown>>>;

/** A required variable that is unset is a problem, so nobody sees the values then. */
type Values<TTable> = {
  readonly [TName in keyof TTable]: TTable[TName] extends { readonly kind: Kind<infer T> }
    ? TTable[TName] extends { readonly fallback: unknown } | { readonly isRequired: true }
      ? T
      : T | undefined
    : never;
};

type Reader = Pick<ConfigReader, 'optional'> & {
  readonly home: string;
  readonly isTest: boolean;
  all<TTable extends Table>(table: TTable): Values<TTable>;
  report(problem: string): void;
};

/** @throws PoolError `invalid_configuration` with every problem */
function readWith<T>(
  source: ConfigSource,
  envFile: string | undefined,
  readThem: (read: Reader) => T,
): T {
  const layers = createLayers(source, readConfigFile(source, envFile));
  const remarks: ConfigRemark[] = [...layers.fileProblems];
  const problems = [...findForeignNames(layers), ...findUnknownNames(layers)];
  const reader = createConfigReader(layers, remarks);
  const rows: ConfigVariable<unknown>[] = [];
  const config = readThem({
    home: layers.home,
    isTest: findText(layers, 'NODE_ENV')?.text === 'test',
    optional: reader.optional,
    all<TTable extends Table>(table: TTable) {
      rows.push(...Object.values(table));
      return reader.all(table) as Values<TTable>;
    },
    report: (problem) => void problems.push(problem),
  });
  const open = findOpenFiles(source, layers, rows);
  const all = [...problems, ...open, ...remarks.map(({ message }) => message)];
  if (all.length > 0) {
    throw createConfigurationError(all);
  }
  return config;
}

const everyVariable = Object.values(variables).flatMap((table: Table) => Object.values(table));
const knownNames = new Set(listNames(everyVariable));

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

/** Files with secrets that others can read: those of the variables that are read, and the configuration file if one is written in it. */
function findOpenFiles(
  source: ConfigSource,
  layers: ConfigLayers,
  rows: readonly ConfigVariable<unknown>[],
): readonly string[] {
  const { file, filePath = '' } = layers;
  const hasSecret = everyVariable.some(
    ({ name, credential }) => credential !== undefined && file[name] !== undefined,
  );
  const own = hasSecret ? findModeProblem(source, filePath) : undefined;
  return [
    ...(own === undefined ? [] : [own]),
    ...rows.flatMap((row) => {
      const { origin } = readVariable(row, layers);
      const path = origin.from === 'secret-file' ? origin.path : undefined;
      const open = path === undefined ? undefined : findModeProblem(source, path);
      return origin.from === 'secret-file' && open !== undefined
        ? [`${origin.variable} names a file that is not private: ${open}`]
        : [];
    }),
  ];
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
