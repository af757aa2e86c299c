/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      loopback_token_missing:
        'The agent has never run in this directory. Start `disburse-agent serve`.',
      invitations_in_use:
        'Another command of this directory makes or reads invitations. Run this one again when that has ended.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      prover_unavailable:
        'No process of the fleet makes the proof. Start `disburse-agent prover`, or do what the message says.',
    },
  },
  {
    exit: 2,
    meanings: {
      rotation_not_possible:
        'The wallet is not enrolled, or a viewing key or its place in the configuration is missing. Do what the message says.',
      gas_key_refused:
        'A self-submitted withdrawal needs a gas key, and not that of the holder. Set DISBURSE_GAS_PRIVATE_KEY to another key.',
    },
  },
] as const satisfies readonly ErrorGroup[];
