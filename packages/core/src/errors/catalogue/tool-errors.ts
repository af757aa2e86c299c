/**
 * Codes of deployment, the sandbox and the test kit.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const toolErrors = {
  invalid_deployment: {
    meaning:
      'The options of the deployment contradict each other. Correct those that the message names.',
  },
  deployment_failed: {
    meaning: 'A contract was not deployed. Look at the named transaction.',
  },
  deployment_differs: {
    meaning:
      "The chain differs from the deployment's plan; nothing was sent again. Look at the named address.",
  },
  library_not_given: {
    meaning:
      'A contract needs a library that was not deployed first. Deploy the library and give its address.',
  },
  development_key_on_public_chain: {
    meaning: 'Development keys protect nothing. Deploy on chain 31337 or 1337.',
  },
  sandbox_busy: { meaning: 'Another sandbox runs in the directory. Stop it first.' },
  sandbox_broken: { meaning: 'Parts of an earlier sandbox still run. Stop it, then start again.' },
  sandbox_not_started: {
    meaning: 'A step of the start failed. The message names the step, its URL and its log.',
  },
  sandbox_stopping: { meaning: 'The sandbox is stopping. Start it again when it has stopped.' },
  edge_token_failed: {
    meaning: "The sandbox could not mint an edge token. Read the platform's log.",
  },
  enrolment_failed: { meaning: "The sandbox could not enrol a holder. Read the platform's log." },
  demo_failed: {
    meaning: "A command of the demonstration's recipient failed. Its message is above.",
  },
  job_not_finished: { meaning: "The job did not end in time. Read the agent's log." },
  transaction_not_found: {
    meaning: 'The chain has no such transaction. Check the hash and the chain.',
  },
  chain_not_started: { meaning: 'The local chain did not start. Check that anvil is installed.' },
  database_not_started: { meaning: 'The database server for tests did not start. Read its log.' },
  process_not_started: { meaning: 'A process did not start. Read its output in the message.' },
  process_not_ready: { meaning: 'A process was not ready in time. Read its log.' },
  unsupported_platform: {
    meaning: 'The operating system or processor is not supported. Use one that the message names.',
  },
} as const satisfies ErrorEntries;
