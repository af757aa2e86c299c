/**
 * From the layers of configuration to the agent's configuration, with everything that is wrong with it and
 * everything its operator should hear.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { Secret } from '@pool/core';
import { isLoopbackHost } from '@pool/platform-client';
import {
  type ConfigLayers,
  type ConfigReader,
  createConfigReader,
  findText,
  readVariable,
} from './reader.ts';
import { allVariables, variables } from './schema.ts';
import { findSharedCredentials } from './separation.ts';
import type { Config, ConfigRemark, GateConfig, HolderConfig } from './types.ts';
import { collectWarnings } from './warnings.ts';

export type Resolution = {
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
  read.optional(variables.signer);
  // Only `onboard` uses this one; a wrong one is a problem all the same.
  read.optional(variables.onboardPrivateKey);
  read.optional(variables.funderEd25519Key);
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
    jobStore: read.defaulted(variables.jobStore),
    batchDeadlineSeconds: read.defaulted(variables.batchDeadlineSeconds),
    retentionDays: read.defaulted(variables.retentionDays),
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
  problems.push(...findSharedCredentials(collectCredentials(layers)));
  const warnings = collectWarnings(layers, read, isProduction);
  return problems.length > 0 || platformUrl === undefined || platformToken === undefined
    ? { config: undefined, problems, warnings }
    : { config: { ...config, platformUrl, platformToken, warnings }, problems, warnings };
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

function readHolder(
  read: ConfigReader,
  layers: ConfigLayers,
  problems: ConfigRemark[],
): HolderConfig {
  // An MPC signer draws a fresh nonce each time: nothing could be derived from its signature.
  if (
    findText(layers, variables.holderSigner.name)?.text === 'custodian_a' &&
    !read.isWritten(variables.holderViewingKey)
  ) {
    note(problems, variables.holderViewingKey.name, 'is required by custodian_a');
  }
  return {
    signer: read.defaulted(variables.holderSigner),
    privateKey: read.optional(variables.holderPrivateKey),
    viewingKey: read.optional(variables.holderViewingKey),
    encryptionPublicKey: read.optional(variables.holderEncryptionPublicKey),
    tokenSymbol: read.defaulted(variables.tokenSymbol),
    balanceToken: read.optional(variables.balanceToken),
    transferToken: read.optional(variables.transferToken),
    sendToken: read.optional(variables.sendToken),
    sendDestinations: read.optional(variables.sendDestinations) ?? new Map<string, string>(),
    transferMaxAmount: read.optional(variables.transferMaxAmount),
    sendMaxAmount: read.optional(variables.sendMaxAmount),
  };
}

/** Every credential as it is in effect, also one that does not hold: shared is shared. */
function collectCredentials(layers: ConfigLayers): ReadonlyMap<string, Secret> {
  const credentials = new Map<string, Secret>();
  for (const variable of allVariables) {
    const { raw } = readVariable(variable, layers);
    if (variable.credential !== undefined && raw !== undefined) {
      credentials.set(variable.name, raw);
    }
  }
  if (credentials.has(variables.metricsToken.name)) {
    // It pays, and it is the token at hand when somebody looks for one to give to the monitoring.
    try {
      const token = layers.readFile(join(layers.home, 'loopback.token')).trim();
      credentials.set('the loopback token', new Secret(token));
    } catch {
      // None yet: this agent has never been started.
    }
  }
  return credentials;
}
