/**
 * The keys with which the platform verifies proofs, one per circuit. It needs no proving key.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  openProductionKeys,
  readArtifactsManifest,
  type VerificationKey,
  verificationKeys,
} from '@pool/circuits';
import { type CircuitName, circuitNames, PoolError } from '@pool/core';

/** Keys of a ceremony, as `openProductionKeys` expects them. */
export type KeyFolder = { readonly folder: string; readonly manifest: string };

/** By the name of the circuit. */
export type VerificationKeys = ReadonlyMap<string, VerificationKey>;

/**
 * @param production - the keys of a ceremony; undefined: the development keys
 * @throws PoolError `artifact_refused` for a key that its manifest does not pin, and as `openProductionKeys`
 */
export async function loadVerificationKeys(
  production: KeyFolder | undefined,
): Promise<VerificationKeys> {
  if (production === undefined) {
    return new Map(circuitNames.map((name) => [name, readDevelopmentKey(name)]));
  }
  const keys = openProductionKeys(production);
  return new Map(
    await Promise.all(
      keys.circuits.map(async (name) => [name, await keys.readVerificationKey(name)] as const),
    ),
  );
}

function readDevelopmentKey(name: CircuitName): VerificationKey {
  const key = verificationKeys[name];
  // The digest of the file that the setup writes.
  const digest = createHash('sha256')
    .update(`${JSON.stringify(key, null, 2)}\n`)
    .digest('hex');
  if (digest !== readArtifactsManifest()[name].sha256.verificationKey) {
    throw new PoolError(
      'artifact_refused',
      `the development key of ${name} is not the one that artifacts.json pins; run \`pnpm generate\``,
    );
  }
  return key;
}
