// The services as an operator installs them: built by tsup, packed by `pnpm deploy` into one folder each, with production dependencies only.
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../src/processes.ts';
import { readManifest } from '../src/workspace.ts';
import { findSbomProblems, writeServiceSbom } from './sbom.ts';

const root = resolve(import.meta.dirname, '../..');

/** Folder in the artefacts → package. */
export const services = {
  platform: '@pool/platform',
  agent: '@pool/agent',
  approve: '@pool/approve-gate',
} as const;

export type Service = keyof typeof services;

/** The program of a service in its folder. */
export function findPackedProgram(folder: string, service: Service): string {
  return join(folder, service, 'dist/main.js');
}

/**
 * Builds what has changed and packs services. A folder that is there already is replaced.
 * @throws Error with the output of the command that failed, or with a link that leads out of a folder
 */
export async function packServices(
  folder: string,
  chosen: readonly Service[] = Object.keys(services) as Service[],
): Promise<void> {
  const filters = chosen.map((service) => `--filter=${services[service]}`);
  await pnpm(['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', ...filters]);
  for (const service of chosen) {
    const packed = join(folder, service);
    rmSync(packed, { recursive: true, force: true });
    await pnpm(['--filter', services[service], 'deploy', '--prod', '--legacy', packed]);
    await writeServiceSbom(packed, `apps/${service}`);
    removeSources(packed);
    // pnpm links the service itself to its place in the repository.
    rmSync(join(packed, 'node_modules/.pnpm/node_modules', services[service]), { force: true });
    const link = findLinkOut(packed);
    if (link !== undefined) throw new Error(`${link} leads out of the packed folder ${packed}`);
    const problems = await findSbomProblems(packed);
    if (problems.length > 0) throw new Error(`${packed}:\n${problems.join('\n')}`);
  }
}

async function pnpm(args: readonly string[]): Promise<void> {
  const { packageManager = '' } = readManifest(root);
  const { status, combined } = await run('npx', ['--yes', packageManager, ...args], {
    cwd: root,
    env: { NO_COLOR: '1', DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' },
    output: 'collect',
  });
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} failed:\n${combined}`);
}

/** A link that leads out of the folder. What it leads to is not on the machine that runs the service. */
function findLinkOut(folder: string): string | undefined {
  const place = realpathSync(folder);
  const links = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  return links.find((link) => !realpathSync(link).startsWith(`${place}/`));
}

/** A service runs what was built. Without the sources nothing can resolve to them. */
function removeSources(packed: string): void {
  rmSync(join(packed, 'src'), { recursive: true, force: true });
  const store = join(packed, 'node_modules/.pnpm');
  for (const name of existsSync(store) ? readdirSync(store) : []) {
    const ours = join(store, name, 'node_modules/@pool');
    if (!name.startsWith('@pool+') || !existsSync(ours)) continue;
    for (const one of readdirSync(ours)) {
      // Links lead to packages that have a folder of their own here.
      const manifest = join(ours, one, 'package.json');
      if (existsSync(manifest)) rmSync(join(ours, one, 'src'), { recursive: true, force: true });
    }
  }
}
