/**
 * Note cryptography of Pool: keys, commitments, nullifiers, sealed notes, trees and the batch manifest.
 *
 * @module
 */

export type {
  ChainFacts,
  DisclosureGap,
  DisclosureReport,
  InsertionFact,
  PaymentClaims,
} from './disclosure/claims.ts';
export { createDisclosure } from './disclosure/create-disclosure.ts';
export {
  openBatchPayments,
  openReceivedPayment,
  openSpendPayments,
  stepBatchPayments,
} from './disclosure/open-payments.ts';
export {
  isProved,
  type VerificationTerms,
  verifyDisclosure,
} from './disclosure/verify-disclosure.ts';
export { type BatchArithmetic, createBatchArithmetic } from './fund/batch-arithmetic.ts';
export { computeBatchRoot, computeBatchRoots } from './fund/batch-root.ts';
export { buildFundBatch, type FundBatchPlan, stepFundBatch } from './fund/fund-batch.ts';
export {
  computeFundPublicInputs,
  computeFundWitnessInput,
  type FundPublicInputs,
  stepFundWitnessInput,
} from './fund/fund-proof-inputs.ts';
export type { WitnessSignal } from './fund/witness-signals.ts';
export { computeChainHash, poseidon } from './hash/poseidon.ts';
export { hashPoseidonMany } from './hash/scan-poseidon.ts';
export { createTreeHasher, type HashMany, hashHere } from './hash/tree-hasher.ts';
export {
  assertX25519PublicKey,
  computeEncryptionPublicKey,
  computeX25519PublicKey,
  decodeEncryptionPublicKey,
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
export { computeSealedNotesHash } from './note/note-slot.ts';
export { type ServedNote, scanNotes } from './note/scan-notes.ts';
export { computeNullifiers } from './note/scan-nullifiers.ts';
export { openNote, sealNote } from './note/sealed-note.ts';
export { type PlannedSpend, planSpend, type SpendableNote } from './spend/coin-selection.ts';
export { type ConsolidationStep, planConsolidation } from './spend/consolidation.ts';
export { type DummyInput, deriveDummyInputs } from './spend/dummy-inputs.ts';
export {
  computeMaskedSigner,
  type SpendSignature,
  verifyMaskedSigner,
} from './spend/masked-signer.ts';
export { computeNotePath, computeNoteRootFromPath, type NotePath } from './spend/note-path.ts';
export { computeSpendDigest, type SpendOperation } from './spend/operation.ts';
export { buildSpend, type SpendPlan } from './spend/spend-plan.ts';
export { computeSpendPublicInputs, computeSpendWitnessInput } from './spend/spend-proof-inputs.ts';
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
