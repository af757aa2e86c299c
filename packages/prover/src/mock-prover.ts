/**
 * A prover for dry runs: it verifies, and refuses to prove.
 *
 * @module
 */
import { ProverError } from './errors.ts';
import type { Prover } from './prover.ts';
import { verifyProof } from './verify-proof.ts';

/** `prove` always throws ProverError `prover_mock`. */
export const createMockProver = <C extends string = string>(): Prover<C> => ({
  accelerator: { kind: 'none', detail: 'mock: dry runs only' },
  prove: () =>
    Promise.reject(
      new ProverError('prover_mock', 'This prover is for dry runs only and makes no proofs.'),
    ),
  verify: (verificationKey, publicSignals, proof) =>
    Promise.resolve().then(() => verifyProof(verificationKey, publicSignals, proof)),
  close: () => Promise.resolve(),
});
