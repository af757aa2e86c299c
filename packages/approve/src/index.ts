/**
 * The gate beside a custodian: it takes manifests from the agent, rebuilds what the custodian is about to sign, applies its policy, and
 * votes. The core decision is `decide` of `@pool/policy`.
 *
 * @module
 */
export { decide } from '@pool/policy';
export { type ApproveCliOptions, runApproveCli } from './cli.ts';
export type { CommandContext, Streams } from './commands/output.ts';
export {
  type CustodianAConfig,
  type CustodianBConfig,
  createProcessSource,
  type GateConfig,
  parseGateConfig,
} from './config/config.ts';
export type { ConfigSource } from './config/gate-home.ts';
export { type FaultPoint, faultPoints } from './config/variables.ts';
export { type Gate, type GateOptions, openGate } from './gate/gate.ts';
export { runGate } from './gate/run-gate.ts';
