/**
 * Codes of circuits, their keys and the ceremony.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const artifactErrors = {
  unknown_circuit: {
    meaning: 'There is no circuit of that name. Use a listed name.',
  },
  artifact_missing: {
    status: 500,
    meaning: 'A file of a circuit or key is missing. Fetch it with `pool-circuits fetch`.',
  },
  artifact_refused: {
    status: 500,
    meaning:
      'The manifest pins another file for this circuit or key. Delete it and fetch it again.',
  },
  artifact_unavailable: {
    retry: true,
    meaning: 'A file of a circuit or key could not be fetched. Check the source and try again.',
  },
  artifacts_digest_mismatch: {
    status: 500,
    meaning:
      'The configured digest is of another manifest of artifacts. Use the manifest of the configured ceremony.',
  },
  artifacts_manifest_malformed: {
    meaning: 'The manifest of artifacts cannot be read. Fetch it again.',
  },
  circuit_not_pinned: {
    status: 500,
    meaning: 'The manifest does not pin the circuit. Use a manifest that has it.',
  },
  insecure_dev_setup: {
    status: 500,
    meaning:
      'NODE_ENV is production, and the keys are of the public development setup. Configure the keys of a ceremony.',
  },
  compile_failed: { meaning: "The circuit does not compile. Read the compiler's message." },
  compiler_missing: {
    meaning: 'The circuit compiler is not installed. Install the development dependency circom2.',
  },
  verification_key_malformed: {
    meaning: 'The verification key cannot be used. Export or fetch it again.',
  },
  r1cs_malformed: { meaning: 'The constraint system cannot be read. Build or fetch it again.' },
  zkey_malformed: { meaning: 'The proving key cannot be used. Fetch it again.' },
  ptau_malformed: { meaning: 'The powers-of-tau file cannot be used. Fetch it again.' },
  ptau_not_prepared: {
    meaning: 'The powers-of-tau file has no Lagrange basis. Prepare it for phase 2.',
  },
  ptau_too_small: {
    meaning: 'The powers-of-tau file is too small for the circuit. Use one of the named size.',
  },
  ptau_digest_mismatch: {
    meaning:
      'The powers-of-tau file does not have the given digest. Fetch the file of that digest.',
  },
  ptau_inconsistent: {
    meaning: 'The powers in the powers-of-tau file do not belong together. Do not use the file.',
  },
  ptau_contribution_invalid: {
    meaning: 'A contribution to the powers of tau does not verify. Do not use the file.',
  },
  ptau_no_secret_contribution: {
    meaning:
      'The powers of tau hold no secret contribution. Use a file with one, or pin it by its digest.',
  },
  no_contribution: {
    status: 500,
    meaning:
      'The key has no contribution, so anyone can forge proofs under it. Use a key of a finished ceremony.',
  },
  no_secret_contribution: {
    status: 500,
    meaning:
      "The key has only a beacon's contribution, so anyone can forge proofs under it. Use a key with a secret contribution.",
  },
  ceremony_closed: {
    meaning: 'The key contains a beacon, and nothing may follow it. Use the key as it is.',
  },
  beacon_invalid: {
    meaning:
      'The beacon is malformed or does not match the contribution. Correct it, or do not use the key.',
  },
  beacon_not_last: { meaning: 'A contribution follows the beacon. Do not use the key.' },
  beacon_mismatch: {
    meaning: "A beacon's factor does not follow from the beacon that it names. Do not use the key.",
  },
  contribution_point_invalid: {
    meaning: 'A point of a contribution is not in its group. Do not use the key.',
  },
  contribution_transcript_mismatch: {
    meaning: 'A contribution does not continue the transcript before it. Do not use the key.',
  },
  contribution_proof_invalid: {
    meaning: 'A contribution does not prove that its factor was known. Do not use the key.',
  },
  contribution_delta_mismatch: {
    meaning: 'A contribution did not multiply delta by its own factor. Do not use the key.',
  },
  contribution_trivial: {
    meaning: "A contribution's factor is 1 or -1, so it adds no secret. Contribute again.",
  },
  entropy_missing: {
    meaning: "No entropy was given for the contribution. Give some, as the command's help says.",
  },
  contribution_name_invalid: {
    meaning: "A contribution's name is not 1 to 64 printable characters. Choose another name.",
  },
  contract_name_invalid: {
    meaning: "The verifier contract's name is not a Solidity identifier. Choose another name.",
  },
  verifier_shape_unsupported: {
    meaning:
      "The key has another number of public inputs than the verifier. Use a key of this repository's circuits.",
  },
  circuit_mismatch: { meaning: 'The key is of another circuit. Use the key of this circuit.' },
  circuit_hash_mismatch: {
    meaning: 'The contributions are about another circuit. Use the key of this circuit.',
  },
  coefficients_mismatch: {
    meaning: "The key's coefficients are not those of the circuit. Do not use the key.",
  },
  powers_mismatch: {
    meaning: 'The key was made from other powers of tau. Use their file, or do not use the key.',
  },
  a_points_mismatch: {
    meaning: "The key's A points are not those of the circuit. Do not use the key.",
  },
  b1_points_mismatch: {
    meaning: "The key's B points in G1 are not those of the circuit. Do not use the key.",
  },
  b2_points_mismatch: {
    meaning: "The key's B points in G2 are not those of the circuit. Do not use the key.",
  },
  public_points_mismatch: {
    meaning: "The key's public points are not those of the circuit. Do not use the key.",
  },
  private_points_mismatch: {
    meaning: "The key's private points are not those of the circuit. Do not use the key.",
  },
  quotient_points_mismatch: {
    meaning: "The key's quotient points are not those of the circuit. Do not use the key.",
  },
  delta_trivial: {
    meaning: "The key's delta is one, so anyone can forge proofs under it. Do not use the key.",
  },
  delta_invalid: { meaning: 'A contribution to delta does not verify. Do not use the key.' },
  delta_mismatch: {
    meaning: "The key's delta is not that of its last contribution. Do not use the key.",
  },
  delta_pair_mismatch: {
    meaning: "The key's delta points in both groups hold different values. Do not use the key.",
  },
  key_pair_mismatch: {
    status: 500,
    meaning: 'The verification key belongs to another proving key. Use two files of one ceremony.',
  },
  file_missing: { meaning: 'There is no file at the path. Correct the path.' },
  file_exists: {
    meaning: 'The file exists and is not overwritten. Name another path, or remove it.',
  },
} as const satisfies ErrorEntries;
