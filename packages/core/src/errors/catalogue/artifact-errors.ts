/**
 * Codes of circuits, their keys and the ceremony.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const artifactErrors = {
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
  insecure_dev_setup: {
    status: 500,
    meaning:
      'NODE_ENV is production, and the keys are of the public development setup. Configure the keys of a ceremony.',
  },
  compile_failed: {
    meaning: 'The circuit does not compile, or the compiler is not installed. Read the message.',
  },
  verification_key_malformed: {
    meaning: 'The verification key cannot be used. Export or fetch it again.',
  },
  zkey_malformed: { meaning: 'The proving key cannot be used. Fetch it again.' },
  no_contribution: {
    status: 500,
    meaning:
      'The key has no secret contribution, so anyone can forge proofs under it. Use a key of a finished ceremony.',
  },
  artifact_malformed: {
    meaning:
      'A file of a circuit, key or ceremony cannot be used. Fetch it again, or make it as the message says.',
  },
  artifact_mismatch: {
    status: 500,
    meaning:
      'The configured digest, the manifest or the keys do not belong together. Use the files of one ceremony.',
  },
  ceremony_invalid: {
    meaning:
      'A contribution, a beacon or the powers of tau do not verify, or a beacon would not be last. Do not use the file.',
  },
  invalid_option: {
    meaning:
      'An option of the command or the path of a file is wrong. Correct what the message names.',
  },
} as const satisfies ErrorEntries;
