/**
 * Errors of the prover. Recognise them by `code`; messages never contain an input.
 *
 * @module
 */

export type ProverErrorCode =
  /** The accelerator asked for is not there. */
  | 'accelerator_unavailable'
  /** The prover was closed, before or during the call. */
  | 'prover_closed'
  /** The caller's signal ended the proof. */
  | 'proof_aborted'
  /** The input has other signals than the circuit takes, or does not satisfy it. */
  | 'witness_refused'
  /** The engine stopped, or made a proof that does not verify. Trying again can help. */
  | 'proof_failed'
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
