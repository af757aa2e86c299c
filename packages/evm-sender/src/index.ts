/**
 * Sends transactions of one key on an EVM chain, and follows them until they are final. Knows no pool.
 *
 * @module
 */
export { askChain, waitAtMost } from './ask-chain.ts';
export { type AskedFees, decideFees, fetchFees } from './asked-fees.ts';
export { isEvmFailure } from './evm-failure.ts';
export {
  assertChainId,
  type ChainCall,
  createChainCall,
  createEvmProvider,
} from './evm-provider.ts';
export { type FinalBlock, fetchFinalBlock, fetchHeadTimestamp } from './final-block.ts';
export {
  type Call,
  type CallWithGas,
  describeGasCeiling,
  estimateGasLimit,
  fetchGasCeiling,
} from './gas-estimate.ts';
export { type BroadcastOutcome, broadcastTransaction, isOutOfGas } from './node-answer.ts';
export {
  fetchNonceOutcome,
  fetchReceipt,
  isFinal,
  type NonceOutcome,
  type Receipt,
} from './receipt.ts';
export { type Fees, isReplacementDue, raiseFees, raiseFeesWithin } from './replacement.ts';
export { type SendAgainDeps, type StoredTransaction, sendAgain } from './send-again.ts';
export {
  createTransactionSigner,
  readFees,
  type SenderFunds,
  type SignedTransaction,
  signWithinCap,
  type TransactionCaps,
  type TransactionSigner,
} from './transaction-signer.ts';
