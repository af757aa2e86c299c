/**
 * From the layers of configuration to the agent's configuration, with every problem and every warning. The rules that
 * involve several variables are here.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import {
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  type ConfigValues,
  createConfigReader,
  createRemark,
  findSharedCredentials,
  listCredentials,
  type Separation,
} from '@pool/configuration';
import { isLoopbackHost, Secret } from '@pool/core';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import type { GateConfig } from '@pool/operations';
import { funderRoles, type RemoteFunder, readFunder } from '@pool/signers';
import type { PostgresSettings } from '@pool/storage/postgres';
import type { TargetPlace } from '@pool/webhooks';
import { type HolderConfig, readHolder } from './holder-config.ts';
import type { AgentFaultPoint } from './kinds.ts';
import { allVariables, variables } from './variables.ts';
import { collectWarnings } from './warnings.ts';

// Of a custodian, and of tests: read only where they are used.
const { approveUrl: _url, approveToken: _token, fault: _fault, ...ownVariables } = variables;

/** The values of the table by their names there, and what follows from several of them. */
export type Config = Omit<ConfigValues<typeof ownVariables>, 'home' | 'allowedHosts'> & {
  /** Agent directory, mode 0700. */
  readonly home: string;
  readonly isProduction: boolean;
  /** `jobStore` with its password. */
  readonly jobs: JobStorePlace;
  /** Other processes make the proofs of batches. */
  readonly fleet: { readonly queue: PostgresSettings; readonly publicKey: string } | undefined;
  readonly platformUrl: string;
  readonly platformToken: Secret;
  /** Further host names that requests can be addressed to. */
  readonly allowedHosts: readonly string[];
  /** The pool-gate and its credentials. Absent: bootstrap vends them. */
  readonly gate: GateConfig | undefined;
  /** Receivers of webhooks. */
  readonly webhooks: TargetPlace | undefined;
  /** The funder's signer, if it is outside this process. */
  readonly remoteFunder: RemoteFunder | undefined;
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

export const jobVariables = {
  jobStore: variables.jobStore,
  jobStorePassword: variables.jobStorePassword,
  nodeEnv: variables.nodeEnv,
};

export function toJobs(values: ConfigValues<typeof jobVariables>): JobStorePlace {
  const { jobStore: url, jobStorePassword: password, nodeEnv } = values;
  return { url, password, mustBeDurable: nodeEnv === 'production' };
}

export function resolveConfig(layers: ConfigLayers): Resolution {
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const read = createConfigReader(layers, problems);
  const values = read.all(ownVariables);
  const { platformUrl, platformToken, signer } = values;
  const isProduction = values.nodeEnv === 'production';
  const config = {
    ...values,
    home: layers.home,
    isProduction,
    jobs: toJobs(values),
    fleet: readFleet(values, read, problems),
    webhooks: readWebhooks(values),
    allowedHosts: values.allowedHosts ?? [],
    chainsFile: resolve(values.chainsFile),
    gate: readGate(values, read, problems),
    remoteFunder: signer && readFunder(signer, read, problems),
    fault: values.nodeEnv === 'test' ? read.optional(variables.fault) : undefined,
    holder: readHolder(read, layers, problems),
  };
  if (!isLoopbackHost(values.host) && values.allowPublicBind === undefined) {
    problems.push(
      createRemark(
        variables.host.name,
        'is not a loopback address: put a TLS-terminating proxy in front and set DISBURSE_ALLOW_PUBLIC_BIND=behind-tls-proxy',
      ),
    );
  }
  if (config.artifactsManifest !== undefined && !read.isWritten(variables.artifactsDir)) {
    problems.push(
      createRemark(
        variables.artifactsDir.name,
        'must name the folder that `pool-circuits fetch` filled when DISBURSE_ARTIFACTS_MANIFEST is set',
      ),
    );
  }
  if (signer !== undefined && read.isWritten(variables.funderPrivateKey)) {
    problems.push(
      createRemark(
        variables.funderPrivateKey.name,
        `must be unset with ${variables.signer.name}=${signer}: there is exactly one funder signer, and its key is not on this host`,
      ),
    );
  }
  if (config.spendJournal !== 'memory:' && isSameFile(config.spendJournal, config.jobStore)) {
    problems.push(
      createRemark(
        variables.spendJournal.name,
        `must name another file than ${variables.jobStore.name}: the keys of that file are those of employers`,
      ),
    );
  }
  problems.push(...findSharedCredentials(collectCredentials(layers), separations));
  const warnings = collectWarnings(layers, read, isProduction);
  return problems.length > 0 || platformUrl === undefined || platformToken === undefined
    ? { config: undefined, problems, warnings }
    : { config: { ...config, platformUrl, platformToken, warnings }, problems, warnings };
}

function readFleet(
  values: ConfigValues<typeof ownVariables>,
  read: ConfigReader,
  problems: ConfigRemark[],
): Config['fleet'] {
  const { proverQueue: url = '', proverQueuePassword: password, proverPublicKey } = values;
  const queue = url === '' ? undefined : findJobServer({ url, password });
  const jobs = findJobServer(toJobs(values));
  if (queue !== undefined && jobs !== undefined && isSameDatabase(queue, jobs)) {
    problems.push(
      createRemark(
        variables.proverQueue.name,
        `must name another database than ${variables.jobStore.name}: provers must not read the jobs`,
      ),
    );
  }
  if (queue !== undefined && !read.isWritten(variables.proverPublicKey)) {
    problems.push(
      createRemark(
        variables.proverPublicKey.name,
        `is required when ${variables.proverQueue.name} is set: the key that "disburse-agent prover --new-key" printed`,
      ),
    );
  }
  return queue === undefined || proverPublicKey === undefined
    ? undefined
    : { queue, publicKey: proverPublicKey };
}

function readWebhooks({
  webhooksFile,
  webhooksLoopback,
}: ConfigValues<typeof ownVariables>): Config['webhooks'] {
  return webhooksFile === undefined
    ? undefined
    : { path: resolve(webhooksFile), allowInsecureLoopback: webhooksLoopback === 'allow' };
}

function isSameDatabase(one: PostgresSettings, other: PostgresSettings): boolean {
  const placeOf = ({ host, port, database }: PostgresSettings): string =>
    JSON.stringify([host.toLowerCase(), port, database]);
  return placeOf(one) === placeOf(other);
}

/** Of two stores. */
function isSameFile(one: string, other: string): boolean {
  const pathOf = (store: string): string => resolve(store.replace(/^sqlite:/, ''));
  return pathOf(one) === pathOf(other);
}

function readGate(
  {
    gateUrl: url,
    gateTokenUrl: tokenUrl,
    gateClientId: clientId,
    gateClientSecret: clientSecret,
    gateScope: scope,
  }: ConfigValues<typeof ownVariables>,
  read: ConfigReader,
  problems: ConfigRemark[],
): GateConfig | undefined {
  if (!read.isWritten(variables.gateUrl)) {
    return undefined;
  }
  for (const variable of [
    variables.gateTokenUrl,
    variables.gateClientId,
    variables.gateClientSecret,
  ]) {
    if (!read.isWritten(variable)) {
      problems.push(createRemark(variable.name, 'is required when DISBURSE_POOL_GATE_URL is set'));
    }
  }
  return url === undefined ||
    tokenUrl === undefined ||
    clientId === undefined ||
    clientSecret === undefined
    ? undefined
    : { url, tokenUrl, clientId, clientSecret, scope };
}

/** Every effective credential, and the loopback token. */
function collectCredentials(layers: ConfigLayers): ReadonlyMap<string, Secret> {
  const credentials = listCredentials(allVariables, layers);
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
