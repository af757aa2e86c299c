/**
 * Vitest's global set-up of end-to-end tests: the programs as bundles. A process that loads a program from its sources finds, reads and
 * links a thousand modules, which takes most of a second of processor time, and a run of all tests starts hundreds of processes.
 *
 * A bundle behaves as its sources: `import.meta.url`, `dirname` and `filename` are those of the source file, so the files, worker threads
 * and packages that a module finds by its own place are the same. `findProgram` of @pool/testkit names the bundle of a program.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';
import type { TestProject } from 'vitest/node';

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

const knownKeyEngine = join(root, 'tooling/test/known-key-engine.ts');

/**
 * Packages with files of their own beside their modules (native code and WebAssembly), and the SDK of OpenTelemetry: it is CommonJS, and
 * `import()` of a bundle would not find its names.
 */
const unbundled =
  /^(webgpu|@electric-sql\/pglite|@opentelemetry\/(sdk-trace-node|exporter-trace-otlp-http|resources))(\/|$)/;

/** Leaves every module where it thinks it is. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onResolve, onLoad, resolve: find }) {
    onResolve({ filter: unbundled }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === keepPlaces) return undefined;
      const found = await find(path, { kind, importer, resolveDir, pluginData: keepPlaces });
      return { path: found.path, external: true };
    });
    // The engine of the prover, for programs whose proofs are not the subject of a test.
    onResolve({ filter: /\/cpu-engine\.ts$/ }, ({ importer }) =>
      importer.endsWith('/create-prover.ts') ? { path: knownKeyEngine } : undefined,
    );
    onLoad({ filter: /\.(ts|js|mjs)$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta')) return undefined;
      const contents = source
        .replaceAll(/\bimport\.meta\.url\b/g, () => JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, () => JSON.stringify(dirname(path)))
        .replaceAll(/\bimport\.meta\.filename\b/g, () => JSON.stringify(path));
      const other = /\bimport\.meta\b.*/.exec(contents)?.[0];
      if (other !== undefined && !path.includes('/node_modules/')) {
        throw new Error(
          `${path} has "${other}": a bundle knows import.meta.url, dirname and filename`,
        );
      }
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

export async function setup({ config }: TestProject): Promise<void> {
  // A watch outlives a change of the sources, a bundle does not.
  if (config.watch) return;
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
  if (!existsSync(folder)) write(folder, outputFiles);
  utimesSync(folder, new Date(), new Date());
  removeUnused();
  process.env['POOL_TEST_PROGRAMS'] = folder;
}

/** The folder is complete or absent, whoever makes it at the same time. */
function write(folder: string, files: readonly OutputFile[]): void {
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'new-'));
  for (const { path, contents } of files) {
    const file = join(part, relative(cache, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  try {
    renameSync(part, folder);
  } catch (error) {
    rmSync(part, { recursive: true });
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Removes what no run has used for a day. */
function removeUnused(): void {
  const dayAgo = Date.now() - 24 * 3_600_000;
  for (const path of readdirSync(cache).map((name) => join(cache, name))) {
    const lastUsed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? dayAgo;
    if (lastUsed < dayAgo) rmSync(path, { recursive: true, force: true });
  }
}
