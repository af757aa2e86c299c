/**
 * Note cryptography of Pool: keys, commitments, nullifiers, sealed notes, trees and the batch manifest.
 *
 * @module
 */

export { type BatchArithmetic, createBatchArithmetic } from './batch-arithmetic.ts';
export { computeBatchRoot, computeBatchRoots } from './batch-root.ts';
export {
  type CoinShortage,
  type PlannedSpend,
  planSpend,
  type SelectedCoins,
  type SpendableNote,
  selectCoins,
} from './coin-selection.ts';
export {
  type ConsolidationOptions,
  type ConsolidationPlan,
  type ConsolidationStep,
  planConsolidation,
} from './consolidation.ts';
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
export {
  computeEligibilityRootFromPath,
  createEligibilityTree,
  type EligibilitySnapshot,
  type EligibilityTree,
  eligibilityCapacity,
} from './eligibility-tree.ts';
export {
  assertX25519PublicKey,
  computeEncryptionPublicKey,
  computeX25519PublicKey,
  decodeEncryptionPublicKey,
  type EncryptionPoint,
  encodeEncryptionPoint,
} from './encryption-key.ts';
export {
  buildFundBatch,
  type FundBatchPlan,
  type FundSlot,
  stepFundBatch,
} from './fund-batch.ts';
export {
  computeFundPublicInputs,
  computeFundWitnessInput,
  type FundPublicInputs,
  stepFundWitnessInput,
} from './fund-proof-inputs.ts';
export {
  createLeanImt,
  type LeanImt,
  type LeanImtPath,
  leanImtCapacity,
} from './lean-imt.ts';
export {
  type Appended,
  appendLeaves,
  deserializeFrontier,
  emptyFrontier,
  type LeanImtFrontier,
  serializeFrontier,
} from './lean-imt-frontier.ts';
export { computeCommitment, computeNullifier, type Note } from './note.ts';
export { createNoteScanner, type NoteScanner } from './note-scanner.ts';
export { type AddressedSealedNote, computeSealedNotesHash, type NoteSlot } from './note-slot.ts';
export { computeChainHash, poseidon } from './poseidon.ts';
export { type ScannedNote, type ScanOptions, type ServedNote, scanNotes } from './scan-notes.ts';
export { computeNullifiers } from './scan-nullifiers.ts';
export { hashPoseidonMany } from './scan-poseidon.ts';
export { type OpenedNote, openNote, sealedNoteBytes, sealNote } from './sealed-note.ts';
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
export { createTreeHasher, type HashMany, hashHere, type TreeHasher } from './tree-hasher.ts';
export {
  type VerifiedPath,
  verifyEligibilityPath,
  verifyEligibilityPaths,
} from './verified-path.ts';
export {
  createViewingKey,
  deriveViewingKey,
  parseViewingKey,
  viewingKeyMessage,
} from './viewing-key.ts';
export { computeEd25519WalletId, computeWalletId } from './wallet-id.ts';
export type { WitnessSignal } from './witness-signals.ts';
