/**
 * Builds a circuit's artifacts from nothing but its sources: compile, dev setup, files (protocol §9). Refused in production, where
 * keys come from a ceremony.
 *
 * @module
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { type ArtifactDigests, computeDigest, type ManifestEntry } from './artifacts-manifest.ts';
import { type CircuitName, computeSourceDigest, sourceFolder } from './circuits.ts';
import { compileCircuit, describeCompiler } from './compile.ts';
import { isProduction } from './config.ts';
import { computeKeyInWorker } from './setup/key-in-worker.ts';

/** Change it whenever the setup's output changes for the same constraints. */
const SETUP_VERSION = 1;

export type BuildStage = 'compile' | 'setup' | 'verify' | 'ready';

export type BuildOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called as work proceeds; fraction of this stage, 0..1. */
  readonly onProgress?: ((stage: BuildStage, fraction: number) => void) | undefined;
};

/** Names of the files inside a circuit's folder. */
export const artifactFiles = {
  r1cs: 'circuit.r1cs',
  wasm: 'circuit.wasm',
  zkey: 'proving-key.zkey',
  verificationKey: 'verification-key.json',
} as const;

const computeSeed = (circuit: CircuitName): string => `pool ${circuit} ${SETUP_VERSION}`;

/** Digest of all that decides the artifacts' bytes; the cache is keyed by it. */
export const computeRecipe = (circuit: CircuitName): string =>
  computeDigest(
    JSON.stringify([
      circuit,
      computeSourceDigest(circuit),
      describeCompiler(),
      computeSeed(circuit),
    ]),
  );

/** @throws PoolError `insecure_dev_setup` when NODE_ENV is production */
export const refuseInProduction = (): void => {
  if (isProduction()) {
    throw new PoolError(
      'insecure_dev_setup',
      'Keys of the dev setup can be forged by anybody and are refused in production. ' +
        'Deploy keys from a ceremony, or unset NODE_ENV.',
      { status: 500 },
    );
  }
};

/**
 * Builds all artifacts of a circuit into an existing, empty folder.
 * @throws PoolError `insecure_dev_setup`, `compiler_missing`, `compile_failed`
 */
export const buildArtifacts = async (
  circuit: CircuitName,
  folder: string,
  options: BuildOptions = {},
): Promise<ManifestEntry> => {
  refuseInProduction();
  const { signal, onProgress } = options;
  onProgress?.('compile', 0);
  const recipe = computeRecipe(circuit);
  const source = join(sourceFolder(), `${circuit}.circom`);
  const compiled = await compileCircuit(source, folder, { signal });
  const paths = {
    r1cs: join(folder, artifactFiles.r1cs),
    wasm: join(folder, artifactFiles.wasm),
    zkey: join(folder, artifactFiles.zkey),
    verificationKey: join(folder, artifactFiles.verificationKey),
  };
  await rename(compiled.r1csPath, paths.r1cs);
  await rename(compiled.wasmPath, paths.wasm);
  await rm(join(folder, `${circuit}_js`), { recursive: true });

  onProgress?.('setup', 0);
  const { shape, digests, verificationKey } = await computeKeyInWorker(
    { r1csPath: paths.r1cs, zkeyPath: paths.zkey, seed: computeSeed(circuit) },
    { signal, onProgress: (fraction) => onProgress?.('setup', fraction) },
  );
  const json = `${JSON.stringify(verificationKey, null, 2)}\n`;
  await writeFile(paths.verificationKey, json);
  const sha256: ArtifactDigests = {
    r1cs: digests.r1cs,
    wasm: computeDigest(await readFile(paths.wasm)),
    zkey: digests.zkey,
    verificationKey: computeDigest(json),
  };
  return { recipe, ...shape, sha256 };
};
