/**
 * Builds a circuit's artifacts from its sources: compile, dev setup, files (protocol §9). Refused in production, where keys come
 * from a ceremony.
 *
 * @module
 */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CircuitName, PoolError } from '@pool/core';
import {
  type ArtifactDigests,
  type ArtifactKind,
  computeDigest,
  computeFileDigest,
  type ManifestEntry,
} from '../artifacts-manifest.ts';
import { computeSourceDigest, sourceFolder } from '../circuits.ts';
import { accelerateProgram, knownSources, programVersion } from '../program/accelerate-program.ts';
import { computeKeyInWorker } from '../setup/key-in-worker.ts';
import { compileCircuit, describeCompiler } from './compile.ts';
import { isProduction } from './config.ts';

/** The trapdoor is derived from it. Change it whenever the setup's output changes for the same constraints. */
const setupVersion = 1;
/** Change it whenever other files are kept, or the same files in another form. */
const filesVersion = 4;

export type BuildStage = 'compile' | 'setup' | 'verify' | 'ready';

export type BuildOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called while the work proceeds. fraction: of this stage, 0..1. */
  readonly onProgress?: ((stage: BuildStage, fraction: number) => void) | undefined;
};

/** Names of the files of a circuit. */
export const artifactFiles: Readonly<Record<ArtifactKind, string>> = {
  r1cs: 'circuit.r1cs',
  wasm: 'circuit.wasm',
  zkey: 'proving-key.zkey',
  compactKey: 'proving-key.pzky',
  verificationKey: 'verification-key.json',
};

/** The public seed of the dev setup of a circuit. */
export function computeSeed(circuit: CircuitName): string {
  return `pool ${circuit} ${setupVersion}`;
}

/** Digest of everything that determines the artifacts' bytes. It is the key of the cache. */
export function computeRecipe(circuit: CircuitName): string {
  return computeDigest(
    JSON.stringify([
      circuit,
      computeSourceDigest(circuit),
      describeCompiler(),
      computeSeed(circuit),
      filesVersion,
      programVersion,
    ]),
  );
}

/**
 * Templates of another source would be replaced by functions with wrong wires.
 * @throws PoolError `compile_failed`
 */
export function requireKnownSources(folder = sourceFolder()): void {
  for (const [name, digest] of knownSources) {
    if (computeSourceDigest(name, folder) !== digest) {
      throw new PoolError(
        'compile_failed',
        `circom/${name}.circom or a file that it includes is not the one that the witness programs are accelerated for. ` +
          'Restore it, or adapt src/program and its knownSources.',
      );
    }
  }
}

/** @throws PoolError `insecure_dev_setup` if NODE_ENV is production */
export function refuseInProduction(): void {
  if (isProduction()) {
    throw new PoolError(
      'insecure_dev_setup',
      'Anyone can forge proofs under keys of the dev setup, so they are refused in production. ' +
        'Deploy keys from a ceremony, or unset NODE_ENV.',
    );
  }
}

/** The manifest's entry. It has a digest for each form of the key that was written. */
export type BuiltArtifacts = Omit<ManifestEntry, 'sha256'> & {
  readonly sha256: { readonly [kind in ArtifactKind]?: string | undefined };
};

/** Compiles a circuit into an existing, empty folder: constraints and witness program. */
async function compileInto(
  circuit: CircuitName,
  folder: string,
  { signal, onProgress }: BuildOptions,
): Promise<void> {
  onProgress?.('compile', 0);
  const source = join(sourceFolder(), `${circuit}.circom`);
  const compiled = await compileCircuit(source, folder, { signal });
  await rename(compiled.r1csPath, join(folder, artifactFiles.r1cs));
  await rename(compiled.wasmPath, join(folder, artifactFiles.wasm));
  await rm(join(folder, `${circuit}_js`), { recursive: true });
}

/**
 * Builds a circuit's constraint file into an existing, empty folder. The witness program beside it is circom's own, for comparisons.
 * @returns its digest
 * @throws PoolError `compile_failed`
 */
export async function buildConstraints(
  circuit: CircuitName,
  folder: string,
  options: BuildOptions = {},
): Promise<Pick<ArtifactDigests, 'r1cs'>> {
  await compileInto(circuit, folder, options);
  return { r1cs: await computeFileDigest(join(folder, artifactFiles.r1cs)) };
}

/**
 * Builds the files a prover needs into an existing, empty folder: witness program, proving key in its compact form, verification
 * key. The constraint file, the largest of all, is built in between and not kept. The standard form of the key is written only on
 * request.
 * @throws PoolError `insecure_dev_setup`, `compile_failed`
 */
export async function buildArtifacts(
  circuit: CircuitName,
  folder: string,
  options: BuildOptions & { readonly standardKey?: boolean } = {},
): Promise<BuiltArtifacts> {
  refuseInProduction();
  requireKnownSources();
  const { signal, onProgress, standardKey = false } = options;
  const recipe = computeRecipe(circuit);
  const scratch = await mkdtemp(join(folder, '.compile-'));
  const path = (kind: ArtifactKind) => join(folder, artifactFiles[kind]);
  const r1csPath = join(scratch, artifactFiles.r1cs);
  await compileInto(circuit, scratch, options);
  const program = accelerateProgram(await readFile(join(scratch, artifactFiles.wasm)));
  await writeFile(path('wasm'), program);

  onProgress?.('setup', 0);
  const { shape, digests, verificationKey } = await computeKeyInWorker(
    {
      r1csPath,
      compactPath: path('compactKey'),
      zkeyPath: standardKey ? path('zkey') : undefined,
      seed: computeSeed(circuit),
    },
    { signal, onProgress: (fraction) => onProgress?.('setup', fraction) },
  );
  const json = `${JSON.stringify(verificationKey, null, 2)}\n`;
  await writeFile(path('verificationKey'), json);
  const sha256 = {
    r1cs: await computeFileDigest(r1csPath),
    wasm: computeDigest(program),
    ...digests,
    verificationKey: computeDigest(json),
  };
  await rm(scratch, { recursive: true });
  return { recipe, ...shape, sha256 };
}
