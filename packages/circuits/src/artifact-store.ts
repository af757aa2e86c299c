/**
 * A circuit's artifacts, built on first use, cached by recipe, and never handed out unless their bytes are the ones the committed
 * manifest pins (protocol §9).
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PoolError } from '@pool/core';
import {
  type ArtifactDigests,
  type ArtifactsManifest,
  artifactKinds,
  readArtifactsManifest,
} from './artifacts-manifest.ts';
import {
  artifactFiles,
  type BuildOptions,
  buildArtifacts,
  computeRecipe,
  refuseInProduction,
} from './build-artifacts.ts';
import { type CircuitName, circuitSizes } from './circuits.ts';
import { withFileLock } from './file-lock.ts';
import type { VerificationKey } from './verification-key.ts';

/** Everything a prover needs, by absolute path. Public. */
export type CircuitArtifacts = {
  readonly circuit: CircuitName;
  /** Slots of the batch. */
  readonly size: number;
  readonly r1csPath: string;
  readonly wasmPath: string;
  readonly zkeyPath: string;
  readonly verificationKey: VerificationKey;
  readonly digests: ArtifactDigests;
};

export type ArtifactStoreOptions = {
  /** Folder for the artifacts of all circuits. Default: `.cache/pool/circuits` in the workspace's root, else in the working directory. */
  readonly cacheDir?: string | undefined;
  /** Default: the committed manifest. */
  readonly manifest?: ArtifactsManifest | undefined;
};

export type ArtifactStore = {
  readonly cacheDir: string;
  /**
   * Returns a circuit's artifacts, building them if the cache has none (fund-16: seconds; fund-64: about a minute). Safe to call
   * from several processes at once: one builds, the others wait.
   * @throws PoolError `insecure_dev_setup` in production; `artifacts_digest_mismatch` if a fresh build is not what the manifest
   *   pins; `compiler_missing`, `compile_failed`
   */
  readonly ensureArtifacts: (
    circuit: CircuitName,
    options?: BuildOptions,
  ) => Promise<CircuitArtifacts>;
};

/** The workspace's root above this directory, or the directory itself. */
const defaultCacheDir = (): string => {
  const start = process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'pnpm-workspace.yaml'))) {
      return join(folder, '.cache', 'pool', 'circuits');
    }
    if (folder === dirname(folder)) {
      return join(start, '.cache', 'pool', 'circuits');
    }
  }
};

const digestFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
};

/** The kinds whose file is missing or differs from the pinned digest. */
const findMismatches = async (folder: string, pinned: ArtifactDigests): Promise<string[]> => {
  const wrong: string[] = [];
  for (const kind of artifactKinds) {
    const path = join(folder, artifactFiles[kind]);
    if (!existsSync(path) || (await digestFile(path)) !== pinned[kind]) {
      wrong.push(kind);
    }
  }
  return wrong;
};

/** Moves a finished folder into place. If another process was faster, its folder stays: the contents are the same. */
const publish = async (built: string, folder: string): Promise<void> => {
  try {
    await rename(built, folder);
  } catch (error) {
    if (!existsSync(folder)) {
      throw error;
    }
  }
};

/** What a store is made of; tests put a quick builder in the place of minutes of work. */
export type ArtifactStoreParts = {
  readonly cacheDir: string;
  readonly readManifest: () => ArtifactsManifest;
  readonly computeRecipe: (circuit: CircuitName) => string;
  /** Builds all files of a circuit into an empty folder. */
  readonly build: (circuit: CircuitName, folder: string, options: BuildOptions) => Promise<unknown>;
};

/** Creates a store; touches nothing until the first `ensureArtifacts`. */
export const createArtifactStore = (options: ArtifactStoreOptions = {}): ArtifactStore =>
  createArtifactStoreOf({
    cacheDir: resolve(options.cacheDir ?? defaultCacheDir()),
    readManifest: () => options.manifest ?? readArtifactsManifest(),
    computeRecipe,
    build: buildArtifacts,
  });

export const createArtifactStoreOf = (parts: ArtifactStoreParts): ArtifactStore => {
  const { cacheDir } = parts;

  const build = async (circuit: CircuitName, folder: string, buildOptions: BuildOptions) => {
    const scratch = await mkdtemp(join(cacheDir, '.build-'));
    try {
      await parts.build(circuit, scratch, buildOptions);
      await publish(scratch, folder);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };

  const ensureArtifacts: ArtifactStore['ensureArtifacts'] = async (circuit, buildOptions = {}) => {
    refuseInProduction();
    const pinned = parts.readManifest()[circuit];
    const recipe = parts.computeRecipe(circuit);
    const folder = join(cacheDir, `${circuit}-${recipe.slice(0, 16)}`);
    const { signal, onProgress } = buildOptions;
    await mkdir(cacheDir, { recursive: true });
    const verify = () => {
      onProgress?.('verify', 0);
      return findMismatches(folder, pinned.sha256);
    };
    if (!existsSync(folder) || (await verify()).length > 0) {
      const rebuild = async () => {
        // Another process may have built it while this one waited.
        if (existsSync(folder) && (await verify()).length === 0) {
          return;
        }
        await rm(folder, { recursive: true, force: true });
        await build(circuit, folder, buildOptions);
        const wrong = await verify();
        if (wrong.length > 0) {
          throw new PoolError(
            'artifacts_digest_mismatch',
            `The artifacts of ${circuit} differ from the pinned ones (${wrong.join(', ')}). ` +
              'After a change to a circuit or to the setup run `pnpm generate`; otherwise restore the sources.',
            { status: 500 },
          );
        }
      };
      await withFileLock(`${folder}.lock`, rebuild, signal);
    }
    const json = await readFile(join(folder, artifactFiles.verificationKey), 'utf8');
    onProgress?.('ready', 1);
    return {
      circuit,
      size: circuitSizes[circuit],
      r1csPath: join(folder, artifactFiles.r1cs),
      wasmPath: join(folder, artifactFiles.wasm),
      zkeyPath: join(folder, artifactFiles.zkey),
      // Its digest was just compared with the manifest's.
      verificationKey: JSON.parse(json) as VerificationKey,
      digests: pinned.sha256,
    };
  };

  return { cacheDir, ensureArtifacts };
};
