/**
 * snarkjs' `zKey`: what a proving key contains.
 *
 * @module
 */
import { type ExportedVerificationKey, toExportedVerificationKey } from '@pool/kernels';
import { readVerificationKey } from '../zkey/open-zkey.ts';
import { type InputFile, toFileInput } from './files.ts';

/**
 * Reads the verification key out of a Groth16 proving key.
 * @throws ProverError `zkey_malformed`, `artifact_unreadable`
 */
async function exportVerificationKey(
  zkeyName: InputFile,
  _logger?: object,
): Promise<ExportedVerificationKey> {
  return toExportedVerificationKey(await readVerificationKey(toFileInput(zkeyName)));
}

export const zKey = { exportVerificationKey };
