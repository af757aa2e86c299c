/** The agent as a library: for programs that embed it and for tests. */
export { type Agent, startAgent } from './agent.ts';
export { runCli } from './cli.ts';
export {
  type AgentFaultPoint,
  agentFaultPoints,
  type Config,
  parseConfig,
  readConfig,
} from './config/config.ts';
