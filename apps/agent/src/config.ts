/**
 * Everything the agent is told from outside (README.md, "Configuration"). The only file
 * that reads `process.env`. {@link parseConfig} is pure and reports all problems at once, by variable name
 * and never by value.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { PoolError, Secret } from '@pool/core';
import { defaultBatchDeadlineSeconds } from '@pool/operations';
import { isLoopbackHost, parseServiceUrl } from '@pool/platform-client';
import { type AgentFaultPoint, agentFaultPoints } from './fault.ts';

/** Credentials of the pool-gate, when they are not vended by bootstrap. */
export type GateConfig = {
  readonly url: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scope: string;
};

export const accelerators = ['auto', 'webgpu', 'cpu'] as const;
export type Accelerator = (typeof accelerators)[number];

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type Config = {
  /** Agent directory, mode 0700. */
  readonly home: string;
  readonly isProduction: boolean;
  readonly logLevel: LogLevel;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Host names requests may be addressed to. */
  readonly allowedHosts: readonly string[];
  readonly platformUrl: string;
  readonly platformToken: Secret;
  /** Opens `GET /metrics` and nothing else. Absent: that route takes the loopback token only. */
  readonly metricsToken: Secret | undefined;
  /** Absent: API keys are not accepted. */
  readonly verifyUrl: string | undefined;
  /** Absent: what bootstrap vends. */
  readonly chain: string | undefined;
  readonly chainsFile: string;
  readonly gate: GateConfig | undefined;
  readonly prover: 'wasm' | 'mock';
  readonly accelerator: Accelerator;
  /** Cache of development keys, or the folder of fetched ones. Absent: the circuits' default cache. */
  readonly artifactsDir: string | undefined;
  /** What pins the fetched keys in `artifactsDir`. Absent: development keys, which are refused in production. */
  readonly artifactsManifest: string | undefined;
  /** Absent: no chain is fundable. */
  readonly funderPrivateKey: Secret | undefined;
  readonly jobStore: string;
  readonly batchDeadlineSeconds: number;
  /** Days after its end for which a job keeps its recipients and seed. */
  readonly retentionDays: number;
  /** Ends the process there; only under NODE_ENV=test. */
  readonly fault: AgentFaultPoint | undefined;
};

/** What one role needs to know about this machine. */
export type ConfigSource = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws when the file cannot be read */
  readonly readFile: (path: string) => string;
  readonly homeDir: string;
};

type Env = Readonly<Record<string, string | undefined>>;

/** Environment over file. The file: `--env-file`, else `$AGENT_ENV`, else `agent.env` in the agent directory. */
export function readConfig(envFile?: string): Config {
  const source = {
    env: process.env,
    readFile: (path: string) => readFileSync(path, 'utf8'),
    homeDir: homedir(),
  };
  return parseConfig(source, readEnvFile(source, envFile));
}

/** Names only what the command line needs to find a running agent. */
export type AgentAddress = { readonly home: string; readonly host: string; readonly port: number };

/** @throws PoolError `invalid_configuration` when a file named on purpose cannot be read */
function readEnvFile(source: ConfigSource, envFile: string | undefined): Env {
  const named = envFile ?? textOf(source.env, 'AGENT_ENV');
  const path = named ?? join(homeOf(source.env, source.homeDir), 'agent.env');
  if (named === undefined && !existsSync(path)) {
    return {};
  }
  try {
    return parseEnv(source.readFile(path));
  } catch (cause) {
    throw new PoolError(
      'invalid_configuration',
      `the configuration file ${path} cannot be read; name another one with --env-file or AGENT_ENV`,
      { cause },
    );
  }
}

/** @throws PoolError `invalid_configuration` naming every problem */
export function parseConfig(source: ConfigSource, file: Env): Config {
  const problems: string[] = [];
  const env: Env = { ...file, ...withoutEmpty(source.env) };
  const read = createReader(env, source.readFile, problems);

  const home = homeOf(env, source.homeDir);
  const isProduction = env['NODE_ENV'] === 'production';
  const host = read.text('DISBURSE_HOST') ?? '127.0.0.1';
  if (!isLoopbackHost(host) && env['DISBURSE_ALLOW_PUBLIC_BIND'] !== 'behind-tls-proxy') {
    problems.push(
      'DISBURSE_HOST is not a loopback address: put a TLS-terminating proxy in front and set DISBURSE_ALLOW_PUBLIC_BIND=behind-tls-proxy',
    );
  }
  const signer = read.text('DISBURSE_SIGNER');
  if (signer !== undefined) {
    problems.push(
      'DISBURSE_SIGNER: enclave, custodian_a and custodian_b are not in this build; they come with the custody release. Leave it unset for the local key',
    );
  }
  const platformUrl = read.url('DISBURSE_PLATFORM_URL') ?? read.missing('DISBURSE_PLATFORM_URL');
  const platformToken =
    read.secret('DISBURSE_PLATFORM_TOKEN') ?? read.missing('DISBURSE_PLATFORM_TOKEN');
  const config = {
    home,
    isProduction,
    logLevel: read.choice('DISBURSE_LOG_LEVEL', logLevels) ?? 'info',
    host,
    port: read.integer('DISBURSE_PORT', 0, 65_535) ?? 8787,
    allowedHosts: (read.text('DISBURSE_ALLOWED_HOSTS') ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
    metricsToken: readMetricsToken(read, problems),
    verifyUrl: read.url('DISBURSE_PLATFORM_VERIFY_URL'),
    chain: read.text('DISBURSE_CHAIN'),
    chainsFile: resolve(read.text('DISBURSE_CHAINS_FILE') ?? join(home, 'chains.json')),
    gate: readGate(read),
    prover: read.choice('DISBURSE_PROVER', ['wasm', 'mock'] as const) ?? 'wasm',
    accelerator: read.choice('DISBURSE_ACCELERATOR', accelerators) ?? 'auto',
    artifactsDir: read.text('DISBURSE_ARTIFACTS_DIR'),
    artifactsManifest: read.text('DISBURSE_ARTIFACTS_MANIFEST'),
    funderPrivateKey: read.secret('DISBURSE_FUNDER_PRIVATE_KEY'),
    jobStore: read.text('DISBURSE_JOB_STORE') ?? `sqlite:${join(home, 'jobs.sqlite')}`,
    batchDeadlineSeconds:
      read.integer('DISBURSE_BATCH_DEADLINE_SECONDS', 10, 86_400) ?? defaultBatchDeadlineSeconds,
    retentionDays: read.integer('DISBURSE_RETENTION_DAYS', 1, 36_500) ?? 30,
    fault: env['NODE_ENV'] === 'test' ? read.choice('DISBURSE_FAULT', agentFaultPoints) : undefined,
  };
  if (config.artifactsManifest !== undefined && config.artifactsDir === undefined) {
    problems.push(
      'DISBURSE_ARTIFACTS_DIR must name the folder that `pool-circuits fetch` filled when DISBURSE_ARTIFACTS_MANIFEST is set',
    );
  }
  if (!/^(?:sqlite:.+|memory:)$/.test(config.jobStore)) {
    problems.push('DISBURSE_JOB_STORE must be sqlite:<path> or memory: in this build');
  }
  if (problems.length > 0 || platformUrl === undefined || platformToken === undefined) {
    throw new PoolError(
      'invalid_configuration',
      `the configuration has problems:\n- ${problems.join('\n- ')}`,
    );
  }
  return { ...config, platformUrl, platformToken };
}

/** Where the agent listens, for the commands that talk to it. Needs no credential. */
export function readAgentAddress(envFile?: string): AgentAddress {
  const source = {
    env: process.env,
    readFile: (path: string) => readFileSync(path, 'utf8'),
    homeDir: homedir(),
  };
  const env: Env = { ...readEnvFile(source, envFile), ...withoutEmpty(source.env) };
  const problems: string[] = [];
  const read = createReader(env, source.readFile, problems);
  const port = read.integer('DISBURSE_PORT', 1, 65_535) ?? 8787;
  if (problems.length > 0) {
    throw new PoolError('invalid_configuration', problems.join('; '));
  }
  return {
    home: homeOf(env, source.homeDir),
    host: read.text('DISBURSE_HOST') ?? '127.0.0.1',
    port,
  };
}

type Reader = {
  text(name: string): string | undefined;
  url(name: string): string | undefined;
  secret(name: string): Secret | undefined;
  integer(name: string, min: number, max: number): number | undefined;
  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined;
  /** Notes the absence. */
  missing(name: string): undefined;
};

function createReader(env: Env, readFile: ConfigSource['readFile'], problems: string[]): Reader {
  const text = (name: string): string | undefined => textOf(env, name);
  return {
    text,
    url(name) {
      const value = text(name);
      if (value === undefined) {
        return undefined;
      }
      try {
        parseServiceUrl(value, name);
        return value;
      } catch {
        problems.push(`${name} must be an https URL (http only on loopback), without credentials`);
        return undefined;
      }
    },
    secret(name) {
      const path = text(`${name}_FILE`);
      if (path === undefined) {
        const value = text(name);
        return value === undefined ? undefined : new Secret(value);
      }
      try {
        const value = parseSecretFile(readFile(path));
        if (value !== undefined) {
          return new Secret(value);
        }
        problems.push(`${name}_FILE holds neither a bare secret nor the JSON this binary printed`);
      } catch {
        problems.push(`${name}_FILE cannot be read`);
      }
      return undefined;
    },
    integer(name, min, max) {
      const value = text(name);
      if (value === undefined) {
        return undefined;
      }
      const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) {
        return number;
      }
      problems.push(`${name} must be a whole number from ${min} to ${max}`);
      return undefined;
    },
    choice(name, allowed) {
      const value = text(name);
      const known = allowed.find((candidate) => candidate === value);
      if (value !== undefined && known === undefined) {
        problems.push(`${name} must be one of ${allowed.join(', ')}`);
      }
      return known;
    },
    missing(name) {
      if (!problems.some((problem) => problem.startsWith(name))) {
        problems.push(`${name} is required`);
      }
      return undefined;
    },
  };
}

function readGate(read: Reader): GateConfig | undefined {
  const url = read.url('DISBURSE_POOL_GATE_URL');
  if (url === undefined) {
    return undefined;
  }
  const tokenUrl =
    read.url('POOL_GATE_OAUTH_TOKEN_URL') ?? read.missing('POOL_GATE_OAUTH_TOKEN_URL');
  const clientId =
    read.text('POOL_GATE_OAUTH_CLIENT_ID') ?? read.missing('POOL_GATE_OAUTH_CLIENT_ID');
  const clientSecret =
    read.secret('POOL_GATE_OAUTH_CLIENT_SECRET') ?? read.missing('POOL_GATE_OAUTH_CLIENT_SECRET');
  const scope = read.text('POOL_GATE_OAUTH_SCOPE') ?? 'gate.read';
  return tokenUrl === undefined || clientId === undefined || clientSecret === undefined
    ? undefined
    : { url, tokenUrl, clientId, clientSecret, scope };
}

/** Long enough not to be guessed over a network, and writable in a header. */
function readMetricsToken(read: Reader, problems: string[]): Secret | undefined {
  const token = read.secret('DISBURSE_METRICS_TOKEN');
  if (token === undefined || /^[\x21-\x7e]{20,256}$/.test(token.reveal())) {
    return token;
  }
  problems.push(
    'DISBURSE_METRICS_TOKEN must be 20 to 256 printable ASCII characters without spaces',
  );
  return undefined;
}

const jsonSecretFields = ['token', 'edgeToken', 'apiKey', 'privateKey', 'clientSecret'] as const;

/** The bare secret, or the one field of the JSON document that this project's commands print. */
function parseSecretFile(content: string): string | undefined {
  const bare = content.trim();
  if (!bare.startsWith('{')) {
    return bare === '' ? undefined : bare;
  }
  const document = JSON.parse(bare) as Readonly<Record<string, unknown>>;
  const found = jsonSecretFields
    .map((field) => document[field])
    .filter((value): value is string => typeof value === 'string' && value !== '');
  return found.length === 1 ? found[0] : undefined;
}

function homeOf(env: Env, homeDir: string): string {
  return resolve(textOf(env, 'DISBURSE_HOME') ?? join(homeDir, '.disburse-agent'));
}

function textOf(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

/** An empty variable is an unset one: it must not hide the file's. */
function withoutEmpty(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => (value ?? '').trim() !== ''));
}
