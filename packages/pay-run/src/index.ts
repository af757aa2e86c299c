/**
 * Pays a roster file through an agent, once, whole or in parts (docs/decisions/0008).
 *
 * @module
 */

export {
  type AgentClient,
  type CheckedRequest,
  type JobTrace,
  jobTraceSchema,
} from './agent-port.ts';
