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
      loopback_token_missing:
        'The agent has never run in this directory. Start `disburse-agent serve`.',
      delivery_not_kept:
        'This agent did not keep the sealed notes. Use the agent that made the batch, or a backup.',
    },
  },
  {
    exit: 2,
    meanings: {
      invalid_tenancy:
        'The named tenancy is malformed, not the current one, or has open jobs. Read it with `disburse-agent tenancy show`.',
      rotation_not_possible:
        'The wallet is not enrolled, or a viewing key or its place in the configuration is missing. Do what the message says.',
      gas_key_refused:
        'A self-submitted withdrawal needs a gas key, and not that of the holder. Set DISBURSE_GAS_PRIVATE_KEY to another key.',
    },
  },
  {
    status: 504,
    retry: true,
    meanings: {
      agent_unreachable:
        'The agent does not answer, and may have accepted the payment. Repeat the command with the same key.',
    },
  },
] as const satisfies readonly ErrorGroup[];
