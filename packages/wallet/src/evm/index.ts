/**
 * The ports of `@pool/wallet` for EVM chains, and the spend that a holder sends itself.
 *
 * @module
 */

export { askAll } from './ask-all.ts';

export { createEvmHistory, type EvmHistory } from './evm-history.ts';

export { createEvmRecords, type EvmRecords, type SpendCalldata } from './evm-records.ts';

export { createEvmSpendChain, type EvmSpendChain } from './evm-spend-chain.ts';

export { createEvmGasChain, type GasChain } from './gas-chain.ts';
export {
  createFacts,
  fetchDisclosedEvents,
  fetchPoolEvents,
  parsePoolEvents,
} from './pool-events.ts';
export { discloseReceived, type ReceivedSources } from './received-insertions.ts';
export {
  createSelfSubmitter,
  type GasQuote,
  type SelfSubmitter,
  type SelfSubmitterOptions,
} from './self-submitter.ts';
export type { SentTransaction, SentTransactions } from './sent-transactions.ts';
