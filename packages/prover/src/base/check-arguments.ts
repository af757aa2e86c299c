/**
 * Checks of the callers' arguments. A wrong argument is a ProverError, like every other error of the package.
 *
 * @module
 */
import { argumentError } from './errors.ts';
import { assertFileInput, type FileInput } from './file-input.ts';
import type { ProveRequest, ProvingArtifact } from './prover.ts';

/** Node's timers do not accept a longer delay, in milliseconds. */
export const maximumTimeoutMs = 2 ** 31 - 1;

/**
 * Checks an optional whole number.
 * @throws ProverError `argument_invalid` if it is not a whole number from 1 to `maximum`
 */
export function assertWithin(name: string, value: number | undefined, maximum: number): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= maximum)) {
    throw argumentError(`The option ${name} must be a whole number from 1 to ${maximum}.`);
  }
}

/** @throws ProverError `argument_invalid` unless both files have one of the forms of a file */
export function assertArtifact(
  artifact: Partial<ProvingArtifact> | undefined,
): asserts artifact is ProvingArtifact {
  const { wasm, zkey } = artifact ?? {};
  if (wasm === undefined || zkey === undefined) {
    throw argumentError(
      'A circuit must have the files wasm and zkey, or be the name of a circuit.',
    );
  }
  assertFileInput(wasm, 'witness program');
  assertFileInput(zkey, 'proving key');
}

/** @throws ProverError `argument_invalid` unless there is a key for the witness, and no input */
function assertWitness(circuit: unknown, witness: FileInput, input: unknown): void {
  const { zkey } = (circuit ?? {}) as Partial<ProvingArtifact>;
  if (zkey === undefined || input !== undefined) {
    throw argumentError(
      'A request with a witness takes a circuit with the file zkey, and no input and no name of a circuit.',
    );
  }
  assertFileInput(zkey, 'proving key');
  assertFileInput(witness, 'witness');
}

/**
 * Checks the shape of a request. The witness program checks the input later.
 * @throws ProverError `argument_invalid`
 */
export function assertProveRequest<C extends string>(request: ProveRequest<C>): void {
  const { circuit, input, witness, signal, onProgress }: Partial<ProveRequest<C>> = request ?? {};
  if (witness !== undefined) {
    assertWitness(circuit, witness, input);
  } else if (typeof circuit !== 'string') {
    assertArtifact(circuit);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw argumentError('The field signal of a request must be an AbortSignal.');
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw argumentError('The field onProgress of a request must be a function.');
  }
}
