/**
 * A prover for dry runs: it verifies and refuses to prove.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';
import type { Prover } from '../base/prover.ts';
import { verifyProof } from './verify-proof.ts';

const mock = { kind: 'none', detail: 'mock: dry runs only' } as const;

/** `prove` always throws ProverError `prover_mock`. */
export function createMockProver<C extends string = string>(): Prover<C> {
  return {
    accelerator: mock,
    ready: () => Promise.resolve(mock),
    prove: () =>
      Promise.reject(
        new ProverError('prover_mock', 'This prover is for dry runs and makes no proofs.'),
      ),
    verify: (verificationKey, publicSignals, proof) =>
      Promise.resolve().then(() => verifyProof(verificationKey, publicSignals, proof)),
    metrics: () => ({
      accelerator: mock,
      circuits: [],
      queued: 0,
      running: 0,
      proofs: 0,
      failures: 0,
      secondsBusy: 0,
      residentKeys: 0,
      residentBytes: 0,
      memoryBudgetBytes: 0,
      evictions: 0,
      acceleratorLosses: 0,
      acceleratorRefusals: 0,
      wrongResults: 0,
      acceleratorRetired: 0,
    }),
    close: () => Promise.resolve(),
  };
}
