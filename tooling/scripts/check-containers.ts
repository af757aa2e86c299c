// `pnpm check:containers`: builds the images of deploy/compose, starts compose.yaml, and pays a roster. Its base images are made of Debian's
// packages. Needs root, podman, buildah, runc, mmdebstrap and openssl; takes minutes. `--packed <folder>` as in
// check-deployment.ts.
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { anvilBinary, readData } from '@pool/testkit';
import {
  anvilArguments,
  chainKey,
  createChainsFile,
  deployChain,
  readChainId,
} from '../../apps/sandbox/src/chain/local-chain.ts';
import { deriveRoleKey } from '../../apps/sandbox/src/chain/sandbox-keys.ts';
import { tryApprove } from '../deployment/approve-container.ts';
import { findPackedProgram, packServices } from '../deployment/artefacts.ts';
import { createCertificates } from '../deployment/authority.ts';
import { baseImages, makeBaseImages } from '../deployment/base-images.ts';
import { runCommand } from '../deployment/command.ts';
import {
  buildImage,
  type ComposeService,
  podman,
  readCompose,
  startService,
  waitUntil,
} from '../deployment/compose.ts';
import { type Composed, payInContainers } from '../deployment/pay-in-containers.ts';
import { publishKeys } from '../deployment/publish-keys.ts';

const root = resolve(import.meta.dirname, '../..');
const names = { platform: 'platform.pool.test', gate: 'gate.pool.test', chain: 'chain.pool.test' };
const port = 8545;

const { values } = parseArgs({
  options: { packed: { type: 'string' }, composed: { type: 'string' } },
});

/** Debian's podman without systemd: another runtime, and limits that a container's host may have below podman's. */
const podmanSettings = `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
# The network's server asks the machine's for addresses that a name does not have. Where that one is silent, a service waits for a second,
# and not for five, after which it gives up its call.
dns_options = ["timeout:1", "attempts:1", "single-request-reopen"]
`;

/** A service with the test's authority, and with development keys, which Node in production refuses. */
function adapt(
  service: ComposeService | undefined,
  more: Readonly<Record<string, string>> = {},
): ComposeService {
  if (service === undefined) throw new Error('compose.yaml lacks a service');
  const test = { NODE_ENV: 'development', NODE_EXTRA_CA_CERTS: '/etc/pool/authority.pem' };
  return { ...service, environment: { ...service.environment, ...test, ...more } };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pool-containers-'));
  const place = join(folder, 'deploy/compose');
  const settings = join(folder, 'containers.conf');
  const env = { CONTAINERS_CONF: settings, BUILDAH_ISOLATION: 'chroot' };
  const project = { folder: place, name: `pool${process.pid}`, env };
  const aliases = Object.values(names);
  const started: string[] = [];
  writeFileSync(settings, podmanSettings);
  try {
    if (values.packed === undefined) await packServices(join(folder, '.cache/services'));
    else {
      mkdirSync(join(folder, '.cache'));
      symlinkSync(resolve(values.packed), join(folder, '.cache/services'));
    }
    await makeBaseImages(folder, env);
    cpSync(join(root, 'deploy/compose'), place, { recursive: true });
    const proverPublicKey = await writeSettings(folder, place);
    const services = readCompose(readFileSync(join(place, 'compose.yaml'), 'utf8'), {
      ...{ PLATFORM_NAME: names.platform, GATE_NAME: names.gate, CHAIN: chainKey },
      ...{
        NODE_IMAGE: baseImages.node,
        CADDY_IMAGE: baseImages.node,
        POSTGRES_IMAGE: baseImages.postgres,
      },
    });
    const { approve } = readCompose(readFileSync(join(place, 'approve.yaml'), 'utf8'), {
      NODE_IMAGE: baseImages.node,
    });
    for (const one of [services['platform'], services['agent'], approve])
      await buildImage(project, adapt(one));
    process.stdout.write('ok     images\n');
    for (const network of ['services', 'agents'])
      await podman(project, ['network', 'create', `${project.name}_${network}`]);
    const start = async (name: string, service: ComposeService): Promise<void> => {
      started.push(name);
      await startService(project, name, service);
    };
    const findAddress = async (name: string): Promise<string> => {
      const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
      const text = await podman(project, [
        'inspect',
        '--format',
        format,
        `${project.name}_${name}`,
      ]);
      return text.trim().split(' ')[0] ?? '';
    };
    await start('chain', {
      image: baseImages.node,
      command: [
        '/opt/anvil',
        ...anvilArguments(port, 0.4).map((one) => (one === '127.0.0.1' ? '0.0.0.0' : one)),
      ],
      networks: ['services'],
      volumes: [`${anvilBinary()}:/opt/anvil:ro`],
    });
    const rpcUrl = `http://${await findAddress('chain')}:${port}`;
    await waitUntil('the chain', async () => {
      if ((await readChainId(rpcUrl)) === undefined) throw new Error(rpcUrl);
    });
    const deployed = await deployChain(rpcUrl);
    const platformUrl = `https://${names.platform}`;
    const chains = createChainsFile(deployed, {
      ...{ rpcUrl: `https://${names.chain}`, platformUrl, maxRecipients: 16 },
      finalityBlocks: undefined,
    });
    writeFileSync(join(place, 'config/chains.json'), JSON.stringify(chains));
    await start('proxy', {
      ...adapt(services['proxy']),
      networks: { services: { aliases }, agents: { aliases } },
    });
    await start('database', adapt(services['database']));
    await start('gate', adapt(services['gate'], { GATE_POLL_MS: '400' }));
    await start(
      'platform',
      adapt(services['platform'], { PLATFORM_INVITATIONS: 'off', PLATFORM_POLL_MS: '400' }),
    );
    const hosts = join(folder, 'hosts');
    writeFileSync(
      hosts,
      `127.0.0.1 localhost\n${await findAddress('proxy')} ${aliases.join(' ')}\n`,
    );
    started.push('agent', 'prover');
    const composed: Composed = {
      ...{ project, platformUrl, rpcUrl, deployed, proverPublicKey },
      readyUrls: [names.platform, names.gate].map((name) => `https://${name}/readyz`),
      agent: adapt(services['agent']),
      prover: adapt(services['prover']),
    };
    const again = [process.execPath, ...process.execArgv, import.meta.filename, '--composed'];
    const enter = `mount --bind '${hosts}' /etc/hosts && exec "$@"`;
    process.stdout.write(
      await runCommand(
        ['unshare', '--mount', 'sh', '-c', enter, 'sh', ...again, JSON.stringify(composed)],
        {
          env: { ...env, NODE_EXTRA_CA_CERTS: join(place, 'config/authority.pem') },
        },
      ),
    );
    const besideCustodian = join(folder, 'deploy/approve');
    mkdirSync(besideCustodian);
    started.push('approve');
    const shown = await tryApprove({
      ...{ project: { ...project, folder: besideCustodian }, chains, platformUrl, hosts },
      service: adapt(approve, { NODE_EXTRA_CA_CERTS: '/etc/pool-approve/authority.pem' }),
      authority: join(place, 'config/authority.pem'),
    });
    process.stdout.write(`ok     ${shown}, in a container\n`);
  } catch (error) {
    for (const name of started) {
      const log = `podman logs --tail 15 ${project.name}_${name} 2>&1 || true`;
      process.stdout.write(`── ${name}\n${await runCommand(['sh', '-c', log], { env })}\n`);
    }
    throw error;
  } finally {
    const tidy = [
      ...started.map((name) => [
        'rm',
        '--force',
        '--time=5',
        '--volumes',
        `${project.name}_${name}`,
      ]),
      ...['services', 'agents'].map((network) => ['network', 'rm', `${project.name}_${network}`]),
      ...['database', 'database-socket', 'platform', 'agent', 'approve'].map((volume) => [
        'volume',
        'rm',
        `${project.name}_${volume}`,
      ]),
    ];
    for (const args of tidy) await podman(project, args).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that README.md asks for. @returns the provers' public key */
async function writeSettings(folder: string, place: string): Promise<string> {
  const [config, secrets] = [join(place, 'config'), join(place, 'secrets')];
  for (const one of [config, secrets]) mkdirSync(one);
  await publishKeys(config, 'fund-16');
  const certificates = createCertificates(folder, Object.values(names));
  cpSync(certificates.authority, join(config, 'authority.pem'));
  writeFileSync(join(config, 'screening.json'), JSON.stringify({ mode: 'deny-list', wallets: [] }));
  const random = (): string => randomBytes(32).toString('hex');
  const passwords = { platform: random(), gate: random() };
  const url = (user: 'platform' | 'gate'): string =>
    `postgres://pool_${user}:${passwords[user]}@%2Frun%2Fpostgresql/pool_${user}`;
  const written: Readonly<Record<string, string>> = {
    'database-password': random(),
    'platform-database-password': passwords.platform,
    'gate-database-password': passwords.gate,
    'queue-password': random(),
    'platform-database-url': url('platform'),
    'gate-database-url': url('gate'),
    'publisher-key': deriveRoleKey('publisher').reveal(),
    'relayer-key': deriveRoleKey('relayer').reveal(),
    'gate-write-secret': random(),
    'tls-certificate': readFileSync(certificates.certificate, 'utf8'),
    'tls-key': readFileSync(certificates.key, 'utf8'),
    'edge-token': '',
  };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(secrets, name), text);
  const program = findPackedProgram(join(folder, '.cache/services'), 'agent');
  const made = await runCommand(
    [process.execPath, program, 'prover', '--new-key', join(secrets, 'prover-key'), '--json'],
    { env: { DISBURSE_HOME: join(folder, 'home') } },
  );
  for (const name of readdirSync(secrets)) {
    chownSync(join(secrets, name), 10_001, 999);
    await runCommand(['chmod', '0440', join(secrets, name)]);
  }
  chownSync(secrets, 10_001, 999);
  const site = `https://${names.chain} {\n\ttls {$TLS_CERTIFICATE} {$TLS_KEY}\n\treverse_proxy chain:${port}\n}\n`;
  writeFileSync(join(place, 'Caddyfile'), `\n${site}`, { flag: 'a' });
  return (readData(made) as { readonly publicKey: string }).publicKey;
}

if (values.composed === undefined) await main();
else {
  const shown = await payInContainers(JSON.parse(values.composed) as Composed);
  process.stdout.write(`ok     ${shown}, in containers\n`);
}
