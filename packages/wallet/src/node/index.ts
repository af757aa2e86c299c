/**
 * A holder's files and services in Node: caches, archives, the notes and spends of one agent directory.
 *
 * @module
 */

export type { Arrival } from '../holder/arrivals.ts';
export type { Holder, HolderChain, HolderKey } from '../holder/holder.ts';
export type { FileNote, NotesDocument } from '../holder/notes-document.ts';
export type { HistoryRequest, HolderHistory } from '../holder/wallet-history.ts';
export type { BalanceReport, HolderNotes, HolderReads } from '../holder/wallet-notes.ts';
export { createHolderHistory } from './holder/holder-history.ts';
export { createHolderNotes } from './holder/holder-notes.ts';
export { type LocalNotesDeps, openLocalNotes } from './holder/local-notes.ts';
export { readKeptNotes, readNotesFile } from './holder/notes-file.ts';
export type { Log } from './log.ts';
export {
  createEqualWithdrawal,
  describePaid,
  describeWithdrawn,
  mayBePaid,
} from './spends/equal-withdrawals.ts';
export { createHolderSpends, type HolderSpends } from './spends/holder-spends.ts';
export {
  openSelfSubmission,
  type SelfSubmission,
  toSendBody,
  type WithdrawalRequest,
} from './spends/self-submission.ts';
export { openSpendOwners } from './spends/spend-owner.ts';
export type { SpendProgress } from './spends/spend-progress.ts';
export { contactsPath, readContacts, readLabels, writeContacts } from './store/contacts.ts';
export {
  computeOpeningsLimit,
  type OpeningsStore,
  openingsKeyPath,
  openingsPath,
  openOpeningsStore,
} from './store/openings-store.ts';
export { assertSpendsKnown, restoredWaitMs, writeRestoreMark } from './store/restored-state.ts';
export { listSentHashes } from './store/sent-transactions.ts';
export { findSharedState, openSharedState, type SharedState } from './store/shared-state.ts';
export { openSpendArchive } from './store/spend-archive.ts';
export {
  openEvidencePins,
  openPaidKeys,
  openRecordedPaidKeys,
  paidKeysPath,
} from './store/wallet-keys.ts';
export { systemClock } from './system-clock.ts';
