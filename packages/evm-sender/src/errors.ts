/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      gas_ceiling_exceeded:
        'The call needs more gas than a batch of its size gets. Use a funder whose signature check costs less.',
    },
  },
  {
    status: 502,
    meanings: {
      transaction_rejected:
        "The chain's node refuses the transaction for good. The operator reads the reason in the log.",
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      fee_cap_reached: "The chain's fees are above the configured cap. Wait, or raise the cap.",
    },
  },
] as const satisfies readonly ErrorGroup[];
