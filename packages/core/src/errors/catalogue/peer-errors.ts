/**
 * Codes about a service that another one calls: the platform, its gate, the agent.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const peerErrors = {
  platform_unreachable: {
    status: 503,
    retry: true,
    meaning: 'The platform does not answer. Check DISBURSE_PLATFORM_URL and the network.',
  },
  platform_invalid_response: {
    status: 503,
    meaning:
      "The platform's answer does not fit this version. Check DISBURSE_PLATFORM_URL and both versions.",
  },
  edge_token_refused: {
    status: 503,
    meaning:
      "The platform refuses the agent's edge token. Mint a new one and set DISBURSE_PLATFORM_TOKEN.",
  },
  employer_mismatch: {
    status: 503,
    meaning:
      'The platform names another employer than this agent directory (`disburse-agent tenancy show`). Check the URL and the token.',
  },
  tenancy_unreadable: {
    status: 503,
    meaning:
      "The file of this agent directory's employer cannot be read. Restore it from a backup.",
  },
  gate_unreachable: {
    status: 503,
    retry: true,
    meaning: 'The pool-gate does not answer. Check its URL and the network.',
  },
  gate_unauthorized: {
    status: 502,
    meaning:
      "The pool-gate refuses the agent's credential. Check POOL_GATE_OAUTH_* or what the platform vends.",
  },
  gate_invalid_response: {
    status: 502,
    retry: true,
    meaning:
      "The pool-gate's answer is malformed or contradicts its root. Report it if it repeats.",
  },
  agent_unreachable: {
    status: 504,
    retry: true,
    meaning:
      'The agent does not answer, and may have accepted the payment. Repeat the command with the same key.',
  },
  agent_invalid_response: {
    status: 502,
    meaning:
      "The agent's answer is cut off or does not fit this version. Ask again with the same key.",
  },
  verification_unavailable: {
    status: 503,
    retry: true,
    meaning: 'API keys cannot be verified now. Try again, or check DISBURSE_PLATFORM_VERIFY_URL.',
  },
} as const satisfies ErrorEntries;
