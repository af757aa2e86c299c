/** The agent as a library: for programs that embed it and for tests. */
export { type Agent, startAgent } from './agent.ts';
export { type AgentLog, createAgentLog } from './agent-log.ts';
export { runCli } from './cli.ts';
export { type Config, parseConfig, readConfig } from './config.ts';
export { exitCodes } from './exit-codes.ts';
export { type AgentFaultPoint, agentFaultPoints } from './fault.ts';
