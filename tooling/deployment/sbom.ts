// Bills of materials in CycloneDX, by `pnpm sbom`. The pnpm that this repository is pinned to does not have that command yet.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { parse, stringify } from 'yaml';
import { run } from '../src/processes.ts';
import { readManifest } from '../src/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const sbomTool = 'pnpm@12.21.0';
const specification = Spec.Version.v1dot6;

/** The bill of materials in a packed folder. */
const sbomName = 'sbom.cdx.json';

interface Bill {
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
  }[];
}

/** Runs `pnpm sbom` for production dependencies. @throws Error with the output of the command if it fails */
export async function runSbom(args: readonly string[], cwd: string = root): Promise<void> {
  const what = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', specification, '--prod'];
  const { status, combined } = await run('npx', ['--yes', sbomTool, 'sbom', ...what, ...args], {
    cwd,
    // It would start the pinned version otherwise.
    env: { NO_COLOR: '1', pnpm_config_pm_on_fail: 'ignore' },
    output: 'collect',
  });
  if (status !== 0) throw new Error(`pnpm sbom ${args.join(' ')} failed:\n${combined}`);
}

/**
 * Writes what a packed folder contains into it. The lockfile that `pnpm deploy` leaves says what was installed, which is more than what the
 * manifests name: optional peers that the workspace has are in it.
 * @param importer - folder of the service in the repository
 */
export async function writeServiceSbom(packed: string, importer: string): Promise<void> {
  const installed = parse(readFileSync(join(packed, 'node_modules/.pnpm/lock.yaml'), 'utf8')) as {
    readonly importers: Readonly<Record<string, unknown>>;
  };
  const lockfile = join(packed, 'pnpm-lock.yaml');
  const importers = { '.': installed.importers[importer] };
  writeFileSync(lockfile, stringify({ ...installed, importers }));
  const bill = join(packed, sbomName);
  await runSbom(['--sbom-type', 'application', '--out', bill], packed);
  rmSync(lockfile);
  // The lockfile names packages of the workspace by their folder.
  const text = readFileSync(bill, 'utf8').replaceAll(
    /file:(packages\/[\w-]+)/g,
    (_, folder: string) => readManifest(join(root, folder)).version ?? '',
  );
  writeFileSync(bill, text);
}

/** What is wrong with the bill of materials of a packed folder: its form, or packages that only one of the two has. */
export async function findSbomProblems(packed: string): Promise<readonly string[]> {
  const text = readFileSync(join(packed, sbomName), 'utf8');
  const wrong: unknown = await new Validation.JsonStrictValidator(specification).validate(text);
  const { components } = JSON.parse(text) as Bill;
  const named = new Set(
    components.map(({ group, name, version }) =>
      group === undefined ? `${name}@${version}` : `${group}/${name}@${version}`,
    ),
  );
  const installed = listInstalled(packed);
  return [
    ...(wrong === null ? [] : [`${sbomName} is not CycloneDX: ${JSON.stringify(wrong)}`]),
    ...[...installed].filter((one) => !named.has(one)).map((one) => `${one} is not in ${sbomName}`),
    ...[...named].filter((one) => !installed.has(one)).map((one) => `${one} is not installed`),
  ];
}

/** Name and version of each package in the folder's `node_modules`. */
function listInstalled(packed: string): ReadonlySet<string> {
  const store = join(packed, 'node_modules/.pnpm');
  const found = new Set<string>();
  for (const entry of readdirSync(store)) {
    const modules = join(store, entry, 'node_modules');
    if (entry === 'node_modules' || !existsSync(modules)) continue;
    // Links lead to packages that have an entry of their own.
    for (const place of listFolders(modules)) {
      const { name = '', version = '' } = readManifest(place);
      found.add(`${name}@${version}`);
    }
  }
  return found;
}

function listFolders(modules: string): readonly string[] {
  return readdirSync(modules, { withFileTypes: true })
    .filter((one) => one.isDirectory() && one.name !== '.bin')
    .flatMap(({ name }) => {
      const place = join(modules, name);
      return name.startsWith('@') ? listFolders(place) : [place];
    });
}
