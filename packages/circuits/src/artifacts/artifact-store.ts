/**
 * A circuit's artifacts: built on first use, cached by recipe, and returned only if their bytes are those that the committed
 * manifest pins (protocol §9).
 *
 * The cache keeps three bundles of a circuit. Each has its own folder and is built when it is first requested: the files a prover
 * needs (with the proving key in its compact form), the constraint file, and the standard form of the key for tools of the
 * snarkjs family.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type CircuitName, circuitShapes, PoolError } from '@pool/core';
import { convertZkey, openFileSource, type VerificationKey, type ZkeyForm } from '@pool/kernels';
import {
  type ArtifactDigests,
  type ArtifactKind,
  type ArtifactsManifest,
  artifactKinds,
  computeFileDigest,
  readArtifactsManifest,
} from '../artifacts-manifest.ts';
import {
  artifactFiles,
  type BuildOptions,
  buildArtifacts,
  buildConstraints,
  computeRecipe,
  refuseInProduction,
} from './build-artifacts.ts';
import { withFileLock } from './file-lock.ts';

// Converts a proving key's file into the other form: standard (`.zkey`, for snarkjs and its family) or compact (for the cache).

/**
 * Converts a file, piece by piece.
 * @param target must not exist yet
 * @returns SHA-256 of the written file, hex
 * @throws ZkeyFormatError if the source is not a proving key
 */
export async function convertKeyFile(
  source: string,
  form: ZkeyForm,
  target: string,
): Promise<string> {
  const hash = createHash('sha256');
  const from = await openFileSource(source);
  try {
    const to = await open(target, 'wx');
    try {
      for await (const piece of convertZkey(from, form)) {
        hash.update(piece);
        await to.appendFile(piece);
      }
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  return hash.digest('hex');
}

/** The files a prover needs, by absolute path. Public. */
export type CircuitArtifacts = {
  readonly circuit: CircuitName;
  /** Notes that the circuit creates. */
  readonly size: number;
  readonly wasm: string;
  /** The proving key, in the form the store was created for. */
  readonly zkey: string;
  readonly verificationKey: VerificationKey;
  readonly digests: ArtifactDigests;
};

export type ArtifactStoreOptions = {
  /**
   * Folder for the artifacts of all circuits. Default: `.cache/pool/circuits` in the workspace's root, or in the working
   * directory if there is no workspace.
   */
  readonly cacheDir?: string | undefined;
  /** Default: the committed manifest. */
  readonly manifest?: ArtifactsManifest | undefined;
  /**
   * The file that `zkey` names: the compact form in the cache (the default, which our prover reads), or a standard `.zkey`
   * for tools of the snarkjs family, which is converted from it and also cached.
   */
  readonly keyForm?: KeyForm | undefined;
};

export type KeyForm = 'compact' | 'standard';

export type ArtifactStore = {
  readonly cacheDir: string;
  /**
   * Returns a circuit's artifacts. Builds them if they are not in the cache (fund-16: seconds; fund-256: minutes). Several
   * processes may call it at once: one builds, the others wait.
   * @throws PoolError `insecure_dev_setup` in production; `artifact_mismatch` if a new build differs from the manifest;
   *   `compile_failed`
   */
  readonly ensureArtifacts: (
    circuit: CircuitName,
    options?: BuildOptions,
  ) => Promise<CircuitArtifacts>;
  /**
   * Returns the path of a circuit's constraint file (`.r1cs`). Compiles it if it is not in the cache. Throws like
   * `ensureArtifacts`.
   */
  readonly ensureConstraints: (circuit: CircuitName, options?: BuildOptions) => Promise<string>;
  /**
   * Writes the standard `.zkey` of a circuit to the given path. An existing file is replaced only when the new one is complete
   * and matches the manifest. Throws like `ensureArtifacts`.
   */
  readonly writeStandardZkey: (
    circuit: CircuitName,
    path: string,
    options?: BuildOptions,
  ) => Promise<void>;
};

/** The workspace's root above this directory, or the directory itself if there is none. */
function defaultCacheDir(): string {
  const start = process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'pnpm-workspace.yaml'))) {
      return join(folder, '.cache', 'pool', 'circuits');
    }
    if (folder === dirname(folder)) {
      return join(start, '.cache', 'pool', 'circuits');
    }
  }
}

/** The kinds whose file is missing or differs from the pinned digest. */
async function findMismatches(
  folder: string,
  kinds: readonly ArtifactKind[],
  pinned: ArtifactDigests,
): Promise<ArtifactKind[]> {
  const wrong: ArtifactKind[] = [];
  for (const kind of kinds) {
    const path = join(folder, artifactFiles[kind]);
    if (!existsSync(path) || (await computeFileDigest(path)) !== pinned[kind]) {
      wrong.push(kind);
    }
  }
  return wrong;
}

function refuseMismatch(circuit: CircuitName, wrong: readonly ArtifactKind[]): void {
  if (wrong.length > 0) {
    throw new PoolError(
      'artifact_mismatch',
      `The artifacts of ${circuit} differ from the pinned ones (${wrong.join(', ')}). ` +
        'After a change to a circuit or to the setup run `pnpm generate`; otherwise restore the sources.',
    );
  }
}

/** Moves a finished folder into place. If another process was faster, its folder stays: the contents are equal. */
async function publish(built: string, folder: string): Promise<void> {
  try {
    await rename(built, folder);
  } catch (error) {
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

type BuiltDigests = { readonly [kind in ArtifactKind]?: string | undefined };

/** Builds files of a circuit into an empty folder. Returns the known digests, also of files that are not kept. */
type Build = (circuit: CircuitName, folder: string, options: BuildOptions) => Promise<BuiltDigests>;

/** The parts of a store. Tests replace the builders, which take minutes, with fast ones. */
export type ArtifactStoreParts = {
  readonly cacheDir: string;
  readonly keyForm: KeyForm;
  readonly readManifest: () => ArtifactsManifest;
  readonly computeRecipe: (circuit: CircuitName) => string;
  /** Builds witness program, compact key and verification key. */
  readonly build: Build;
  /** Builds the constraint file. */
  readonly buildConstraints: Build;
  /** Writes the standard form of a compact key to a new file and returns its digest. */
  readonly convert: (compactPath: string, zkeyPath: string) => Promise<string>;
};

/**
 * Creates a store of circuits and their keys. It reads and writes nothing before its first use.
 *
 * @example
 * const { wasm, zkey, verificationKey } = await createArtifactStore().ensureArtifacts('fund-16');
 */
export function createArtifactStore(options: ArtifactStoreOptions = {}): ArtifactStore {
  return createArtifactStoreOf({
    cacheDir: resolve(options.cacheDir ?? defaultCacheDir()),
    keyForm: options.keyForm ?? 'compact',
    readManifest: () => options.manifest ?? readArtifactsManifest(),
    computeRecipe,
    build: async (...job) => (await buildArtifacts(...job)).sha256,
    buildConstraints,
    convert: (compactPath, zkeyPath) => convertKeyFile(compactPath, 'standard', zkeyPath),
  });
}

/** Files in one folder that are built and checked together. */
type Bundle = {
  /** Distinguishes the folder from those of the circuit's other bundles. */
  readonly suffix: string;
  readonly kinds: readonly ArtifactKind[];
  readonly build: Build;
};

export function createArtifactStoreOf(parts: ArtifactStoreParts): ArtifactStore {
  const { cacheDir } = parts;

  /** The folder of a bundle, after its files were compared with the manifest. */
  const ensureBundle = async (
    circuit: CircuitName,
    bundle: Bundle,
    options: BuildOptions,
  ): Promise<string> => {
    refuseInProduction();
    const pinned = parts.readManifest()[circuit].sha256;
    const recipe = parts.computeRecipe(circuit);
    const folder = join(cacheDir, `${circuit}-${recipe.slice(0, 16)}${bundle.suffix}`);
    await mkdir(cacheDir, { recursive: true });
    const verify = (where: string): Promise<ArtifactKind[]> => {
      options.onProgress?.('verify', 0);
      return findMismatches(where, bundle.kinds, pinned);
    };
    const isGood = async (): Promise<boolean> =>
      existsSync(folder) && (await verify(folder)).length === 0;
    const rebuild = async (): Promise<void> => {
      // Another process may have built it while this one waited for the lock.
      if (await isGood()) {
        return;
      }
      await rm(folder, { recursive: true, force: true });
      const scratch = await mkdtemp(join(cacheDir, '.build-'));
      try {
        const built = await bundle.build(circuit, scratch, options);
        const isWrong = (kind: ArtifactKind) => (built[kind] ?? pinned[kind]) !== pinned[kind];
        refuseMismatch(circuit, artifactKinds.filter(isWrong));
        refuseMismatch(circuit, await verify(scratch));
        await publish(scratch, folder);
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    };
    if (!(await isGood())) {
      await withFileLock(`${folder}.lock`, rebuild, options.signal);
    }
    return folder;
  };

  const proverBundle: Bundle = {
    suffix: '',
    kinds: ['wasm', 'compactKey', 'verificationKey'],
    build: parts.build,
  };
  const constraintsBundle: Bundle = {
    suffix: '-constraints',
    kinds: ['r1cs'],
    build: parts.buildConstraints,
  };
  /** @param source folder of the prover's bundle */
  const standardKeyBundle = (source: string): Bundle => ({
    suffix: '-standard',
    kinds: ['zkey'],
    build: async (_circuit, folder) => ({
      zkey: await parts.convert(
        join(source, artifactFiles.compactKey),
        join(folder, artifactFiles.zkey),
      ),
    }),
  });

  const ensureArtifacts: ArtifactStore['ensureArtifacts'] = async (circuit, options = {}) => {
    const folder = await ensureBundle(circuit, proverBundle, options);
    const json = await readFile(join(folder, artifactFiles.verificationKey), 'utf8');
    const zkey =
      parts.keyForm === 'compact'
        ? join(folder, artifactFiles.compactKey)
        : join(await ensureBundle(circuit, standardKeyBundle(folder), options), artifactFiles.zkey);
    options.onProgress?.('ready', 1);
    return {
      circuit,
      size: circuitShapes[circuit].outputs,
      wasm: join(folder, artifactFiles.wasm),
      zkey,
      // The file was compared with the manifest just before.
      verificationKey: JSON.parse(json) as VerificationKey,
      digests: parts.readManifest()[circuit].sha256,
    };
  };

  const ensureConstraints: ArtifactStore['ensureConstraints'] = async (circuit, options = {}) => {
    const folder = await ensureBundle(circuit, constraintsBundle, options);
    options.onProgress?.('ready', 1);
    return join(folder, artifactFiles.r1cs);
  };

  const writeStandardZkey: ArtifactStore['writeStandardZkey'] = async (
    circuit,
    path,
    options = {},
  ) => {
    const folder = await ensureBundle(circuit, proverBundle, options);
    const partial = `${path}.partial-${process.pid}`;
    try {
      const digest = await parts.convert(join(folder, artifactFiles.compactKey), partial);
      refuseMismatch(circuit, digest === parts.readManifest()[circuit].sha256.zkey ? [] : ['zkey']);
      await rename(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
    options.onProgress?.('ready', 1);
  };

  return { cacheDir, ensureArtifacts, ensureConstraints, writeStandardZkey };
}
