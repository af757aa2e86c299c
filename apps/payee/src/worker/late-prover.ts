/**
 * The prover of the page. It is loaded while a payment is read before it is sent, or for its proof.
 *
 * @module
 */
import type { SpendCircuit } from '@pool/core';
import type { SpendProverPort } from '@pool/wallet';
import type { PageProver } from './page-prover.ts';

export type LateProver = SpendProverPort & {
  /** Loads what the next proof of the circuit needs. A failure is not told: the proof loads again. */
  prepare(circuit: SpendCircuit): void;
};

/** Share of a proof's progress that it waits for the loading. */
const loadingShare = 0.4;

export function createLateProver(load: () => Promise<PageProver>): LateProver {
  type Loading = { readonly done: Promise<void>; tell: (fraction: number) => void };
  let loaded: ReturnType<typeof load> | undefined;
  const underway = new Map<string, Loading>();

  async function find(): Promise<PageProver> {
    loaded ??= load();
    try {
      return await loaded;
    } catch (error) {
      loaded = undefined;
      throw error;
    }
  }

  return {
    mode: 'real',
    prepare(circuit) {
      if (underway.has(circuit)) return;
      const prepared = find().then((prover) =>
        prover.prepare(circuit, (fraction) => loading.tell(fraction)),
      );
      const done = prepared.catch(() => undefined).finally(() => underway.delete(circuit));
      const loading: Loading = { done, tell: () => undefined };
      underway.set(circuit, loading);
    },
    async prove(circuit, input, options) {
      const loading = underway.get(circuit);
      if (loading === undefined) return await (await find()).prove(circuit, input, options);
      const { onProgress } = options;
      loading.tell = (fraction) => onProgress(loadingShare * fraction);
      await loading.done;
      return await (await find()).prove(circuit, input, {
        ...options,
        onProgress: (fraction) => onProgress(loadingShare + (1 - loadingShare) * fraction),
      });
    },
    verify: async (...proof) => (await find()).verify(...proof),
  };
}
