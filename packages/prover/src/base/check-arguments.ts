/**
 * Checks of the callers' arguments. A wrong argument is a ProverError, like every other error of the package.
 *
 * @module
 */
import { ProverError } from './errors.ts';
import type { ProveRequest, ProvingArtifact } from './prover.ts';

/** Node's timers do not accept a longer delay, in milliseconds. */
export const maximumTimeoutMs = 2 ** 31 - 1;

/** The error for an option or argument that has the wrong type or is out of range. `message` never contains a secret. */
export function argumentError(message: string, cause?: unknown): ProverError {
  return new ProverError('argument_invalid', message, { cause });
}

/**
 * Checks an optional whole number.
 * @throws ProverError `argument_invalid` if it is not a whole number from 1 to `maximum`
 */
export function assertWithin(name: string, value: number | undefined, maximum: number): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= maximum)) {
    throw argumentError(`The option ${name} must be a whole number from 1 to ${maximum}.`);
  }
}

/** @throws ProverError `argument_invalid` unless both paths are strings */
export function assertArtifact(artifact: ProvingArtifact): void {
  const { wasmPath, zkeyPath }: Record<keyof ProvingArtifact, unknown> = artifact ?? {};
  if (typeof wasmPath !== 'string' || typeof zkeyPath !== 'string') {
    throw argumentError(
      'A circuit must have the paths wasmPath and zkeyPath as strings, or be the name of a circuit.',
    );
  }
}

/**
 * Checks the shape of a request. The witness program checks the input later.
 * @throws ProverError `argument_invalid`
 */
export function assertProveRequest<C extends string>(request: ProveRequest<C>): void {
  const { circuit, signal, onProgress }: Partial<ProveRequest<C>> = request ?? {};
  if (typeof circuit !== 'string') {
    assertArtifact(circuit);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw argumentError('The field signal of a request must be an AbortSignal.');
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw argumentError('The field onProgress of a request must be a function.');
  }
}
