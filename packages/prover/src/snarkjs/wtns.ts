/**
 * snarkjs' `wtns`: witness files.
 *
 * @module
 */
import { encodeWitnessFile } from '../witness/witness-file.ts';
import {
  createWitnessRunner,
  defaultWitnessLimits,
  type WitnessRunner,
} from '../witness/witness-runner.ts';
import { type InputFile, type OutputFile, toFileInput, writeSecret } from './files.ts';

// One for the process. Its thread starts with the first call and does not keep the process alive.
let runner: WitnessRunner | undefined;

/**
 * Computes a witness.
 * @param input - signals by name. Secret
 * @param wtnsFileName - receives the `.wtns` file, which is secret. Only the owner may read it
 * @param options - accepted and not used
 * @throws ProverError
 */
async function calculate(
  input: Readonly<Record<string, unknown>>,
  wasmFileName: InputFile,
  wtnsFileName: OutputFile,
  _options?: object,
): Promise<void> {
  runner ??= createWitnessRunner(defaultWitnessLimits);
  const wires = await runner.compute(toFileInput(wasmFileName), input);
  let file: Uint8Array;
  try {
    file = encodeWitnessFile(wires);
  } finally {
    wires.fill(0);
  }
  let isOurs = true;
  try {
    isOurs = (await writeSecret(wtnsFileName, file)) === 'copied';
  } finally {
    if (isOurs) {
      file.fill(0);
    }
  }
}

export const wtns = { calculate };
