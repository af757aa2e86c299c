/**
 * Codes of deployment, the sandbox and the test kit.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const toolErrors = {
  invalid_deployment: { meaning: 'The options of the deployment contradict each other.' },
  deployment_failed: { meaning: 'A contract was not deployed.' },
  library_not_given: { meaning: 'A contract needs a library that was not deployed first.' },
  exit_missing_on_public_chain: {
    meaning: 'Tokens cannot leave this pool yet, so it is deployed on development chains only.',
  },
  sandbox_busy: { meaning: 'Another sandbox runs in the directory.' },
  sandbox_broken: { meaning: 'Parts of an earlier sandbox still run.' },
  sandbox_stopping: { meaning: 'The sandbox is being stopped.' },
  sandbox_signer_failed: { meaning: "The sandbox's signer failed." },
  edge_token_failed: { meaning: 'The sandbox could not mint an edge token.' },
  enrolment_failed: { meaning: 'The sandbox could not enrol a holder.' },
  job_not_finished: { meaning: 'The job did not end in time.' },
  transaction_not_found: { meaning: 'The chain has no such transaction.' },
  chain_not_started: { meaning: 'The local chain did not start.' },
  database_not_started: { meaning: 'The database server for tests did not start.' },
  process_not_started: { meaning: 'A process did not start.' },
  process_not_ready: { meaning: 'A process was not ready in time.' },
  unsupported_platform: { meaning: 'This operating system or processor is not supported.' },
} as const satisfies ErrorEntries;
