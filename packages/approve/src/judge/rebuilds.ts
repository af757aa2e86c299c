/**
 * Stored manifests, rebuilt. A rebuild verifies every piece of evidence and takes a second for 256 recipients, so the newest ones are
 * kept.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type EvidenceDomain,
  type Hex32,
  isPoolError,
  type ManifestFile,
  PoolError,
} from '@pool/core';
import { type RebuiltManifest, stepRebuildManifest } from '@pool/policy';

/** Health, callbacks and votes go on between two slices. */
const sliceMs = 8;

/** How many are kept: a batch of 256 is about a megabyte. */
const maxKept = 16;

export type Rebuilds = ReturnType<typeof createRebuilds>;

/** @param deps.evidence - the platform whose sign-in texts count, from the policy */
export function createRebuilds(deps: {
  readonly readFile: (manifestDigest: Hex32) => ManifestFile | undefined;
  readonly evidence: () => EvidenceDomain;
}) {
  const kept = new Map<Hex32, RebuiltManifest>();

  async function rebuildFile(file: ManifestFile): Promise<RebuiltManifest> {
    const rebuild = await runInSlices(stepRebuildManifest(file, deps.evidence()));
    if (rebuild.kind === 'refused') {
      throw new PoolError('manifest_refused', `${rebuild.message} (${rebuild.reason})`);
    }
    return rebuild.manifest;
  }

  function isCurrent({ evidence }: RebuiltManifest): boolean {
    const { domain, uri } = deps.evidence();
    return evidence.domain === domain && evidence.uri === uri;
  }

  /** Not after a change of what evidence is accepted. @param manifest - of exactly the file that is stored */
  function keep(manifest: RebuiltManifest): void {
    // What evidence is accepted changed while it was rebuilt: it would be refused for good.
    if (!isCurrent(manifest)) {
      return;
    }
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) {
      kept.delete(oldest);
    }
    kept.set(manifest.manifestDigest, manifest);
  }

  return {
    /** Keeps nothing: the file may be another one than the stored file. @throws PoolError `manifest_refused` if it cannot be rebuilt */
    rebuild: rebuildFile,
    keep,
    /** Undefined: nothing is stored, or it was erased, or it cannot be rebuilt any more. */
    async find(manifestDigest: Hex32): Promise<RebuiltManifest | undefined> {
      const known = kept.get(manifestDigest);
      if (known !== undefined) {
        return known;
      }
      const file = deps.readFile(manifestDigest);
      try {
        if (file === undefined) {
          return undefined;
        }
        let manifest = await rebuildFile(file);
        while (!isCurrent(manifest)) {
          manifest = await rebuildFile(file);
        }
        keep(manifest);
        return manifest;
      } catch (error) {
        if (isPoolError(error)) {
          return undefined;
        }
        throw error;
      }
    },
    /** After a change of what evidence is accepted. */
    forget: () => kept.clear(),
  };
}

/** @throws the error of the computation */
async function runInSlices<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
  let sinceMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
    if (performance.now() - sinceMs >= sliceMs) {
      await nextTurn();
      sinceMs = performance.now();
    }
  }
}
