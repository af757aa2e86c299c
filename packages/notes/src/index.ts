/**
 * Note cryptography of Pool: keys, commitments, nullifiers, sealed notes, trees and the batch manifest.
 *
 * @module
 */

export { type BatchArithmetic, createBatchArithmetic } from './batch-arithmetic.ts';
export { computeBatchRoot } from './batch-root.ts';
export {
  computeEligibilityRootFromPath,
  createEligibilityTree,
  type EligibilityTree,
  eligibilityCapacity,
} from './eligibility-tree.ts';
export {
  computeEncryptionPublicKey,
  computeX25519PublicKey,
  decodeEncryptionPublicKey,
  type EncryptionPoint,
  encodeEncryptionPoint,
} from './encryption-key.ts';
export {
  type AddressedSealedNote,
  buildFundBatch,
  computeSealedNotesHash,
  type FundBatchPlan,
  type FundSlot,
  stepFundBatch,
} from './fund-batch.ts';
export {
  computeFundPublicInputs,
  computeFundWitnessInput,
  type FundPublicInputs,
  stepFundWitnessInput,
  type WitnessSignal,
} from './fund-proof-inputs.ts';
export {
  computeLeanImtRootFromPath,
  createLeanImt,
  type LeanImt,
  type LeanImtPath,
  leanImtCapacity,
  verifyLeanImtPath,
} from './lean-imt.ts';
export { computeCommitment, computeNullifier, type Note } from './note.ts';
export { createNoteScanner, type NoteScanner } from './note-scanner.ts';
export { computeChainHash, poseidon } from './poseidon.ts';
export { type ScannedNote, type ScanOptions, type ServedNote, scanNotes } from './scan-notes.ts';
export { hashPoseidonMany } from './scan-poseidon.ts';
export { type OpenedNote, openNote, sealedNoteBytes, sealNote } from './sealed-note.ts';
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
export { computeWalletId } from './wallet-id.ts';
