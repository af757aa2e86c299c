/**
 * The prover of the page. Its files are in `circuits/<circuit>/` beside the page, as a store of artifacts has them.
 *
 * @module
 */
import type { CircuitName, SpendCircuit } from '@pool/core';
import { createProver, type VerificationKey } from '@pool/prover';
import { createCircuitProver, type SpendProverPort } from '@pool/wallet';

export type PageProver = SpendProverPort & {
  /** Loads key and program of a circuit, and starts the threads. @throws ProverError */
  prepare(circuit: SpendCircuit, onProgress: (fraction: number) => void): Promise<void>;
};

/** Nothing is loaded before it is needed. @param page - folder of the page */
export function createPageProver(page: URL): PageProver {
  const fileOf = (circuit: CircuitName, file: string): string =>
    new URL(`circuits/${circuit}/${file}`, page).href;

  /** Keys other than those of this file are refused. What serves it serves this program too. */
  async function readVerificationKey(circuit: CircuitName): Promise<VerificationKey> {
    const answer = await fetch(fileOf(circuit, 'verification-key.json'), { cache: 'no-cache' });
    return (await answer.json()) as VerificationKey;
  }

  const prover = createProver<CircuitName>({
    artifacts: {
      ensureArtifacts: async (circuit) => ({
        wasm: fileOf(circuit, 'circuit.wasm'),
        zkey: fileOf(circuit, 'proving-key.pzky'),
        verificationKey: await readVerificationKey(circuit),
      }),
    },
    keyCacheDir: 'proving-keys',
  });
  return {
    ...createCircuitProver(prover, 'real', readVerificationKey),
    async prepare(circuit, onProgress) {
      await prover.ready({ circuit, onProgress: (_stage, fraction) => onProgress(fraction) });
    },
  };
}
