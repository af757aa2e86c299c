/**
 * A holder's notes and spends over ports, without a module of Node: a browser runs it too.
 *
 * @module
 */

export { eraseExpiredSpends } from './archive/erase-spends.ts';

export {
  type KeptOpenings,
  openBatch,
  openSpend,
  type PaidBatch,
  type SeededManifest,
} from './archive/kept-openings.ts';
export { describeLocked, type LockedNotes, markLocked, sumLocked } from './archive/locked-notes.ts';
export { createOwnChange } from './archive/own-change.ts';
export {
  type ArchivedSpend,
  deserializeSpend,
  type SpendArchive,
  type SpendCheck,
  type SpendOwner,
  serializeSpend,
} from './archive/spend-archive.ts';
export {
  holdsInputs,
  isOpen,
  isUnreleased,
  type SpendFaultPoint,
  type SpendState,
  spendFaultPoints,
} from './archive/spend-state.ts';
export {
  type BackupHolder,
  type BackupManifest,
  type BackupPart,
  backupMagic,
  computeManifestMac,
  createDamaged,
  decodeManifest,
  describeViewingKey,
  earlierViewingKeysPart,
  encodeHead,
  isManifestAuthentic,
  maxManifestBytes,
  minPassphrase,
  recoveryWordsPart,
  viewingKeyPart,
  walletKeyPart,
} from './backup/backup-format.ts';
export { type Consolidator, createConsolidator } from './consolidate/consolidate.ts';
export {
  countSweepable,
  type SweepCounts,
  type SweepStep,
  sweepOnce,
} from './consolidate/sweep-notes.ts';
export {
  assertFound,
  createDisclosureContent,
  type DisclosureChoice,
  type DisclosureParties,
  type DisclosurePurpose,
  isChosen,
  isInRange,
  serializeDisclosure,
} from './disclosure/choice.ts';
export {
  createEvidenceVerifier,
  type EvidenceVerdict,
  type EvidenceVerifier,
  type VerifiedRecipient,
} from './evidence-verifier.ts';
export {
  type ComputeQueue,
  computeInTurns,
  createComputeQueue,
  createPace,
  giveWay,
  type Pace,
} from './give-way.ts';
export {
  coinDecimals,
  formatHistoryCsvHead,
  formatHistoryCsvRows,
  type HistoryLabels,
  type HistoryUnits,
} from './history-csv.ts';
export {
  addContact,
  assertContactFree,
  type Contact,
  fetchContactKeys,
  findContact,
  parseLabel,
  removeContact,
} from './holder/contacts.ts';
export { createKeyLock, type KeyLock } from './key-lock.ts';
export type { NoteUse } from './note-ports.ts';
export type {
  Clock,
  EvidencePins,
  FinalBlock,
  PinnedEvidence,
  ProvedBatch,
  ProveOptions,
  Receipt,
  RecipientPort,
  WitnessInput,
} from './ports.ts';
export { type CircuitProver, createCircuitProver } from './spend/circuit-prover.ts';
export {
  type FollowedSpend,
  type FollowPass,
  followOnce,
  followSpend,
  followSpends,
  interruptedSpendCode,
} from './spend/follow-spends.ts';
export { withdrawSpendRequest } from './spend/give-up-spend.ts';
export { createSpender, type SpendCall, type Spender } from './spend/perform-spend.ts';
export type {
  FollowDeps,
  OrphanRule,
  SpendDeps,
  SpendEvent,
  SpendStage,
} from './spend/spend-deps.ts';
export { defaultSpendDeadlineSeconds, neededGraceSeconds } from './spend/spend-deps.ts';
export { createSpendJournal, type SpendJournal } from './spend/spend-journal.ts';
export type {
  HolderNote,
  HolderNotesPort,
  NotePaths,
  NullifierState,
  SpendChainPort,
  SpendContext,
  SpendGatePort,
  SpendHolder,
  SpendPlatformPort,
  SpendProverPort,
  SpendRow,
  SpendSubmission,
  SpentTransaction,
} from './spend/spend-ports.ts';
export type { Movement } from './sync/build-history.ts';

export {
  createHolderSync,
  type HolderSync,
  type HolderSyncDeps,
  type ProvableNote,
  rewindStore,
} from './sync/holder-sync.ts';

export type { ImportOutcome, OfferedNote } from './sync/import-notes.ts';

export { archiveNotes } from './sync/own-candidates.ts';

export type { HolderBalance } from './sync/own-notes.ts';

export type {
  ArchivedNote,
  BlockMark,
  DeliveredNote,
  DeliveryPort,
  HistoryLeaf,
  HistoryPort,
  NoteArchive,
  NoteKernels,
  NotePlace,
  NoteStore,
  OwnNote,
  ReceivedNote,
  StoredLeaf,
  StoredSpend,
  SyncIdentity,
  SyncProgress,
} from './sync/ports.ts';

export type { SyncAsset } from './sync/read-deliveries.ts';
