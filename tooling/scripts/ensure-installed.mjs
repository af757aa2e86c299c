// `npm start` and `npm test`: installs with pnpm if an input of the install has changed since the last one.
// pnpm takes about seven seconds to find that out. Plain JavaScript without dependencies: on a fresh machine this runs
// on Node 20, before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.installed');

/** Every folder of the workspace that has a package.json, as in pnpm-workspace.yaml. */
function listPackages() {
  const rooms = ['packages', 'apps', 'examples'].flatMap((room) =>
    readdirSync(join(root, room)).map((name) => join(root, room, name)),
  );
  return [root, join(root, 'tooling'), join(root, 'tooling/custodians'), ...rooms]
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .sort();
}

/**
 * A digest of the inputs and results of an install: lockfile, manifests, the Node that runs this, the place of the
 * clone, and pnpm's own records of the installation.
 * @returns {string | undefined} undefined: a file that every installation has is missing
 */
function computeStamp() {
  const packages = listPackages();
  const files = [
    ...['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name)),
    ...packages.map((folder) => join(folder, 'package.json')),
    // pnpm writes these: another install, with other options, changes them.
    join(modules, '.modules.yaml'),
    join(modules, '.pnpm/lock.yaml'),
  ];
  const folders = packages.map((folder) => join(folder, 'node_modules'));
  if (![...files, ...folders, join(modules, 'node/bin/node')].every((path) => existsSync(path))) {
    return undefined;
  }
  const hash = createHash('sha256');
  hash.update([root, process.version, process.platform, process.arch].join('\n'));
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`\n${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function readStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
}

/** Ends this process with the command's status if it fails. */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) {
    process.stderr.write(`${command} could not be started: ${error.message}\n`);
  }
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

const stamp = computeStamp();
if (stamp !== undefined && stamp === readStamp()) {
  // A further step of `pnpm install`: the kernels are made again if their sources have changed.
  run(join(modules, 'node/bin/node'), [
    '--conditions=@pool/source',
    join(root, 'packages/kernels/scripts/build-wasm.ts'),
  ]);
} else {
  run('npx', ['--yes', 'pnpm@10.34.9', 'install', '--frozen-lockfile']);
  const installed = computeStamp();
  if (installed !== undefined) {
    writeFileSync(stampFile, installed);
  }
}
