/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      control_file_stale:
        'The control file names another process than the platform. Restart the platform.',
    },
  },
  {
    status: 409,
    meanings: {
      platform_not_running:
        'The command needs the running platform. Start it with the same data directory.',
    },
  },
] as const satisfies readonly ErrorGroup[];
