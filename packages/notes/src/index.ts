/**
 * Note cryptography of Pool: keys, commitments, nullifiers, sealed notes, trees and the batch manifest.
 *
 * @module
 */

export type {
  ChainFacts,
  Claim,
  DisclosureGap,
  DisclosureReport,
  InsertionFact,
  PaymentClaims,
} from './disclosure/claims.ts';
export { createDisclosure } from './disclosure/create-disclosure.ts';
export { computeMessageKey, type SealBinding } from './disclosure/message-key.ts';
export {
  type EventPlace,
  type OpeningChoice,
  openBatchPayments,
  openReceivedPayment,
  openSpendPayments,
  stepBatchPayments,
} from './disclosure/open-payments.ts';
export { type VerificationTerms, verifyDisclosure } from './disclosure/verify-disclosure.ts';
export { computeBatchRoot, computeBatchRoots } from './fund/batch-root.ts';
export {
  buildFundBatch,
  type FundBatchPlan,
  type FundSlot,
  stepFundBatch,
} from './fund/fund-batch.ts';
export {
  computeFundPublicInputs,
  computeFundWitnessInput,
  type FundPublicInputs,
  stepFundWitnessInput,
} from './fund/fund-proof-inputs.ts';
export type { WitnessSignal } from './fund/witness-signals.ts';
export { type BatchArithmetic, createBatchArithmetic } from './hash/batch-arithmetic.ts';
export { computeChainHash, poseidon } from './hash/poseidon.ts';
export { hashPoseidonMany } from './hash/scan-poseidon.ts';
export { createTreeHasher, type HashMany, hashHere, type TreeHasher } from './hash/tree-hasher.ts';
export {
  assertX25519PublicKey,
  computeEncryptionPublicKey,
  computeX25519PublicKey,
  decodeEncryptionPublicKey,
  type EncryptionPoint,
  encodeEncryptionPoint,
} from './keys/encryption-key.ts';
export {
  createViewingKey,
  deriveViewingKey,
  parseViewingKey,
  viewingKeyMessage,
} from './keys/viewing-key.ts';
export { computeEd25519WalletId, computeWalletId } from './keys/wallet-id.ts';
export { computeCommitment, computeNullifier, type Note } from './note/note.ts';
export { createNoteScanner, type NoteScanner } from './note/note-scanner.ts';
export {
  type AddressedSealedNote,
  computeSealedNotesHash,
  type NoteSlot,
} from './note/note-slot.ts';
export {
  type ScannedNote,
  type ScanOptions,
  type ServedNote,
  scanNotes,
} from './note/scan-notes.ts';
export { computeNullifiers } from './note/scan-nullifiers.ts';
export { type OpenedNote, openNote, sealedNoteBytes, sealNote } from './note/sealed-note.ts';
export {
  type CoinShortage,
  type PlannedSpend,
  planSpend,
  type SelectedCoins,
  type SpendableNote,
  selectCoins,
} from './spend/coin-selection.ts';
export {
  type ConsolidationOptions,
  type ConsolidationPlan,
  type ConsolidationStep,
  planConsolidation,
} from './spend/consolidation.ts';
export {
  computeDummyNullifier,
  type DummyInput,
  deriveDummyInputs,
} from './spend/dummy-inputs.ts';
export {
  blindingBytes,
  computeMaskedSigner,
  type MaskedSigner,
  type SpendSignature,
  verifyMaskedSigner,
} from './spend/masked-signer.ts';
export {
  computeNotePath,
  computeNoteRootFromPath,
  maxNotePathLevels,
  type NotePath,
} from './spend/note-path.ts';
export {
  computeOperationHash,
  computeSpendDigest,
  type SpendOperation,
  spendSaltBytes,
} from './spend/operation.ts';
export { buildSpend, type SpendPlan } from './spend/spend-plan.ts';
export {
  computeSpendPublicInputs,
  computeSpendWitnessInput,
  type SpendPublicInputs,
  type SpentNote,
} from './spend/spend-proof-inputs.ts';
export {
  computeEligibilityRootFromPath,
  createEligibilityTree,
  type EligibilitySnapshot,
  type EligibilityTree,
  eligibilityCapacity,
} from './trees/eligibility-tree.ts';
export {
  createLeanImt,
  type LeanImt,
  type LeanImtPath,
  leanImtCapacity,
} from './trees/lean-imt.ts';
export {
  type Appended,
  appendLeaves,
  deserializeFrontier,
  emptyFrontier,
  type LeanImtFrontier,
  serializeFrontier,
} from './trees/lean-imt-frontier.ts';
export {
  type VerifiedPath,
  verifyEligibilityPath,
  verifyEligibilityPaths,
} from './trees/verified-path.ts';
