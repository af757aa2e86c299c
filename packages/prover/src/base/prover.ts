/**
 * The interface of a prover, which is the same for every engine.
 *
 * @module
 */

import type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
import type { FileInput } from './file-input.ts';
import type { AcceleratorDescription, ProverMetrics } from './prover-metrics.ts';

// The data types of Groth16 (J. Groth, EUROCRYPT 2016, eprint 2016/260) over BN254 in the form of snarkjs: coordinates and
// public signals are decimal strings.

/** Public. */
export type Groth16Proof = {
  readonly pi_a: G1Json;
  readonly pi_b: G2Json;
  readonly pi_c: G1Json;
  readonly protocol: 'groth16';
  readonly curve: 'bn128';
};

/** A proof with its public signals, decimal strings in the circuit's order. */
export type ProofResult = {
  readonly proof: Groth16Proof;
  readonly publicSignals: readonly string[];
};

/** The files of one circuit. */
export type ProvingArtifact = {
  /** The witness program that circom 2 writes. */
  readonly wasm: FileInput;
  /** The proving key, as snarkjs writes it or in the compact form. */
  readonly zkey: FileInput;
  /** Refuses another key than the expected one. Default: the verification key in the proving key. */
  readonly verificationKey?: VerificationKey | undefined;
};

/** `artifacts` is reported only while an artifact source fetches or builds missing files. */
export type ProofStage = 'artifacts' | 'queued' | 'witness' | 'proof' | 'verify';

/** fraction: of this stage, 0..1. */
export type ProofProgress = (stage: ProofStage, fraction: number) => void;

/** Finds a circuit's files by its name. */
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
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ProofProgress | undefined;
} & (
  | {
      /** Name of a circuit, if the prover has an artifact source, or the files themselves. */
      readonly circuit: C | ProvingArtifact;
      /** Signals by name: BigInts, decimal strings, or nested arrays of them. Secret. */
      readonly input: Readonly<Record<string, unknown>>;
      readonly witness?: undefined;
    }
  | {
      readonly circuit: Omit<ProvingArtifact, 'wasm'>;
      /** A `.wtns` file, for example of a native generator. Secret: our copy is wiped, and yours is not. */
      readonly witness: FileInput;
      readonly input?: undefined;
    }
);

/** What the next proof of a circuit needs. */
export type LoadRequest<C extends string = string> = Pick<
  ProveRequest<C>,
  'signal' | 'onProgress'
> & { readonly circuit: C | ProvingArtifact };

export type Prover<C extends string = string> = {
  /** What the prover runs on now. It can change when a device goes away. */
  readonly accelerator: AcceleratorDescription;
  /**
   * Starts the engine, so that the first proof is faster, and describes it.
   * @param ahead - a circuit whose key and witness program are loaded too. A proof that is asked for meanwhile waits for them. Its progress
   *   is that of the key, as the stage `proof`
   * @throws ProverError `accelerator_unavailable`, `proof_failed`, `prover_closed`; with `ahead`, those of `prove` about files
   */
  readonly ready: (ahead?: LoadRequest<C>) => Promise<AcceleratorDescription>;
  /**
   * Makes a proof and verifies it before returning it. The sums of one run at a time. Further calls wait; those of one circuit run
   * together.
   * @throws ProverError, by `code`; errors of the artifact source, and an `Error` that a callback throws
   */
  readonly prove: (request: ProveRequest<C>) => Promise<ProofResult>;
  /**
   * @returns false if the proof or a public signal is malformed, out of range or wrong
   * @throws ProverError `verification_key_malformed`
   */
  readonly verify: (
    verificationKey: VerificationKey,
    publicSignals: readonly string[],
    proof: Groth16Proof,
  ) => Promise<boolean>;
  /** Numbers for monitoring; see `renderProverMetrics`. */
  readonly metrics: () => ProverMetrics;
  /** Ends all work. Running and waiting calls fail with `prover_closed`. Afterwards nothing keeps the process alive. */
  readonly close: () => Promise<void>;
};
