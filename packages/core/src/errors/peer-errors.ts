/**
 * Codes about a service that another one calls: the platform, its gate, the agent.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const peerErrors = {
  platform_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The platform does not answer the agent.',
  },
  platform_unreachable: { status: 503, retry: true, meaning: 'The platform does not answer.' },
  platform_invalid_response: {
    status: 503,
    meaning: "The platform's answer is not one of this version.",
  },
  edge_token_refused: { status: 503, meaning: "The platform refuses the agent's edge token." },
  employer_mismatch: {
    status: 503,
    meaning: 'The platform names another employer than this agent directory belongs to.',
  },
  tenancy_unreadable: {
    status: 503,
    meaning: 'The file that says whose payments this agent makes cannot be read.',
  },
  gate_unavailable: { retry: true, meaning: 'Pool-gate could not be asked for this check.' },
  gate_unreachable: { status: 503, retry: true, meaning: 'Pool-gate does not answer.' },
  gate_unauthorized: { status: 502, meaning: 'Pool-gate refuses the credential.' },
  gate_invalid_response: {
    status: 502,
    retry: true,
    meaning: "Pool-gate's answer is malformed or its paths do not lead to its root.",
  },
  agent_unreachable: {
    status: 504,
    retry: true,
    meaning: 'The agent does not answer the command.',
  },
  agent_invalid_response: {
    status: 502,
    meaning: "The agent's answer is not one of this version, or was cut off.",
  },
  verification_unavailable: { status: 503, meaning: 'API keys cannot be verified now.' },
  invalid_url: { meaning: 'A configured address of a service is not a plain http or https URL.' },
} as const satisfies ErrorEntries;
