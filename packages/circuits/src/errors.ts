/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      compile_failed:
        'The circuit does not compile, or the compiler is not installed. Read the message.',
      zkey_malformed: 'The proving key cannot be used. Fetch it again.',
      artifact_malformed:
        'A file of a circuit, key or ceremony cannot be used. Fetch it again, or make it as the message says.',
      ceremony_invalid:
        'A contribution, a beacon or the powers of tau do not verify, or a beacon would not be last. Do not use the file.',
      invalid_option:
        'An option of the command or the path of a file is wrong. Correct what the message names.',
    },
  },
  {
    retry: true,
    meanings: {
      artifact_unavailable:
        'A file of a circuit or key could not be fetched. Check the source and try again.',
    },
  },
  {
    status: 500,
    meanings: {
      artifact_missing:
        'A file of a circuit or key is missing. Fetch it with `pool-circuits fetch`.',
      artifact_refused:
        'The manifest pins another file for this circuit or key. Delete it and fetch it again.',
      insecure_dev_setup:
        'NODE_ENV is production, and the keys are of the public development setup. Configure the keys of a ceremony.',
      no_contribution:
        'The key has no secret contribution, so anyone can forge proofs under it. Use a key of a finished ceremony.',
      artifact_mismatch:
        'The configured digest, the manifest or the keys do not belong together. Use the files of one ceremony.',
    },
  },
] as const satisfies readonly ErrorGroup[];
