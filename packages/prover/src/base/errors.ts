/**
 * Errors of the prover. Recognise them by `code`; messages never contain an input.
 *
 * @module
 */

export type ProverErrorCode =
  /** An option or argument has the wrong type or is out of range. */
  | 'argument_invalid'
  /** The requested accelerator is missing. */
  | 'accelerator_unavailable'
  /** The accelerator went away in the middle of the work. Trying again can help. */
  | 'accelerator_lost'
  /** The accelerator is present and reported an error: a shader, a binding or a command that it does not accept. */
  | 'accelerator_refused'
  /** The proving key needs a larger buffer or binding than the accelerator has. */
  | 'accelerator_limit_exceeded'
  /** This version of Node is too old. */
  | 'runtime_unsupported'
  /** The prover was closed, before or during the call. */
  | 'prover_closed'
  /** The caller's signal ended the proof. */
  | 'proof_aborted'
  /** The input has other signals than the circuit, or does not satisfy it. */
  | 'witness_refused'
  /** The witness program did not end in time. */
  | 'witness_timeout'
  /** The witness program is not one that circom 2 made for BN254. */
  | 'witness_program_malformed'
  /** The witness file is damaged, or not a witness over BN254. */
  | 'witness_malformed'
  /** The constraint file is damaged, not of circom's format, or not over BN254. */
  | 'r1cs_malformed'
  /** The proving key is damaged, or not a Groth16 key over BN254. */
  | 'zkey_malformed'
  /** A file cannot be read. */
  | 'artifact_unreadable'
  /** Witness program, proving key and verification key are not of one circuit. */
  | 'artifacts_mismatch'
  /** The proving key, the witness program or its witness needs more memory than the prover may use. */
  | 'memory_budget_exceeded'
  /** The engine stopped, or made a proof that does not verify. Trying again can help. */
  | 'proof_failed'
  /** The program of a thread did not load: a bundler left its file out, or a policy refuses it. */
  | 'thread_file_missing'
  /** It could not be decided whether the proof is valid. Trying again can help. */
  | 'verifier_unavailable'
  /** The verification key is not a BN254 Groth16 key. */
  | 'verification_key_malformed'
  /** A prover for dry runs was asked for a proof. */
  | 'prover_mock';

export class ProverError extends Error {
  readonly code: ProverErrorCode;
  readonly retryable: boolean;

  constructor(
    code: ProverErrorCode,
    message: string,
    options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ProverError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** The error for an option or argument that has the wrong type or is out of range. `message` never contains a secret. */
export function argumentError(message: string, cause?: unknown): ProverError {
  return new ProverError('argument_invalid', message, { cause });
}

export function closedError(): ProverError {
  return new ProverError('prover_closed', 'The prover is closed.');
}
