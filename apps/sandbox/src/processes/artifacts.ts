/**
 * The circuit artifacts the agent proves with: made once for each machine, cached by digest.
 *
 * @module
 */
import { createArtifactStore } from '@pool/circuits';
import type { CircuitName } from '@pool/core';
import type { Progress } from './progress.ts';

export async function ensureProvingKey(circuit: CircuitName, progress: Progress): Promise<void> {
  progress.step(`proving key of ${circuit}`);
  await createArtifactStore().ensureArtifacts(circuit, {
    onProgress: (stage, fraction) => {
      progress.detail(`${stage} ${Math.round(fraction * 100)} %`);
    },
  });
}
