/**
 * Codes of deployment, the sandbox and the test kit.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const toolErrors = {
  invalid_deployment: {
    meaning:
      'The options of the deployment contradict each other or lack a library. Correct those that the message names.',
  },
  deployment_failed: {
    meaning: 'A contract was not deployed. Look at the named transaction.',
  },
  deployment_differs: {
    meaning:
      "The chain differs from the deployment's plan; nothing was sent again. Look at the named address.",
  },
  development_key_on_public_chain: {
    meaning: 'Development keys protect nothing. Deploy on chain 31337 or 1337.',
  },
  process_not_started: {
    meaning: 'A process was not ready in time, or cannot run here. Read its output in the message.',
  },
  sandbox_failed: {
    meaning: 'A step of the sandbox failed. The message names the step and its log.',
  },
} as const satisfies ErrorEntries;
