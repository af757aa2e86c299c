/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      credentials_not_revoked:
        'The command failed and could not revoke what it made. Revoke what the message names.',
    },
  },
  {
    status: 502,
    meanings: {
      gate_unauthorized:
        "The pool-gate refuses the agent's credential. Check POOL_GATE_OAUTH_* or what the platform vends.",
    },
  },
] as const satisfies readonly ErrorGroup[];
