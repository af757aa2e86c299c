/**
 * The interface of a prover: what callers hold, whatever engine is behind it.
 *
 * @module
 */

import type { VerificationKey } from '@pool/kernels';
import type { AcceleratorDescription } from './accelerator.ts';
import type { Groth16Proof, ProofResult } from './groth16.ts';
import type { ProverMetrics } from './prover-metrics.ts';

/** Files of one circuit; any snarkjs-compatible pair. */
export type ProvingArtifact = {
  readonly wasmPath: string;
  readonly zkeyPath: string;
  readonly verificationKey: VerificationKey;
};

/** `artifacts` only while an artifact source fetches or builds what is missing. */
export type ProofStage = 'artifacts' | 'queued' | 'witness' | 'proof' | 'verify';

/** fraction: of this stage, 0..1. */
export type ProofProgress = (stage: ProofStage, fraction: number) => void;

/** Where a prover gets a circuit's files from, by name. */
export type ArtifactSource<C extends string = string> = {
  readonly ensureArtifacts: (
    circuit: C,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly onProgress?: ((stage: string, fraction: number) => void) | undefined;
    },
  ) => Promise<ProvingArtifact>;
};

export type ProveRequest<C extends string = string> = {
  /** Name of a circuit, if the prover has an artifact source; or the files themselves. */
  readonly circuit: C | ProvingArtifact;
  /** Signals by name: BigInts, decimal strings, or nested arrays of them. Secret. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ProofProgress | undefined;
};

export type Prover<C extends string = string> = {
  /** What proves now; can change when a device goes away. */
  readonly accelerator: AcceleratorDescription;
  /**
   * Starts the engine, so that the first proof need not, and says what it is.
   * @throws ProverError `accelerator_unavailable`, `proof_failed`, `prover_closed`
   */
  readonly ready: () => Promise<AcceleratorDescription>;
  /**
   * Makes a proof and verifies it before it hands it out. One at a time; further calls wait their turn, those of one circuit together.
   * @throws ProverError, by `code`; whatever the artifact source throws
   */
  readonly prove: (request: ProveRequest<C>) => Promise<ProofResult>;
  /**
   * @returns false for anything malformed, out of range or wrong in proof and public signals
   * @throws ProverError `verification_key_malformed`
   */
  readonly verify: (
    verificationKey: VerificationKey,
    publicSignals: readonly string[],
    proof: Groth16Proof,
  ) => Promise<boolean>;
  /** Numbers for monitoring; see `renderProverMetrics`. */
  readonly metrics: () => ProverMetrics;
  /** Ends everything that runs, failing it with `prover_closed`. Afterwards nothing keeps the process alive. */
  readonly close: () => Promise<void>;
};
