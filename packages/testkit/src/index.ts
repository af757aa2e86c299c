/** @pool/testkit: helpers for tests and for the sandbox. Never published. */
export { ANVIL_MNEMONIC, type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
export { anvilBinary } from './foundry-binary.ts';
export {
  findFreePorts,
  isAnswering,
  type ManagedProcess,
  type ProcessExit,
  type StartOptions,
  startNodeProcess,
  startProcess,
  waitUntilReady,
} from './process.ts';
export {
  endProcess,
  isRunning,
  type ProcessIdentity,
  readProcessIdentity,
} from './process-identity.ts';
