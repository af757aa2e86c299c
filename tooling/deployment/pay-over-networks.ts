// Runs inside the services' network namespace, where check-deployment.ts starts it: chain, PostgreSQL, pool-gate, platform, and a proxy that
// terminates TLS. An agent and a prover run in two other namespaces, which have a cable to this one only.
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import {
  anvilBinary,
  isAnswering,
  type ManagedProcess,
  type PostgresServer,
  readData,
  startPostgres,
  startProcess,
  waitUntilReady,
} from '@pool/testkit';
import {
  anvilArguments,
  chainKey,
  createChainsFile,
  deployChain,
  readChainId,
} from '../../apps/sandbox/src/chain/local-chain.ts';
import {
  type Environment,
  formatEnvFile,
  writePrivate,
} from '../../apps/sandbox/src/processes/env-file.ts';
import {
  createGateEnvironment,
  createPlatformEnvironment,
} from '../../apps/sandbox/src/processes/service-environment.ts';
import { findPackedProgram, type Service } from './artefacts.ts';
import type { Certificates } from './authority.ts';
import { runCommand } from './command.ts';
import type { Namespace } from './namespaces.ts';
import { type Deployment, payRoster } from './pay-roster.ts';
import { createWatchCommand, readWatch, type Watch, type Watched } from './watch.ts';

export interface Networks {
  /** With the `keys` and the manifest of publishKeys. */
  readonly folder: string;
  /** What packServices made. */
  readonly artefacts: string;
  readonly certificates: Certificates;
  readonly agent: Namespace;
  readonly prover: Namespace;
}

/** What the services are reached by, from every network. The certificate is for these names. */
export const names = {
  platform: 'platform.pool.test',
  gate: 'gate.pool.test',
  chain: 'chain.pool.test',
  database: 'database.pool.test',
} as const;

const caddyfile = resolve(import.meta.dirname, '../../deploy/compose/Caddyfile');
const ports = { chain: 8545, platform: 8080, gate: 8090, watch: 9090 } as const;
const metricsToken = randomBytes(32).toString('hex');
const nobody = 65_534;

/** Processes of this deployment, in the namespace of the services or in a guest's. */
function createStarter({ folder, certificates }: Networks) {
  const started: ManagedProcess[] = [];
  const env = { NODE_EXTRA_CA_CERTS: certificates.authority };
  return {
    start(
      name: string,
      command: readonly string[],
      options: { readonly env?: Environment; readonly in?: Namespace } = {},
    ): ManagedProcess {
      const [program = '', ...args] = [...(options.in?.prefix ?? []), ...command];
      const logPath = join(folder, `${name}.log`);
      const one = startProcess({
        ...{ name, command: program, args, logPath },
        env: { ...env, ...options.env },
      });
      started.push(one);
      return one;
    },
    /** @returns standard output. Throws with everything that it printed if it fails */
    run(
      command: readonly string[],
      options: { readonly env: Environment; readonly in?: Namespace; readonly input?: string },
    ): Promise<string> {
      return runCommand([...(options.in?.prefix ?? []), ...command], {
        ...options,
        env: { ...env, ...options.env },
      });
    },
    async stop(): Promise<void> {
      await Promise.all(started.map((one) => one.stop()));
    },
    listNetworks(): readonly string[] {
      return [
        ...new Set(started.map(({ identity }) => readlinkSync(`/proc/${identity.pid}/ns/net`))),
      ];
    },
  };
}

type Starter = ReturnType<typeof createStarter>;

/** @returns what was shown. Throws if anything else happened. */
export async function payOverNetworks(networks: Networks): Promise<string> {
  const starter = createStarter(networks);
  const database = await startDatabase(networks);
  try {
    const deployment = await startServices(networks, database, starter);
    const services = startWatch(networks, starter, [
      { service: 'platform', url: `https://${names.platform}/metrics`, token: metricsToken },
      { service: 'gate', url: `https://${names.gate}/metrics`, token: metricsToken },
    ]);
    const shown = await payRoster(deployment);
    const agent = startWatch(
      networks,
      starter,
      [{ service: 'agent', url: 'http://127.0.0.1:8787/metrics', token: metricsToken }],
      networks.agent,
    );
    const panels = new Set([...(await readWatch(services)), ...(await readWatch(agent))]);
    // The others are of pool-approve, or change only later.
    if (panels.size < 12) throw new Error(`${panels.size} panels of the dashboard show something`);
    const count = starter.listNetworks().length;
    if (count !== 3) throw new Error(`the processes were in ${count} networks`);
    return `${shown}, over ${count} networks; Prometheus read them, with no alert and ${panels.size} panels of the dashboard`;
  } finally {
    await starter.stop();
    await database.stop();
  }
}

/** Prometheus in the network of the services, or in a guest's. */
function startWatch(
  { folder, certificates }: Networks,
  starter: Starter,
  watched: readonly Watched[],
  guest?: Namespace,
): Watch {
  const watch = { port: ports.watch, watched };
  const place = guest === undefined ? {} : { in: guest };
  const name = `prometheus-${watched.map(({ service }) => service).join('-')}`;
  const home = join(folder, name);
  mkdirSync(home);
  const { authority } = certificates;
  starter.start(name, createWatchCommand(watch, { folder: home, authority }), place);
  return { ...watch, run: (command) => starter.run(command, { env: {}, ...place }) };
}

/** Platform and gate reach it on loopback. Others need TLS, and may open the queue of proofs only. */
async function startDatabase({ folder, certificates }: Networks): Promise<PostgresServer> {
  const place = join(folder, 'database');
  mkdirSync(place);
  const certificate = join(place, 'certificate.pem');
  const key = join(place, 'key.pem');
  const access = join(place, 'access.conf');
  copyFileSync(certificates.certificate, certificate);
  copyFileSync(certificates.key, key);
  const guests = 'hostssl pool_proofs pool_prover 10.213.0.0/16 scram-sha-256';
  writeFileSync(access, `host all all 127.0.0.1/32 scram-sha-256\n${guests}\n`);
  for (const file of [place, certificate, key, access]) chownSync(file, nobody, nobody);
  return await startPostgres(
    {
      ...{ fsync: 'off', listen_addresses: '*', hba_file: access },
      ...{ ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
    },
    folder,
  );
}

async function startServices(
  networks: Networks,
  database: PostgresServer,
  starter: Starter,
): Promise<Deployment> {
  const { folder, artefacts, certificates } = networks;
  const rpcUrl = `http://127.0.0.1:${ports.chain}`;
  const platformUrl = `https://${names.platform}`;
  const chain = starter.start('chain', [anvilBinary(), ...anvilArguments(ports.chain, 0.4)]);
  await waitUntilReady(chain, () => readChainId(rpcUrl));
  const deployed = await deployChain(rpcUrl);
  const chains = createChainsFile(deployed, {
    ...{ rpcUrl: `https://${names.chain}`, platformUrl, maxRecipients: 16 },
    finalityBlocks: undefined,
  });
  const chainsFile = join(folder, 'chains.json');
  writePrivate(chainsFile, JSON.stringify(chains));
  starter.start(
    'proxy',
    ['caddy', 'run', '--adapter', 'caddyfile', '--config', writeProxyFile(folder)],
    {
      env: {
        ...{ XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        ...{ TLS_CERTIFICATE: certificates.certificate, TLS_KEY: certificates.key },
        ...{ PLATFORM_NAME: names.platform, PLATFORM_ADDRESS: `127.0.0.1:${ports.platform}` },
        ...{ GATE_NAME: names.gate, GATE_ADDRESS: `127.0.0.1:${ports.gate}` },
      },
    },
  );

  const client = (clientId: string) => ({
    clientId,
    clientSecret: randomBytes(32).toString('hex'),
  });
  const common = {
    ...{ chainsFile, chain: chainKey, pollMs: 400 },
    clients: { reader: client('reader'), writer: client('writer') },
  };
  const program = [process.execPath, findPackedProgram(artefacts, 'platform')];
  const gate = starter.start('gate', [...program, 'gate', 'serve'], {
    env: {
      ...createGateEnvironment({
        ...{ ...common, port: ports.gate, dataDirectory: join(folder, 'gate-data') },
        database: { DATABASE_URL: await database.createDatabase() },
      }),
      ...{ GATE_ALLOWED_HOSTS: names.gate, GATE_PROXY_HOPS: '1' },
      GATE_METRICS_TOKEN: metricsToken,
    },
  });
  const platformData = join(folder, 'platform-data');
  const platform = starter.start('platform', [...program, 'serve'], {
    env: {
      ...createPlatformEnvironment({
        ...{ ...common, port: ports.platform, dataDirectory: platformData },
        database: { DATABASE_URL: await database.createDatabase() },
        ...{ gateUrl: `https://${names.gate}`, voteLimitSeconds: 0, hasProxy: true },
        payeePage: undefined,
      }),
      PLATFORM_METRICS_TOKEN: metricsToken,
    },
  });
  await waitUntilReady(gate, () => isAnswering(`https://${names.gate}/readyz`));
  await waitUntilReady(platform, () => isAnswering(`${platformUrl}/readyz`));

  const agent = createAgentPlace(networks, database, starter);
  return {
    ...{ platformUrl, rpcUrl, deployed, ...agent },
    runPlatform: (args) =>
      starter.run([...program, ...args], { env: { PLATFORM_DATA_DIR: platformData } }),
  };
}

/** The proxy of the deployment, and a node of the chain, which is no service of ours, behind it. */
function writeProxyFile(folder: string): string {
  const path = join(folder, 'Caddyfile');
  const node = `reverse_proxy 127.0.0.1:${ports.chain}`;
  const tls = 'tls {$TLS_CERTIFICATE} {$TLS_KEY}';
  const site = `https://${names.chain} {\n\t${tls}\n\t${node}\n}\n`;
  writeFileSync(path, `${readFileSync(caddyfile, 'utf8')}\n${site}`);
  return path;
}

/** An agent and a prover, each in its namespace, with the queue of proofs between them. */
function createAgentPlace(
  { folder, artefacts, certificates, agent, prover }: Networks,
  database: PostgresServer,
  starter: Starter,
): Pick<Deployment, 'startAgent' | 'runAgent' | 'readProverLog'> {
  const service: Service = 'agent';
  const program = [process.execPath, findPackedProgram(artefacts, service)];
  const home = join(folder, 'agent-home');
  const keyFile = join(folder, 'prover.key');
  let proving: ManagedProcess | undefined;
  return {
    startAgent: async (variables) => {
      const made = await starter.run([...program, 'prover', '--new-key', keyFile, '--json'], {
        ...{ env: {}, in: prover },
      });
      const { publicKey } = readData(made) as { readonly publicKey: string };
      const password = randomBytes(16).toString('hex');
      await database.query(`create role pool_prover login password '${password}'`);
      await database.query('create database pool_proofs owner pool_prover');
      const at = `${names.database}:${database.port}/pool_proofs`;
      const queue = {
        DISBURSE_PROVER_QUEUE: `postgres://pool_prover@${at}?sslrootcert=${certificates.authority}`,
        DISBURSE_PROVER_QUEUE_PASSWORD: password,
        DISBURSE_ARTIFACTS_DIR: join(folder, 'keys'),
        DISBURSE_ARTIFACTS_MANIFEST: join(folder, 'production.json'),
        DISBURSE_ACCELERATOR: 'cpu',
      };
      proving = starter.start('prover', [...program, 'prover'], {
        env: {
          ...queue,
          DISBURSE_PROVER_PRIVATE_KEY_FILE: keyFile,
          DISBURSE_HOME: join(folder, 'prover-home'),
        },
        in: prover,
      });
      const taking = proving;
      await waitUntilReady(taking, () =>
        Promise.resolve(taking.output().includes('takes proofs') || undefined),
      );
      mkdirSync(home, { mode: 0o700 });
      copyFileSync(join(folder, 'chains.json'), join(home, 'chains.json'));
      const file = {
        ...{ ...variables, ...queue, DISBURSE_PROVER_PUBLIC_KEY: publicKey },
        DISBURSE_METRICS_TOKEN: metricsToken,
      };
      writePrivate(join(home, 'agent.env'), formatEnvFile(file));
      const serving = starter.start('agent', [...program, 'serve'], {
        ...{ env: { DISBURSE_HOME: home }, in: agent },
      });
      // Only its own namespace reaches it: its own command asks.
      await waitUntilReady(serving, async () => {
        try {
          await starter.run([...program, 'status', '--json'], {
            env: { DISBURSE_HOME: home },
            in: agent,
          });
          return true;
        } catch {
          return undefined;
        }
      });
    },
    runAgent: (args, input = '') =>
      starter.run([...program, ...args], { env: { DISBURSE_HOME: home }, in: agent, input }),
    readProverLog: () => Promise.resolve(proving?.output() ?? ''),
  };
}
