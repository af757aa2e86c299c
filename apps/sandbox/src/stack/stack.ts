/**
 * A whole deployment on this machine: chain, contracts, gate, platform, employer, recipients, agent; each
 * service a process of its own on a free loopback port. `pnpm sandbox` and the end-to-end tests both start
 * it through here.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { batchSizes, type ChainsFile, PoolError } from '@pool/core';
import type { FunderKind } from '@pool/signers';
import {
  anvilBinary,
  findFreePorts,
  type ManagedProcess,
  placeEmptyCluster,
  startNodeProcess,
  startProcess,
  waitUntilReady,
} from '@pool/testkit';
import { computeAddress } from 'ethers';
import {
  anvilArguments,
  chainId,
  chainKey,
  createChainsFile,
  type DeployedChain,
  deployChain,
  readChainId,
} from '../chain/local-chain.ts';
import {
  deriveHolder,
  enrolHolders,
  type Holder,
  openSession,
  type SignInPlace,
} from '../chain/people.ts';
import { defaultHolderCount, deriveEmployerKey, deriveHolderKey } from '../chain/sandbox-keys.ts';
import { type Custody, type CustodyHolder, voteLimitSeconds } from '../custody/custody-place.ts';
import { startCustody } from '../custody/start-custody.ts';
import {
  type Agent,
  createAgentStarter,
  type StartAgentOptions,
} from '../processes/agent-process.ts';
import { type Environment, type StartNode, writePrivate } from '../processes/env-file.ts';
import { openProcessLedger, type ProcessLedger } from '../processes/process-ledger.ts';
import { type Service, startService } from '../processes/service.ts';
import {
  createGateEnvironment,
  createPlatformEnvironment,
  type GateClients,
} from '../processes/service-environment.ts';
import { createEdgeToken } from './edge-token.ts';
import type { OnboardPlace } from './headless-holder.ts';

export type StackOptions = {
  /** Everything the deployment writes lies below this folder. */
  readonly directory: string;
  /** The list of started processes. Default: a ledger of its own in the directory. */
  readonly ledger?: ProcessLedger;
  /** How many recipients to enrol. Default: enough for a batch of 64. */
  readonly holderCount?: number;
  /** Which of these holders to enrol, by their address. Default: all. The others are not in the deployment. */
  readonly isEnrolled?: (address: string) => boolean;
  /** Where the funder's key is. Default: in the agent's process. */
  readonly custody?: {
    readonly kind: FunderKind;
    /** Holders whose keys are in the same custody, before they are enrolled. */
    readonly holders: (place: SignInPlace) => Promise<readonly CustodyHolder[]>;
  };
  /** The platform accepts deadlines for people who sign outside, as it does with custody. Default: with custody only. */
  readonly acceptsVotes?: boolean;
  /** Enrols more people while the holders above are enrolled: all of them share one wait for finality. */
  readonly alsoEnrol?: (place: OnboardPlace, custody: Custody | undefined) => Promise<void>;
  /** Time between blocks. Default: 1. */
  readonly blockSeconds?: number;
  /** Between two looks of platform and gate at the chain. Default: 200. */
  readonly pollMs?: number;
  /** Blocks above a final one. Default: the chain's own finality, two. */
  readonly finalityBlocks?: number;
  /** The agent's ceiling for one call. Default: what the largest circuit holds. */
  readonly maxRecipients?: number;
  /** Each holder calls the platform from an address of its own, through a proxy: of one address it opens a thousand accounts a day. */
  readonly hasProxy?: boolean;
  /** Puts the payee's page into a folder, for the platform to serve. @returns the folder */
  readonly placePayeePage?: (chains: ChainsFile) => Promise<string>;
  /** Makes an empty database on a server, for platform and gate. Default: each has an embedded one. */
  readonly createDatabase?: () => Promise<string>;
  /** Puts something between platforms and gates, or between them and the chain. @returns its URL */
  readonly through?: (what: 'chain' | 'gates', url: string) => Promise<string>;
  /** Added to the environment of a process, by its name. */
  readonly environmentOf?: (name: string) => Environment;
  /** Receives a short description of each step. */
  readonly onStep?: (step: string) => void;
  /** Symbol of a token that is deployed beside the test tokens. */
  readonly ownToken?: string | undefined;
  /** Path of the release policy of the first agent. Undefined: it pays without a second person. */
  readonly releasePolicy?: string | undefined;
  /** Added to the environment of every agent, for example an accelerator's. */
  readonly agentEnvironment?: Readonly<Record<string, string>>;
};

/**
 * @param dataDirectory - of the stopped service
 * @param databaseUrl - where its rows are on a server. Undefined: in the directory
 */
export type WorkOnRows = (
  dataDirectory: string,
  databaseUrl: string | undefined,
) => void | Promise<void>;

export type Stack = {
  readonly directory: string;
  readonly chain: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly platformUrl: string;
  readonly gateUrl: string;
  /** Undefined: the platform serves no page. */
  readonly payeePageUrl: string | undefined;
  readonly deployed: DeployedChain;
  readonly chains: ChainsFile;
  readonly gateClients: GateClients;
  readonly edgeToken: string;
  readonly employer: {
    readonly address: string;
    readonly privateKey: string;
    readonly apiKeys: { readonly disburse: string };
  };
  readonly holders: readonly Holder[];
  readonly ledger: ProcessLedger;
  /** Undefined: the keys are in the agents' processes. */
  readonly custody: Custody | undefined;
  /** Starts one more kind of custody for the same funder, for agents of its own. */
  startCustody(kind: FunderKind, holders: readonly CustodyHolder[]): Promise<Custody>;
  readonly platform: Service;
  /** Of the platform. Empty: an embedded database. */
  readonly platformDatabaseUrl: string;
  readonly gate: Service;
  /** The agent that every stack starts with, its home at `agent-home`. */
  readonly agent: Agent;
  /** Stops the platform, lets the caller work on what it keeps, and starts it again. */
  restartPlatform(work: WorkOnRows): Promise<void>;
  /** The same for the gate. */
  restartGate(work: WorkOnRows): Promise<void>;
  /** Starts one more platform or gate on the database of the first, with `createDatabase`. */
  startReplica(kind: 'platform' | 'gate', name: string): Promise<Service>;
  /** Starts one more agent, by default of the same employer with a home and job store of its own. */
  startAgent(options: StartAgentOptions): Promise<Agent>;
  /** Ends everything that was started, agents included. Safe to call twice. */
  stop(): Promise<void>;
};

const platformScript = fileURLToPath(new URL('../../../platform/src/main.ts', import.meta.url));

/**
 * Starts everything and resolves when the agent is ready to disburse. On failure it ends what it started.
 * @throws PoolError `sandbox_failed` with the step that failed, the URL it asked and its log
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const ledger = options.ledger ?? openProcessLedger(options.directory);
  const logs = join(options.directory, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  let present: Step = { text: 'starting' };
  const begin = (step: Step): void => {
    present = step;
    options.onStep?.(step.text);
  };
  try {
    return await startServices(options, { ledger, logs, begin });
  } catch (error) {
    await ledger.endAll();
    const { text, service, url } = present;
    const at = url === undefined ? '' : ` (${url})`;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PoolError(
      'sandbox_failed',
      `${text}${at} failed: ${reason}\nRead ${service === undefined ? `the logs in ${logs}` : join(logs, `${service}.log`)}. Nothing of this sandbox runs any more.`,
      { cause: error },
    );
  }
}

/** What is underway: for the person who reads why it failed. */
type Step = {
  readonly text: string;
  /** The process whose log says more. Absent: several. */
  readonly service?: string;
  /** Where that process is reached, if that is known. */
  readonly url?: string;
};

type Starting = {
  readonly ledger: ProcessLedger;
  readonly logs: string;
  readonly begin: (step: Step) => void;
};

async function startServices(
  options: StackOptions,
  { ledger, logs, begin }: Starting,
): Promise<Stack> {
  const { directory } = options;
  const track = (process: ManagedProcess): ManagedProcess => {
    ledger.add(process.name, process.identity);
    return process;
  };
  const { environmentOf = () => ({}), through = async (_, url) => url } = options;
  const start: StartNode = ({ env, ...program }) =>
    track(
      startNodeProcess({
        ...program,
        env: { ...env, ...environmentOf(program.name) },
        logPath: join(logs, `${program.name}.log`),
      }),
    );
  const [chainPort = 0, platformPort = 0, gatePort = 0] = await findFreePorts(3);
  const rpcUrl = `http://127.0.0.1:${chainPort}`;
  const platformUrl = `http://127.0.0.1:${platformPort}`;
  const gateUrl = `http://127.0.0.1:${gatePort}`;

  begin({ text: 'starting the chain', service: 'chain', url: rpcUrl });
  const anvil = track(
    startProcess({
      name: 'chain',
      command: anvilBinary(),
      args: anvilArguments(chainPort, options.blockSeconds),
      logPath: join(logs, 'chain.log'),
    }),
  );
  await waitUntilReady(anvil, () => readChainId(rpcUrl));

  begin({ text: 'deploying contracts and tokens', service: 'chain', url: rpcUrl });
  const deployed = await deployChain(rpcUrl, options.ownToken);
  const chains = createChainsFile(deployed, {
    rpcUrl: await through('chain', rpcUrl),
    platformUrl,
    maxRecipients: options.maxRecipients ?? Math.max(...batchSizes),
    finalityBlocks: options.finalityBlocks,
  });
  const chainsFile = join(directory, 'chains.json');
  writePrivate(chainsFile, `${JSON.stringify(chains, undefined, 2)}\n`);

  begin({ text: 'starting gate and platform', service: 'platform', url: platformUrl });
  const gateClients = createGateClients();
  const platformData = join(directory, 'platform-data');
  const gateData = join(directory, 'gate-data');
  // One after the other: the first start on a machine makes the template that later starts copy.
  const platformDatabase = await placeDatabase(options, platformData);
  const gateDatabase = await placeDatabase(options, gateData);
  const gatesUrl = await through('gates', gateUrl);
  const payeePage = await options.placePayeePage?.(chains);
  const { pollMs = 200, acceptsVotes = options.custody !== undefined } = options;
  const common = { chainsFile, chain: chainKey, clients: gateClients, pollMs };
  const startGate = (name: string, port: number, dataDirectory: string): Service =>
    startService(`http://127.0.0.1:${port}`, () =>
      start({
        name,
        script: platformScript,
        args: ['gate', 'serve'],
        env: createGateEnvironment({ ...common, port, dataDirectory, database: gateDatabase }),
      }),
    );
  const gate = startGate('gate', gatePort, gateData);
  const startPlatform = (name: string, port: number, dataDirectory: string): Service =>
    startService(`http://127.0.0.1:${port}`, () =>
      start({
        name,
        script: platformScript,
        args: ['serve'],
        env: createPlatformEnvironment({
          ...{ ...common, port, dataDirectory, gateUrl: gatesUrl },
          database: platformDatabase,
          voteLimitSeconds: acceptsVotes ? voteLimitSeconds : 0,
          hasProxy: options.hasProxy === true,
          payeePage,
        }),
      }),
    );
  const platform = startPlatform('platform', platformPort, platformData);
  await platform.ready();
  await gate.ready();

  begin({ text: 'registering the employer', service: 'platform', url: platformUrl });
  const place = { platformUrl };
  const employerKey = deriveEmployerKey();
  const employerSession = await openSession(employerKey, place);
  const disburseKey = await employerSession.mintKey('disburse', 'sandbox');
  const employer = await deriveHolder(employerKey, place);
  const edgeToken = await createEdgeToken({
    script: platformScript,
    dataDirectory: platformData,
    employerAddress: employer.address,
  });

  const custodyPlace = {
    ...{ directory, start, chain: chainKey, chains, platformUrl, funder: employer },
    employerId: (await employerSession.register()).employerId,
  };
  let custody: Custody | undefined;
  if (options.custody !== undefined) {
    const { kind, holders } = options.custody;
    begin({ text: `starting the custody of keys: ${kind}` });
    custody = await startCustody(kind, { ...custodyPlace, holders: await holders(place) });
  }

  const { holderCount = defaultHolderCount, isEnrolled = () => true } = options;
  const keys = Array.from({ length: holderCount }, (_, index) => deriveHolderKey(index)).filter(
    (key) => isEnrolled(computeAddress(key.reveal())),
  );
  const { alsoEnrol = () => Promise.resolve() } = options;
  begin({ text: 'enrolling recipients', service: 'platform', url: platformUrl });
  const others = alsoEnrol({ directory, platformUrl, chains }, custody);
  // Awaited below. Until then a failure must not end the process.
  others.catch(() => undefined);
  const holders = await enrolHolders(keys, place, options.hasProxy);
  await others;

  begin({ text: 'starting the agent', service: 'agent' });
  const startAgent = createAgentStarter({
    directory,
    start,
    chains,
    defaults: {
      platformUrl,
      edgeToken,
      chain: chainKey,
      fingerprintKey: `0x${randomBytes(32).toString('hex')}`,
      funder: custody?.funder ?? { DISBURSE_FUNDER_PRIVATE_KEY: employer.privateKey },
    },
    environment: options.agentEnvironment ?? {},
  });
  const agent = await startAgent({ name: 'agent', releasePolicy: options.releasePolicy });

  return {
    directory,
    chain: chainKey,
    chainId,
    rpcUrl,
    platformUrl,
    gateUrl,
    // Passkeys are bound to names, and an IP address is none.
    payeePageUrl: payeePage === undefined ? undefined : `http://localhost:${platformPort}/payee/`,
    deployed,
    chains,
    gateClients,
    edgeToken,
    employer: {
      address: employer.address,
      privateKey: employer.privateKey,
      apiKeys: { disburse: disburseKey.apiKey.reveal() },
    },
    holders,
    ledger,
    custody,
    startCustody: (kind, custodyHolders) =>
      startCustody(kind, { ...custodyPlace, holders: custodyHolders }),
    platform,
    platformDatabaseUrl: platformDatabase['DATABASE_URL'] ?? '',
    gate,
    agent,
    restartPlatform: async (work) => {
      await platform.process.stop();
      await work(platformData, platformDatabase['DATABASE_URL']);
      await platform.restart();
    },
    restartGate: async (work) => {
      await gate.process.stop();
      await work(gateData, gateDatabase['DATABASE_URL']);
      await gate.restart();
    },
    startReplica: async (kind, name) => {
      const [port = 0] = await findFreePorts(1);
      const startIt = kind === 'gate' ? startGate : startPlatform;
      const replica = startIt(name, port, join(directory, `${name}-data`));
      await replica.ready();
      return replica;
    },
    startAgent,
    stop: () => ledger.endAll(),
  };
}

/** @returns the variable that names it */
async function placeDatabase(
  { createDatabase }: StackOptions,
  dataDirectory: string,
): Promise<Environment> {
  if (createDatabase === undefined) {
    await placeEmptyCluster(dataDirectory);
    return {};
  }
  return { DATABASE_URL: await createDatabase() };
}

function createGateClients(): GateClients {
  const create = (clientId: string) => ({
    clientId,
    clientSecret: randomBytes(32).toString('hex'),
  });
  return { reader: create('sandbox-reader'), writer: create('sandbox-writer') };
}
