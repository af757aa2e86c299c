/**
 * Sends transactions of one key on an EVM chain, and follows them until they are final. Knows no pool.
 *
 * @module
 */
export { askChain, waitAtMost } from './ask-chain.ts';
export {
  assertChainId,
  type ChainCall,
  createChainCall,
  createEvmProvider,
} from './evm-provider.ts';
export {
  type Call,
  type CallWithGas,
  describeGasCeiling,
  estimateGasLimit,
  fetchGasCeiling,
} from './gas-estimate.ts';
export {
  type BroadcastOutcome,
  broadcastTransaction,
  isEvmFailure,
  isOutOfGas,
} from './node-answer.ts';
export {
  type FinalBlock,
  fetchFinalBlock,
  fetchHeadTimestamp,
  fetchNonceOutcome,
  fetchReceipt,
  isFinal,
  type NonceOutcome,
  type NonceReads,
  type Receipt,
} from './receipt.ts';
export {
  type AskedFees,
  decideFees,
  type Fees,
  fetchFees,
  isReplacementDue,
  raiseFees,
  raiseFeesWithin,
} from './replacement.ts';
export {
  createTransactionSigner,
  readFees,
  type SendAgainDeps,
  type SenderFunds,
  type SignedTransaction,
  type StoredTransaction,
  sendAgain,
  signWithinCap,
  type TransactionCaps,
  type TransactionSigner,
} from './transaction-signer.ts';
