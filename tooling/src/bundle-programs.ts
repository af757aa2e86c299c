/**
 * Vitest's global set-up of end-to-end tests: the programs as bundles. A process that loads a program from its sources finds, reads and
 * links a thousand modules, which takes most of a second of processor time, and a run of all tests starts hundreds of processes.
 *
 * A bundle behaves as its sources: `import.meta.url` is the address of the source file, so the files, worker threads and packages that a
 * module finds by its own place are the same. `findProgram` of @pool/testkit names the bundle of a program.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/programs');

const programs = [
  'apps/agent/src/main.ts',
  'apps/approve/src/main.ts',
  'apps/platform/src/main.ts',
  'packages/signers/src/pool-enclave.ts',
  'tooling/custodians/custodian-a/main.ts',
  'tooling/custodians/custodian-b/main.ts',
];

/** Packages with files of their own beside their modules: native code and WebAssembly. */
const unbundled = /^(webgpu|@electric-sql\/pglite)(\/|$)/;

/** Leaves every module where it thinks it is. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onResolve, onLoad, resolve: find }) {
    onResolve({ filter: unbundled }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === keepPlaces) return undefined;
      const found = await find(path, { kind, importer, resolveDir, pluginData: keepPlaces });
      return { path: found.path, external: true };
    });
    onLoad({ filter: /\.(ts|js|mjs)$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.url')) return undefined;
      const contents = source.replaceAll('import.meta.url', `'${pathToFileURL(path).href}'`);
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

export async function setup(): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: programs.map((path) => ({ in: path, out: path.replace(/\.ts$/, '') })),
    outdir: cache,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    conditions: ['@pool/source'],
    // Packages in CommonJS ask for modules of Node by `require`.
    banner: {
      js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
    },
    external: ['pg-native', 'bufferutil', 'utf-8-validate'],
    plugins: [keepPlaces],
    logLevel: 'error',
  });
  const digest = createHash('sha256');
  for (const { path, hash } of outputFiles) digest.update(`${path} ${hash}\n`);
  const folder = join(cache, digest.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    // Complete or absent, whoever makes it at the same time.
    const part = mkdtempSync(join(cache, 'new-'));
    for (const { path, contents } of outputFiles) {
      const file = join(part, relative(cache, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contents);
    }
    if (!existsSync(folder)) renameSync(part, folder);
  }
  process.env['POOL_TEST_PROGRAMS'] = folder;
}
