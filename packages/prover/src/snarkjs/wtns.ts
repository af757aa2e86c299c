/**
 * snarkjs' `wtns`: witness files.
 *
 * @module
 */

import { decodeIntegers } from '@pool/kernels';
import { explainRefusal } from '../witness/check-constraints.ts';
import { encodeWitnessFile, readWitnessFile } from '../witness/witness-file.ts';
import {
  createWitnessRunner,
  defaultWitnessLimits,
  type WitnessRunner,
} from '../witness/witness-runner.ts';
import { type InputFile, type OutputFile, toFileInput, writeSecret } from './files.ts';
import type { Logger } from './groth16.ts';

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

const { maximumBytes } = defaultWitnessLimits;

/** Calls `use` with the wires of a witness file and wipes them afterwards. */
async function withWires<T>(
  file: InputFile,
  use: (wires: Uint8Array) => T | Promise<T>,
): Promise<T> {
  const wires = await readWitnessFile(toFileInput(file), { maximumBytes });
  try {
    return await use(wires);
  } finally {
    wires.fill(0);
  }
}

/**
 * Whether a witness satisfies the constraints of a circuit.
 * @param r1csFilename - what `circom --r1cs` wrote
 * @param wtnsFilename - a `.wtns` file. Secret
 * @param logger - `info` receives the result; `warn` receives what is wrong, without values of the witness
 * @throws ProverError `r1cs_malformed`, `witness_malformed`, `artifact_unreadable`
 */
async function check(
  r1csFilename: InputFile,
  wtnsFilename: InputFile,
  logger?: Logger,
): Promise<boolean> {
  const refusal = await withWires(
    wtnsFilename,
    async (wires) => await explainRefusal(toFileInput(r1csFilename), wires, maximumBytes),
  );
  if (refusal === undefined) {
    logger?.info?.('WITNESS IS CORRECT');
    return true;
  }
  logger?.warn?.(refusal);
  logger?.warn?.('WITNESS IS NOT CORRECT');
  return false;
}

/**
 * All wires of a witness, each from 0 to r - 1. Secret.
 * @throws ProverError `witness_malformed`, `artifact_unreadable`
 */
async function exportJson(wtnsFileName: InputFile): Promise<bigint[]> {
  return await withWires(wtnsFileName, decodeIntegers);
}

export const wtns = { calculate, check, exportJson };
