/**
 * Configuration of `platform serve` and of `platform gate serve`. The environment is read here and
 * nowhere else; every problem is reported at once, by variable name and never by value.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopbackHost, listRpcUrls, type Secret } from '@pool/core';
import { readDatabase } from '@pool/database';
import type { TransactionCaps } from '@pool/evm-sender';
import type { ListenConfig } from '@pool/http-server';
import { defaultPastRootSeconds } from '@pool/pool-gate';
import type { KeyFolder } from '@pool/relayer';
import {
  defaultEmployerDailyGas,
  defaultHolderDailyGas,
  defaultSelfEnrolledDailyGas,
  defaultSpendsDailyGas,
} from '@pool/relayer';
import { createReader, type Environment, type Reader } from './config-reader.ts';
import type { GateAccessConfig } from './edge/bootstrap.ts';
import type { AdmissionConfig } from './employers/admission.ts';
import { type FeeCaps, type feeUnits, parseFeeCaps } from './fee-caps.ts';
import type { OperatorConfig } from './operator/edge-token-command.ts';

const minTokenLength = 20;

/** For those who operate either. @param prefix - of the variables: `PLATFORM` or `GATE` */
function readOperations(read: Reader, prefix: string, isProduction: boolean) {
  const name = `${prefix}_METRICS_TOKEN`;
  const isSet = read.optional(name) !== undefined || read.optional(`${name}_FILE`) !== undefined;
  const metricsToken = isSet ? read.secret(name) : undefined;
  if (metricsToken !== undefined && metricsToken.reveal().length < minTokenLength) {
    read.problem(name, `must have ${minTokenLength} characters or more`);
  }
  const drainSeconds = read.integer(`${prefix}_DRAIN_SECONDS`, isProduction ? 10 : 0, 0, 300);
  return {
    /** Of `/metrics`. Undefined: there is no such route. */
    metricsToken,
    /** How long the process still answers after `/readyz` turned 503. */
    drainMs: drainSeconds * 1_000,
  };
}

export type PlatformConfig = ReturnType<typeof parsePlatformConfig>;
export type GateConfig = ReturnType<typeof parseGateConfig>;

/** @throws PoolError `invalid_configuration` naming every variable that is missing or wrong */
export function parsePlatformConfig(env: Environment) {
  const read = createReader(env);
  const chains = read.chains('PLATFORM_CHAINS_FILE');
  const chainIds = Object.values(chains?.chains ?? {}).map((chain) => chain.chainId);
  const isProduction = readIsProduction(read);
  const dataDirectory = read.text('PLATFORM_DATA_DIR');
  const dailyGas = (name: string, fallback: number, min: number) =>
    read.integer(name, fallback, min, 1_000_000_000_000);
  const config = {
    /** `NODE_ENV=production`: settings for development only are refused. */
    isProduction,
    ...readOperations(read, 'PLATFORM', isProduction),
    listen: readListen(read, 'PLATFORM', 8080),
    /** Of `control.json`, and of the embedded database. */
    dataDirectory,
    database: readDatabase(read, isProduction, dataDirectory),
    chains,
    defaultChain: read.text('PLATFORM_DEFAULT_CHAIN'),
    /** Of the accounts with which the relayer sends on each chain. */
    relayerKeys: read.privateKeys('PLATFORM_RELAYER_KEY'),
    /** Undefined: the development keys. */
    productionKeys: readProductionKeys(read, isProduction),
    gate: readGateAccess(read),
    /** Whether holders may ask for the paths of their notes, which links the notes to their spends. */
    makesNotePaths: readSwitch(read, 'PLATFORM_NOTE_PATHS'),
    /** Origins besides the sign-in URI's own that browsers may call from. */
    allowedOrigins: read.list('PLATFORM_ALLOWED_ORIGINS'),
    /** Values of `Host` besides loopback names that requests may carry. */
    allowedHosts: read.list('PLATFORM_ALLOWED_HOSTS'),
    /** The number of own proxies in front, whose `X-Forwarded-For` is trusted. */
    proxyHops: read.integer('PLATFORM_PROXY_HOPS', 0, 0, 8),
    rateLimits: {
      addressPerSecond: read.integer('PLATFORM_RATE_ADDRESS', 100, 1, 1_000_000),
      sessionPerSecond: read.integer('PLATFORM_RATE_SESSION', 50, 1, 1_000_000),
      edgePerSecond: read.integer('PLATFORM_RATE_EDGE', 1_000, 1, 1_000_000),
      settlementsPerMinute: read.integer('PLATFORM_RATE_SETTLEMENTS', 60, 1, 1_000_000),
      spendsPerMinute: read.integer('PLATFORM_RATE_SPENDS', 10, 1, 1_000_000),
      batchMibPerSecond: read.integer('PLATFORM_RATE_BATCHES', 4, 1, 1_000_000),
    },
    signInChainIds: chainIds,
    nonceTtlSeconds: read.integer('PLATFORM_NONCE_TTL_SECONDS', 300, 10, 86_400),
    sessionTtlSeconds: read.integer('PLATFORM_SESSION_TTL_SECONDS', 43_200, 60, 2_592_000),
    /** How long one onboard request waits for the gate before it answers `eligibility_pending`. */
    gateWaitMs: read.integer('PLATFORM_GATE_WAIT_MS', 120_000, 0, 600_000),
    admission: readAdmission(read, isProduction),
    /** How long a transaction waits to be mined before one with higher fees replaces it. */
    replaceAfterMs: read.integer('PLATFORM_REPLACE_AFTER_SECONDS', 120, 10, 86_400) * 1_000,
    /** How long one waits before agents learn that the relayer is stuck. */
    stuckAfterMs: read.integer('PLATFORM_STUCK_AFTER_SECONDS', 600, 10, 86_400) * 1_000,
    /** The most wei per unit of gas that the relayer offers, by chain key; absent: no cap. */
    maxFeePerGas: readFeeCaps(read, 'PLATFORM_RELAYER_MAX_FEE_GWEI', 'gwei', chains?.chains),
    /** The most wei that a transaction of the relayer may cost, by chain key; absent: no cap. */
    maxCost: readFeeCaps(read, 'PLATFORM_RELAYER_MAX_COST_COIN', 'coin', chains?.chains),
    /** Gas of each chain's relayer that one employer may use in 24 hours. */
    employerDailyGas: dailyGas('PLATFORM_EMPLOYER_DAILY_GAS', defaultEmployerDailyGas, 5_000_000),
    /** The same for an employer to which the operator issued no edge token. */
    selfEnrolledDailyGas: dailyGas(
      'PLATFORM_SELF_ENROLLED_DAILY_GAS',
      defaultSelfEnrolledDailyGas,
      0,
    ),
    /** The most wei that the relayer may spend in 24 hours, by chain key; absent: `defaultDailyWei`. */
    relayerDailyWei: readFeeCaps(read, 'PLATFORM_RELAYER_DAILY_COIN', 'coin', chains?.chains),
    /** Gas of each chain's relayer that one holder may use in 24 hours. */
    holderDailyGas: dailyGas('PLATFORM_HOLDER_DAILY_GAS', defaultHolderDailyGas, 2_000_000),
    /** Gas of each chain's relayer that all holders together may use in 24 hours. */
    spendsDailyGas: dailyGas('PLATFORM_SPENDS_DAILY_GAS', defaultSpendsDailyGas, 2_000_000),
    // Default and maximum of the agent's DISBURSE_VOTE_LIMIT_SECONDS: it learns this limit only from a refusal after the vote.
    /** How long a signer may take to agree: an authorisation may live this much longer. */
    voteLimitSeconds: read.integer('PLATFORM_VOTE_LIMIT_SECONDS', 86_400, 0, 2_592_000),
    /** How long after its deadline the sealed notes of a batch that never landed are kept. */
    keepDeadNotesSeconds: read.integer('PLATFORM_DEAD_NOTES_DAYS', 30, 1, 36_500) * 86_400,
    pollIntervalMs: read.integer('PLATFORM_POLL_MS', 1_000, 20, 60_000),
    payeePage: readPayeePage(read),
    logLevel: read.logLevel('PLATFORM_LOG_LEVEL'),
  };
  if (chains !== undefined && !(config.defaultChain in chains.chains)) {
    read.problem('PLATFORM_DEFAULT_CHAIN', 'names no chain of PLATFORM_CHAINS_FILE');
  }
  read.finish();
  return { ...config, chains: read.present(chains) };
}

/** @throws PoolError `invalid_configuration` naming every variable that is missing or wrong */
export function parseGateConfig(env: Environment) {
  const read = createReader(env);
  const chains = read.chains('GATE_CHAINS_FILE');
  const chainKey = read.text('GATE_CHAIN');
  const chain = chains?.chains[chainKey];
  if (chains !== undefined && chain === undefined) {
    read.problem('GATE_CHAIN', 'names no chain of GATE_CHAINS_FILE');
  }
  const isProduction = readIsProduction(read);
  const screeningFile = read.optional('GATE_SCREENING_FILE');
  if (isProduction && screeningFile === undefined) {
    read.problem(
      'GATE_SCREENING_FILE',
      'must name a screening list: without one every wallet may take a place of the eligibility tree',
    );
  }
  const config = {
    /** `NODE_ENV=production`: settings for development only are refused. */
    isProduction,
    ...readOperations(read, 'GATE', isProduction),
    chainKey,
    listen: readListen(read, 'GATE', 8090),
    database: readDatabase(read, isProduction, read.optional('GATE_DATA_DIR'), 'GATE_DATA_DIR'),
    publisherKey: read.privateKey('GATE_PUBLISHER_KEY'),
    /** The most that a publication may cost. */
    publisherCaps: readPublisherCaps(read, chainKey),
    /** The configured reader, for agents with their own access. The readers of employers are created while the gate runs. */
    reader:
      read.optional('GATE_READ_CLIENT_ID') === undefined
        ? undefined
        : readClient(read, 'GATE_READ'),
    writer: readClient(read, 'GATE_WRITE'),
    /** JSON `{mode, wallets}`; absent: every wallet passes. */
    screeningFile,
    allowedHosts: read.list('GATE_ALLOWED_HOSTS'),
    /** The number of own proxies in front, whose `X-Forwarded-For` is trusted. */
    proxyHops: read.integer('GATE_PROXY_HOPS', 0, 0, 8),
    tokenTtlSeconds: read.integer('GATE_TOKEN_TTL_SECONDS', 900, 10, 86_400),
    tokenLimits: {
      addressPerSecond: read.integer('GATE_RATE_ADDRESS', 10, 1, 1_000_000),
      clientPerSecond: read.integer('GATE_RATE_CLIENT', 10, 1, 1_000_000),
    },
    /** How long paths under a replaced root are served; no longer than the registry accepts it. */
    pastRootSeconds: read.integer('GATE_PAST_ROOT_SECONDS', defaultPastRootSeconds, 0, 604_800),
    /** How long a publication waits to be mined before one with higher fees replaces it. */
    replaceAfterMs: read.integer('GATE_REPLACE_AFTER_SECONDS', 120, 10, 86_400) * 1_000,
    pollIntervalMs: read.integer('GATE_POLL_MS', 1_000, 20, 60_000),
    logLevel: read.logLevel('GATE_LOG_LEVEL'),
  };
  if (config.reader !== undefined && config.reader.clientId === config.writer.clientId) {
    read.problem('GATE_WRITE_CLIENT_ID', 'must differ from GATE_READ_CLIENT_ID');
  }
  read.finish();
  return { ...config, chain: read.present(chain) };
}

/** The settings with which the operator's commands find the platform and its data. @throws PoolError `invalid_configuration` */
export function parseOperatorConfig(env: Environment): OperatorConfig {
  const read = createReader(env);
  const dataDirectory = read.text('PLATFORM_DATA_DIR');
  const database = readDatabase(read, readIsProduction(read), dataDirectory);
  read.finish();
  return { dataDirectory, database };
}

/**
 * The chains file as the operator publishes it: agents choose their nodes themselves, and the address of the platform's own can contain an
 * access key. @throws PoolError `invalid_configuration`
 */
export function readPublishedChains(env: Environment) {
  const read = createReader(env);
  const file = read.chains('PLATFORM_CHAINS_FILE');
  read.finish();
  const { evidence, chains, addressOnlyChains = {} } = read.present(file);
  const payable = Object.entries(chains).map(([key, { rpcUrl: _, ...rest }]) => [key, rest]);
  const others = Object.entries(addressOnlyChains).map(([key, family]) => [key, { family }]);
  return { evidence, chains: Object.fromEntries([...payable, ...others]) as object };
}

function readListen(read: Reader, prefix: string, port: number): ListenConfig {
  const host = read.optional(`${prefix}_HOST`) ?? '127.0.0.1';
  if (
    !isLoopbackHost(host) &&
    read.optional(`${prefix}_ALLOW_PUBLIC_BIND`) !== 'behind-tls-proxy'
  ) {
    read.problem(
      `${prefix}_HOST`,
      `is not loopback: set ${prefix}_ALLOW_PUBLIC_BIND=behind-tls-proxy once a TLS proxy is in front`,
    );
  }
  const maxConnections = read.integer(`${prefix}_MAX_CONNECTIONS`, 512, 1, 65_535);
  // On loopback and behind a proxy, all callers have one address: a cap per address would apply to all of them together.
  const isOnePeer = isLoopbackHost(host) || (read.optional(`${prefix}_PROXY_HOPS`) ?? '0') !== '0';
  const fallback = isOnePeer ? 0 : Math.ceil(maxConnections / 2);
  return {
    host,
    port: read.integer(`${prefix}_PORT`, port, 0, 65_535),
    limits: {
      maxConnections,
      maxConnectionsPerPeer: read.integer(
        `${prefix}_MAX_CONNECTIONS_PER_PEER`,
        fallback,
        0,
        65_535,
      ),
    },
  };
}

/** `on` or `off`; off when absent. */
function readSwitch(read: Reader, name: string): boolean {
  const value = read.optional(name) ?? 'off';
  if (value !== 'on' && value !== 'off') {
    read.problem(name, 'must be on or off');
  }
  return value === 'on';
}

/** The payee's page. */
export type PayeePage = {
  /** With the built page. */
  readonly folder: string;
  /** Origins besides the platform's that the page may call. */
  readonly connectTo: readonly string[];
};

/** The built payee's page, and the nodes that its own chains.json names. Undefined: there is no page. */
function readPayeePage(read: Reader): PayeePage | undefined {
  const name = 'PLATFORM_PAYEE_DIR';
  const folder = read.optional(name);
  if (folder === undefined) {
    return undefined;
  }
  if (!existsSync(join(folder, 'index.html'))) {
    read.problem(name, 'names a folder without index.html: build apps/payee first');
    return undefined;
  }
  const chains = read.chainsFile(name, join(folder, 'chains.json'));
  const nodes = Object.values(chains?.chains ?? {}).flatMap(listRpcUrls);
  return { folder, connectTo: [...new Set(nodes.map((url) => new URL(url).origin))] };
}

function readIsProduction(read: Reader): boolean {
  return read.optional('NODE_ENV') === 'production';
}

function readProductionKeys(read: Reader, isProduction: boolean): KeyFolder | undefined {
  const folder = read.optional('PLATFORM_ARTIFACTS_DIR');
  const manifest = read.optional('PLATFORM_ARTIFACTS_MANIFEST');
  if (manifest === undefined) {
    if (folder !== undefined || isProduction) {
      read.problem(
        'PLATFORM_ARTIFACTS_MANIFEST',
        'must name the manifest of the production keys: anybody can forge proofs under development keys',
      );
    }
    return undefined;
  }
  if (folder === undefined) {
    read.problem(
      'PLATFORM_ARTIFACTS_DIR',
      'must name the folder that `pool-circuits fetch` filled when PLATFORM_ARTIFACTS_MANIFEST is set',
    );
  }
  return { folder: folder ?? '', manifest };
}

function readAdmission(read: Reader, isProduction: boolean): AdmissionConfig {
  const name = 'PLATFORM_INVITATIONS';
  const hasGate = read.optional('PLATFORM_GATE_URL') !== undefined;
  const invitations = read.optional(name) ?? 'off';
  if (invitations !== 'off' && invitations !== 'required' && invitations !== 'screened') {
    read.problem(name, 'must be off, required or screened');
  } else if (invitations === 'off' && isProduction && hasGate) {
    read.problem(
      name,
      'must be `required`, or `screened` where the GATE_SCREENING_FILE of the gate is an allow-list: ' +
        'otherwise anyone can fill the eligibility tree',
    );
  }
  return {
    invitations: invitations === 'required' || invitations === 'screened' ? invitations : 'off',
    enrolmentsPerAddress: read.integer('PLATFORM_ENROLMENTS_PER_ADDRESS', 1_000, 1, 1_000_000),
    walletsPerEmployer: read.integer('PLATFORM_WALLETS_PER_EMPLOYER', 1_000, 0, 1_000_000),
    invitationDays: read.integer('PLATFORM_INVITATION_DAYS', 90, 1, 3_650),
  };
}

function readFeeCaps(
  read: Reader,
  name: string,
  unit: keyof typeof feeUnits,
  chains: Readonly<Record<string, unknown>> | undefined,
): FeeCaps {
  if (chains === undefined) {
    return new Map();
  }
  const caps = parseFeeCaps(read.list(name), Object.keys(chains), unit);
  if (typeof caps === 'string') {
    read.problem(name, caps);
    return new Map();
  }
  return caps;
}

/** The gate has one chain. */
function readPublisherCaps(read: Reader, chainKey: string): TransactionCaps {
  const chains = { [chainKey]: undefined };
  const find = (name: string, unit: keyof typeof feeUnits): bigint | undefined =>
    readFeeCaps(read, name, unit, chains).get(chainKey);
  return {
    maxFeePerGas: find('GATE_PUBLISHER_MAX_FEE_GWEI', 'gwei'),
    maxCostWei: find('GATE_PUBLISHER_MAX_COST_COIN', 'coin'),
  };
}

function readGateAccess(read: Reader): GateAccessConfig | undefined {
  const url = read.optional('PLATFORM_GATE_URL');
  if (url === undefined) {
    return undefined;
  }
  const tokenUrl =
    read.optional('PLATFORM_GATE_TOKEN_URL') ?? `${url.replace(/\/+$/, '')}/oauth/token`;
  read.serviceUrl('PLATFORM_GATE_URL', url);
  read.serviceUrl('PLATFORM_GATE_TOKEN_URL', tokenUrl);
  const vendsReader = read.optional('PLATFORM_GATE_READ_CLIENT_ID') !== undefined;
  return {
    url,
    tokenUrl,
    writer: readClient(read, 'PLATFORM_GATE_WRITE'),
    makesReaders: !vendsReader && read.optional('PLATFORM_GATE_TOKEN_URL') === undefined,
    reader: vendsReader ? readClient(read, 'PLATFORM_GATE_READ') : undefined,
  };
}

function readClient(read: Reader, prefix: string): { clientId: string; clientSecret: Secret } {
  return {
    clientId: read.text(`${prefix}_CLIENT_ID`),
    clientSecret: read.secret(`${prefix}_CLIENT_SECRET`),
  };
}
