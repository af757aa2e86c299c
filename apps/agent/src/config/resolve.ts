/**
 * From the layers of configuration to the agent's configuration, with every problem and every warning. The rules that
 * involve several variables are here.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { ConfigLayers, ConfigRemark, LogLevel } from '@pool/configuration';
import { type ConfigReader, createConfigReader, readVariable } from '@pool/configuration';
import { isLoopbackHost, Secret } from '@pool/core';
import { funderRoles, type RemoteFunder, readFunder } from '@pool/signers';
import { type HolderConfig, readHolder } from './holder-config.ts';
import type { Accelerator, AgentFaultPoint } from './kinds.ts';
import { allVariables, variables } from './variables.ts';
import { collectWarnings } from './warnings.ts';

/** The pool-gate and its credentials. Absent: bootstrap vends them. */
export type GateConfig = {
  readonly url: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scope: string;
};

export type Config = {
  /** Agent directory, mode 0700. */
  readonly home: string;
  readonly isProduction: boolean;
  readonly logLevel: LogLevel;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly maxConnections: number;
  /** 0: no cap. */
  readonly maxConnectionsPerPeer: number;
  /** Further host names that requests can be addressed to. */
  readonly allowedHosts: readonly string[];
  readonly platformUrl: string;
  readonly platformToken: Secret;
  /** Gives access to `GET /metrics` only. Absent: that route accepts the loopback token only. */
  readonly metricsToken: Secret | undefined;
  /** Absent: API keys are not accepted. */
  readonly verifyUrl: string | undefined;
  /** Lower case. Absent: the id that is pinned in the agent directory. */
  readonly employerId: string | undefined;
  /** 32 bytes of hex. Absent: the key in the agent directory. */
  readonly fingerprintKey: Secret | undefined;
  /** Absent: bootstrap vends it. */
  readonly chain: string | undefined;
  readonly chainsFile: string;
  readonly gate: GateConfig | undefined;
  readonly prover: 'wasm' | 'mock';
  readonly accelerator: Accelerator;
  /** Cache of development keys, or the folder of fetched ones. Absent: the circuits' default cache. */
  readonly artifactsDir: string | undefined;
  /** Pins the fetched keys in `artifactsDir`. Absent: development keys, which are refused in production. */
  readonly artifactsManifest: string | undefined;
  /** The funder's signer, if it is a key of this process. Without it and without a remote funder, the agent can pay on no chain. */
  readonly funderPrivateKey: Secret | undefined;
  /** The funder's signer, if it is outside this process. */
  readonly remoteFunder: RemoteFunder | undefined;
  /** Absent: no funder signer on Solana and Stellar. */
  readonly funderEd25519Key: Secret | undefined;
  readonly jobStore: string;
  /** Keys of spends. */
  readonly spendJournal: string;
  readonly batchDeadlineSeconds: number;
  /** Of a funder signer that needs a vote. */
  readonly voteLimitSeconds: number;
  /** Days after the end of a job until its recipients and seed are erased. */
  readonly retentionDays: number;
  /** Years after a payment until the openings that prove it are erased. */
  readonly disclosureYears: number;
  /** Requests per second of one credential. */
  readonly rateLimit: number;
  /** Ends the process at this point; only under NODE_ENV=test. */
  readonly fault: AgentFaultPoint | undefined;
  readonly holder: HolderConfig;
  /** Printed at start; none of them stops the agent. */
  readonly warnings: readonly ConfigRemark[];
};

type Resolution = {
  /** Undefined when there are problems. */
  readonly config: Config | undefined;
  readonly problems: readonly ConfigRemark[];
  readonly warnings: readonly ConfigRemark[];
};

export function resolveConfig(layers: ConfigLayers): Resolution {
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const read = createConfigReader(layers, problems);
  const nodeEnv = read.optional(variables.nodeEnv);
  const isProduction = nodeEnv === 'production';
  const platformUrl = read.optional(variables.platformUrl);
  const platformToken = read.optional(variables.platformToken);
  const signer = read.optional(variables.signer);
  // Only `onboard` uses this variable; an invalid value is a problem for every command.
  read.optional(variables.onboardPrivateKey);
  // Only `send --self-submit` uses these.
  read.optional(variables.gasPrivateKey);
  read.optional(variables.gasMaxCost);
  const config = {
    home: layers.home,
    isProduction,
    logLevel: read.defaulted(variables.logLevel),
    host: readHost(read, problems),
    port: read.defaulted(variables.port),
    allowedHosts: read.optional(variables.allowedHosts) ?? [],
    metricsToken: read.optional(variables.metricsToken),
    verifyUrl: read.optional(variables.verifyUrl),
    employerId: read.optional(variables.employerId),
    fingerprintKey: read.optional(variables.fingerprintKey),
    chain: read.optional(variables.chain),
    chainsFile: resolve(read.defaulted(variables.chainsFile)),
    gate: readGate(read, problems),
    prover: read.defaulted(variables.prover),
    accelerator: read.defaulted(variables.accelerator),
    artifactsDir: read.optional(variables.artifactsDir),
    artifactsManifest: read.optional(variables.artifactsManifest),
    funderPrivateKey: read.optional(variables.funderPrivateKey),
    remoteFunder: signer && readFunder(signer, read, problems),
    funderEd25519Key: read.optional(variables.funderEd25519Key),
    jobStore: read.defaulted(variables.jobStore),
    spendJournal: read.defaulted(variables.spendJournal),
    batchDeadlineSeconds: read.defaulted(variables.batchDeadlineSeconds),
    voteLimitSeconds: read.defaulted(variables.voteLimitSeconds),
    retentionDays: read.defaulted(variables.retentionDays),
    disclosureYears: read.defaulted(variables.disclosureYears),
    maxConnections: read.defaulted(variables.maxConnections),
    maxConnectionsPerPeer: read.defaulted(variables.maxConnectionsPerPeer),
    rateLimit: read.defaulted(variables.rateLimit),
    fault: nodeEnv === 'test' ? read.optional(variables.fault) : undefined,
    holder: readHolder(read, layers, problems),
  };
  if (config.artifactsManifest !== undefined && !read.isWritten(variables.artifactsDir)) {
    note(
      problems,
      variables.artifactsDir.name,
      'must name the folder that `pool-circuits fetch` filled when DISBURSE_ARTIFACTS_MANIFEST is set',
    );
  }
  if (signer !== undefined && read.isWritten(variables.funderPrivateKey)) {
    note(
      problems,
      variables.funderPrivateKey.name,
      `must be unset with ${variables.signer.name}=${signer}: there is exactly one funder signer, and its key is not on this host`,
    );
  }
  if (config.spendJournal !== 'memory:' && isSameFile(config.spendJournal, config.jobStore)) {
    note(
      problems,
      variables.spendJournal.name,
      `must name another file than ${variables.jobStore.name}: the keys of that file are those of employers`,
    );
  }
  problems.push(...findSharedCredentials(collectCredentials(layers)));
  const warnings = collectWarnings(layers, read, isProduction);
  return problems.length > 0 || platformUrl === undefined || platformToken === undefined
    ? { config: undefined, problems, warnings }
    : { config: { ...config, platformUrl, platformToken, warnings }, problems, warnings };
}

/** Of two stores. */
function isSameFile(one: string, other: string): boolean {
  const pathOf = (store: string): string => resolve(store.replace(/^sqlite:/, ''));
  return pathOf(one) === pathOf(other);
}

function note(remarks: ConfigRemark[], variable: string, phrase: string): void {
  remarks.push({ variable, message: `${variable} ${phrase}` });
}

function readHost(read: ConfigReader, problems: ConfigRemark[]): string {
  const host = read.defaulted(variables.host);
  const acknowledged = read.optional(variables.allowPublicBind);
  if (!isLoopbackHost(host) && acknowledged === undefined) {
    note(
      problems,
      variables.host.name,
      'is not a loopback address: put a TLS-terminating proxy in front and set DISBURSE_ALLOW_PUBLIC_BIND=behind-tls-proxy',
    );
  }
  return host;
}

function readGate(read: ConfigReader, problems: ConfigRemark[]): GateConfig | undefined {
  const url = read.optional(variables.gateUrl);
  const tokenUrl = read.optional(variables.gateTokenUrl);
  const clientId = read.optional(variables.gateClientId);
  const clientSecret = read.optional(variables.gateClientSecret);
  const scope = read.defaulted(variables.gateScope);
  if (!read.isWritten(variables.gateUrl)) {
    return undefined;
  }
  for (const variable of [
    variables.gateTokenUrl,
    variables.gateClientId,
    variables.gateClientSecret,
  ]) {
    if (!read.isWritten(variable)) {
      note(problems, variable.name, 'is required when DISBURSE_POOL_GATE_URL is set');
    }
  }
  return url === undefined ||
    tokenUrl === undefined ||
    clientId === undefined ||
    clientSecret === undefined
    ? undefined
    : { url, tokenUrl, clientId, clientSecret, scope };
}

/** Every effective credential, also invalid ones: the separation rules apply to them too. */
function collectCredentials(layers: ConfigLayers): ReadonlyMap<string, Secret> {
  const credentials = new Map<string, Secret>();
  for (const variable of allVariables) {
    const { raw } = readVariable(variable, layers);
    if (variable.credential !== undefined && raw !== undefined) {
      credentials.set(variable.name, raw);
    }
  }
  if (credentials.has(variables.metricsToken.name)) {
    // The loopback token can pay, and an operator may copy it into the monitoring because it is at hand.
    try {
      const token = layers.readFile(join(layers.home, 'loopback.token')).trim();
      credentials.set('the loopback token', new Secret(token));
    } catch {
      // There is no loopback token before the first start.
    }
  }
  return credentials;
}

/** Credentials that must differ: otherwise the holder of the lesser one also holds the greater one (README.md). */
type Separation = {
  readonly variable: string;
  /** Absent: every other credential. */
  readonly differsFrom?: readonly string[];
  readonly reason: string;
};

const separations: readonly Separation[] = [
  {
    variable: 'DISBURSE_BALANCE_TOKEN',
    differsFrom: ['DISBURSE_TRANSFER_TOKEN', 'DISBURSE_SEND_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    reason: 'a reporting credential must not be able to move value',
  },
  {
    variable: 'DISBURSE_TRANSFER_TOKEN',
    differsFrom: ['DISBURSE_PLATFORM_TOKEN'],
    reason: 'a spend needs a key of its own; mint one with the capability holder.transfer',
  },
  {
    variable: 'DISBURSE_SEND_TOKEN',
    differsFrom: ['DISBURSE_PLATFORM_TOKEN'],
    reason: 'a spend needs a key of its own; mint one with the capability holder.send',
  },
  {
    variable: 'DISBURSE_METRICS_TOKEN',
    reason: 'the credential of the monitoring must give access to the metrics only',
  },
  {
    variable: 'DISBURSE_APPROVE_TOKEN',
    reason: 'it only hands manifests to the approve process, and must give access to nothing else',
  },
  ...funderRoles.flatMap(({ separations = [] }) => separations),
  {
    variable: 'DISBURSE_FINGERPRINT_KEY',
    reason: 'it is copied between agents, and its holders can find out what was paid by guessing',
  },
];

/** @param credentials - effective values by name, inline or from a file */
function findSharedCredentials(credentials: ReadonlyMap<string, Secret>): ConfigRemark[] {
  return separations.flatMap(({ variable, differsFrom, reason }) => {
    const own = credentials.get(variable);
    if (own === undefined) {
      return [];
    }
    const others = differsFrom ?? [...credentials.keys()].filter((name) => name !== variable);
    return others
      .filter((name) => {
        const other = credentials.get(name);
        return other !== undefined && isSameSecret(own.reveal(), other.reveal());
      })
      .map((name) => ({ variable, message: `${variable} must differ from ${name}: ${reason}` }));
  });
}

/** Constant time: both sides are hashed to one length first. */
export function isSameSecret(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
