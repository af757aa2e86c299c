/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    status: 502,
    meanings: {
      agent_invalid_response:
        "The agent's answer is cut off or does not fit this version. Ask again with the same key.",
      webhook_invalid_response:
        'The receiver of a webhook answered with a redirect, or with too many bytes. Name its final address, and answer with an empty body.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      custodian_unreachable: 'The custodian does not answer. Check its URL and the network.',
      approver_unreachable:
        'The approve process does not answer. Check that it runs, and DISBURSE_APPROVE_URL.',
      webhook_unreachable:
        'The receiver of a webhook does not answer. The delivery is tried again for three days.',
    },
  },
] as const satisfies readonly ErrorGroup[];
