// `pnpm check:deployment`: the built and packed services pay a roster over three network namespaces, as on three machines: chain, PostgreSQL,
// gate, platform and proxy; agent; prover. Prometheus reads their metrics, with the alert rules and the dashboard. Before, systemd reads the
// units. Needs Linux, root, `ip`, `openssl`, `caddy`, `prometheus`, `promtool` and `systemd-analyze`. Where one is missing it says so and
// checks nothing, which is a failure where skips are forbidden (POOL_TEST_FORBID_SKIPS).
// With `--packed <folder>` it takes what an earlier run has packed there.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packServices } from '../deployment/artefacts.ts';
import { createCertificates } from '../deployment/authority.ts';
import {
  createNamespaces,
  findNamespaceObstacle,
  type Namespace,
  removeNamespaces,
} from '../deployment/namespaces.ts';
import { type Networks, names, payOverNetworks } from '../deployment/pay-over-networks.ts';
import { publishKeys } from '../deployment/publish-keys.ts';
import { findUnitProblems } from '../deployment/units.ts';
import { run } from '../src/processes.ts';

const { values } = parseArgs({
  options: { packed: { type: 'string' }, networks: { type: 'string' } },
});

function findObstacle(): string | undefined {
  for (const program of ['openssl', 'caddy', 'systemd-analyze', 'prometheus', 'promtool']) {
    const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined) return `\`${program}\` is not installed`;
  }
  return findNamespaceObstacle();
}

async function main(): Promise<void> {
  const obstacle = findObstacle();
  if (obstacle !== undefined) {
    const isForbidden = process.env['POOL_TEST_FORBID_SKIPS'] !== undefined;
    process.stdout.write(`${isForbidden ? 'FAILED' : 'skipped'}: ${obstacle}\n`);
    process.exitCode = isForbidden ? 1 : 0;
    return;
  }
  const problems = findUnitProblems();
  process.stdout.write(problems.length === 0 ? 'ok     units of systemd\n' : problems.join('\n'));
  const folder = mkdtempSync(join(tmpdir(), 'pool-deployment-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  // Outside of the repository: nothing that is missing in a packed folder is found in one above it.
  const artefacts = resolve(values.packed ?? join(folder, 'services'));
  let namespaces: readonly Namespace[] = [];
  try {
    if (values.packed === undefined) await packServices(artefacts, ['platform', 'agent']);
    await publishKeys(folder, 'fund-16');
    const hosts = Object.values(names);
    const certificates = createCertificates(folder, hosts);
    namespaces = createNamespaces(folder, ['agent', 'prover'], hosts);
    const [services, agent, prover] = namespaces;
    if (services === undefined || agent === undefined || prover === undefined) return;
    const networks: Networks = {
      ...{ folder, artefacts, certificates, agent, prover },
    };
    // Once more, inside: what it starts and asks is in the services' network.
    const [command, ...prefix] = services.prefix;
    const again = [...process.execArgv, import.meta.filename];
    const { status } = await run(
      command,
      [...prefix, process.execPath, ...again, '--networks', JSON.stringify(networks)],
      { env: { NODE_EXTRA_CA_CERTS: certificates.authority }, output: 'inherit' },
    );
    process.exitCode = problems.length === 0 ? status : 1;
    if (status !== 0) printLogs(folder);
  } finally {
    removeNamespaces(namespaces);
    rmSync(folder, { recursive: true, force: true });
  }
}

function printLogs(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.log'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    process.stdout.write(`\n── ${name}\n${text.slice(-2_000)}\n`);
  }
}

if (values.networks === undefined) {
  await main();
} else {
  const shown = await payOverNetworks(JSON.parse(values.networks) as Networks);
  process.stdout.write(`ok     ${shown}\n`);
}
