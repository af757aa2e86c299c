/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      verification_key_malformed: 'The verification key cannot be used. Export or fetch it again.',
      reverted: 'The transaction reverted without a known reason. Look at it on the chain.',
      out_of_gas: 'The transaction ran out of gas. Report it to the operator, who sets the limits.',
      invalid_deployment:
        'The options of the deployment contradict each other or lack a library. Correct those that the message names.',
      deployment_failed: 'A contract was not deployed. Look at the named transaction.',
      deployment_differs:
        "The chain differs from the deployment's plan; nothing was sent again. Look at the named address.",
      development_key_on_public_chain:
        'Development keys protect nothing. Deploy on chain 31337 or 1337.',
    },
  },
  {
    status: 503,
    meanings: {
      pool_code_differs:
        'A contract of the pool does not have the code of the pinned keys. Compare chains.json and the manifest with the published ones.',
    },
  },
] as const satisfies readonly ErrorGroup[];
