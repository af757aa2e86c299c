/**
 * The interface of a proving engine: it computes the sums of a Groth16 proof. They depend only on the key and the witness,
 * and on nothing random. Two engines with the same key and witness return the same sums, bit for bit. The prover does blinding,
 * assembly and verification outside of the engine.
 *
 * @module
 */
import type { Image } from '@pool/kernels';
import type { G1Affine, G2Affine } from '../base/points.ts';
import type { Zkey, ZkeyHeader } from '../zkey/zkey.ts';
import type { PreparedKey } from './prepared-key.ts';

/**
 * The sums over the witness (a, b1, b2), and c: the sum over the private wires plus that over the quotient polynomial (h). All without
 * alpha, beta, delta and blinding. Secret.
 */
export type ProofSums = {
  readonly a: G1Affine;
  readonly b1: G1Affine;
  readonly b2: G2Affine;
  readonly c: G1Affine;
};

/** Parts of the work, for progress reports. */
export type EnginePhase = 'load' | 'quotient' | 'sums';

export type EngineOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction: of this phase, 0..1. */
  readonly onProgress?: ((phase: EnginePhase, fraction: number) => void) | undefined;
};

/** A proving key in the memory of an engine. */
export type ResidentKey = {
  /** Memory it occupies, in bytes. */
  readonly bytes: number;
  /**
   * @param witness - all wires, 32 bytes little-endian each, below r. Secret; not kept
   * @throws the signal's reason; ProverError `proof_failed`, `accelerator_lost`
   */
  readonly computeSums: (witness: Uint8Array, options?: EngineOptions) => Promise<ProofSums>;
  /** Its parts as they lie in memory, by name. Undefined if the engine does not restore keys. */
  readonly createImages?: () => ReadonlyMap<string, Image>;
  /** Frees its memory. Running sums fail. */
  readonly release: () => void;
};

export type Engine = {
  readonly kind: 'cpu' | 'webgpu';
  /** Description of what it runs on, for people: processor or adapter, threads, multiplier. */
  readonly detail: string;
  readonly load: (zkey: Zkey, options?: EngineOptions) => Promise<ResidentKey>;
  /** Names the format of the images of its keys. */
  readonly describeImageFormat?: () => Promise<string>;
  /** Takes up a key from images of the same format. @throws like `load`; ProverError `proof_failed` for damaged bytes */
  readonly restore?: (prepared: PreparedKey, options?: EngineOptions) => Promise<ResidentKey>;
  /** Memory in bytes that a key of this size and one proof with it need. Called before anything is loaded. */
  readonly estimateBytes?: (header: ZkeyHeader) => number;
  /** Whether it ended by itself, with its keys. It is closed then, and another one is started. */
  readonly isLost?: () => boolean;
  /** Frees everything: memory, threads, device. Afterwards nothing keeps the process alive. */
  readonly close: () => Promise<void>;
};
