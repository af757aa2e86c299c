/** @pool/testkit: helpers for tests and for the sandbox. Never published. */
export { ANVIL_MNEMONIC, type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
export { anvilBinary } from './foundry-binary.ts';
